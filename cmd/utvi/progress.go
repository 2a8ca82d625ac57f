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

	"utvi/internal/sweep"
)

// A progress shows the trials of a plan as they run: on a terminal a bar for each
// and one for all of them, elsewhere a line for each that ends.
type progress struct {
	w    io.Writer
	bars *mpb.Progress // nil: lines

	mu       sync.Mutex
	start    time.Time
	seen     map[int]*trialBar // by the trial's index
	total    *mpb.Bar
	all      float64 // cost of all trials
	done     float64
	found    float64 // of it, done by an earlier run
	trials   int
	finished int

	note atomic.Pointer[string] // beside the total
	page *trialPage             // nil: none
}

// A trialBar's note is read by the bar itself, which must not wait for tell.
type trialBar struct {
	bar   *mpb.Bar
	part  float64 // of the trial, done
	score float64
	note  atomic.Pointer[string]
}

// permille is how finely bars are drawn.
const permille = 1000

func newProgress(w io.Writer, p *sweep.Plan) *progress {
	s := &progress{w: w, start: time.Now(), seen: map[int]*trialBar{}, trials: len(p.Trials)}
	for _, t := range p.Trials {
		s.all += t.Weight()
	}
	if isTerminal(w) {
		s.bars = mpb.New(mpb.WithOutput(w), mpb.WithWidth(40), mpb.WithRefreshRate(150*time.Millisecond))
		const last = 1 << 20
		s.total = s.add("total", last, &s.note)
	}
	return s
}

// tell is a sweep.Runner's Progress.
func (p *progress) tell(e sweep.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := e.Trial.Weight()
	t := p.seen[e.Trial.Index]
	part := float64(e.Step) / float64(max(1, e.Steps))
	if t == nil {
		t = &trialBar{score: math.NaN()}
		p.seen[e.Trial.Index] = t
		p.found += c * part
		if p.bars != nil && !e.Ended {
			t.bar = p.add(e.Trial.Name, e.Trial.Index, &t.note)
		}
	}
	if e.Waits {
		p.waits(t, e)
	}
	p.done += c * (part - t.part)
	t.part = part
	if !math.IsNaN(e.Score) {
		t.score = e.Score
		show(&t.note, fmt.Sprintf("  %.4f", e.Score))
	}
	p.page.show(e, t.score, p.done/p.all, p.remaining())
	if p.bars != nil {
		show(&p.note, p.left())
		if t.bar != nil {
			t.bar.SetCurrent(int64(permille * part))
		}
		p.total.SetCurrent(int64(permille * p.done / p.all))
	}
	if e.Ended {
		p.end(t, e)
	}
}

func (p *progress) waits(t *trialBar, e sweep.Event) {
	const why = "locked by another process"
	if p.bars != nil {
		show(&t.note, "  "+why)
		return
	}
	fmt.Fprintf(p.w, "%s: %s; waiting\n", e.Trial.Name, why)
}

func (p *progress) end(t *trialBar, e sweep.Event) {
	p.finished++
	if t.bar != nil {
		t.bar.Abort(true)
	}
	if p.bars != nil || e.Found {
		return
	}
	what := "done"
	if e.Err != nil {
		what = "failed"
	} else if !math.IsNaN(t.score) {
		what = fmt.Sprintf("score %.4f", t.score)
	}
	fmt.Fprintf(p.w, "%s: %s  %d of %d trials%s\n", e.Trial.Name, what, p.finished, p.trials, p.left())
}

func (p *progress) add(name string, priority int, note *atomic.Pointer[string]) *mpb.Bar {
	show(note, "")
	return p.bars.AddBar(permille, mpb.BarPriority(priority), mpb.BarRemoveOnComplete(),
		mpb.PrependDecorators(decor.Name(name, decor.WC{W: 24, C: decor.DindentRight})),
		mpb.AppendDecorators(decor.Percentage(decor.WC{W: 5}),
			decor.Any(func(decor.Statistics) string { return *note.Load() })))
}

func show(note *atomic.Pointer[string], s string) { note.Store(&s) }

// remaining estimates the time to the end from the speed of this run alone; −1 if it is
// not known.
func (p *progress) remaining() time.Duration {
	made := p.done - p.found
	if made <= 0 || p.finished == p.trials {
		return -1
	}
	return max(0, time.Duration(float64(time.Since(p.start))/made*(p.all-p.done)))
}

func (p *progress) left() string {
	if d := p.remaining(); d >= 0 {
		return fmt.Sprintf("  %v left", d.Round(time.Second))
	}
	return ""
}

// close takes the bars off the screen.
func (p *progress) close() {
	if p.bars == nil {
		return
	}
	p.mu.Lock()
	for _, t := range p.seen {
		if t.bar != nil {
			t.bar.Abort(true)
		}
	}
	p.total.Abort(true)
	p.mu.Unlock()
	p.bars.Wait()
}
