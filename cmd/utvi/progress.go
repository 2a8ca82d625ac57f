package main

import (
	"fmt"
	"io"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"utvi/experiment"
)

// A progress shows trainings as they run: bars on a terminal, a line for each
// that ends elsewhere.
type progress struct {
	w    io.Writer
	bars *mpb.Progress // nil: lines

	mu       sync.Mutex
	start    time.Time
	trials   map[int]*trialBar
	total    *mpb.Bar
	all      int64 // steps of all trials
	done     int64
	found    int64 // of them, done by an earlier run
	finished int

	note atomic.Pointer[string] // beside the total
}

// A trialBar's note is read by the bar itself, which must not wait for tell.
type trialBar struct {
	bar  *mpb.Bar
	step int
	note atomic.Pointer[string]
}

func newProgress(w io.Writer) *progress {
	p := &progress{w: w, start: time.Now(), trials: map[int]*trialBar{}}
	if isTerminal(w) {
		p.bars = mpb.New(mpb.WithOutput(w), mpb.WithWidth(40), mpb.WithRefreshRate(150*time.Millisecond))
	}
	return p
}

// tell is an experiment.Progress.
func (p *progress) tell(e experiment.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.all == 0 {
		p.all = int64(e.Trials) * int64(e.Steps)
		p.addTotal()
	}
	t := p.trials[e.Index]
	if t == nil {
		t = &trialBar{}
		p.trials[e.Index] = t
		p.found += int64(e.Step)
		p.addTrial(t, e)
	}
	p.done += int64(e.Step - t.step)
	t.step = e.Step
	if p.bars != nil {
		if !math.IsNaN(e.Score) {
			show(&t.note, fmt.Sprintf("  NLL %.4f", e.Score))
		}
		show(&p.note, p.left())
		t.bar.SetCurrent(int64(e.Step))
		p.total.SetCurrent(p.done)
	}
	if e.Step == e.Steps {
		p.finished++
		if p.bars == nil {
			fmt.Fprintf(p.w, "%s: NLL %.4f  %d of %d done%s\n", e.Trial, e.Score, p.finished, e.Trials, p.left())
		}
	}
}

func (p *progress) addTrial(t *trialBar, e experiment.Event) {
	if p.bars != nil {
		t.bar = p.add(e.Trial, int64(e.Steps), e.Index, &t.note)
	}
}

func (p *progress) addTotal() {
	if p.bars != nil {
		const last = 1 << 20
		p.total = p.add("total", p.all, last, &p.note)
	}
}

func (p *progress) add(name string, steps int64, priority int, note *atomic.Pointer[string]) *mpb.Bar {
	show(note, "")
	return p.bars.AddBar(steps, mpb.BarPriority(priority), mpb.BarRemoveOnComplete(),
		mpb.PrependDecorators(decor.Name(name, decor.WC{W: 12, C: decor.DindentRight})),
		mpb.AppendDecorators(decor.Percentage(decor.WC{W: 5}),
			decor.Any(func(decor.Statistics) string { return *note.Load() })))
}

func show(note *atomic.Pointer[string], s string) { note.Store(&s) }

// left estimates the time to the end from the speed of this run alone.
func (p *progress) left() string {
	made := p.done - p.found
	if made == 0 || p.done == p.all {
		return ""
	}
	d := time.Duration(float64(time.Since(p.start)) / float64(made) * float64(p.all-p.done))
	return fmt.Sprintf("  %v left", d.Round(time.Second))
}

// close takes the bars off the screen.
func (p *progress) close() {
	if p.bars == nil {
		return
	}
	p.mu.Lock()
	for _, t := range p.trials {
		t.bar.Abort(true)
	}
	if p.total != nil {
		p.total.Abort(true)
	}
	p.mu.Unlock()
	p.bars.Wait()
}
