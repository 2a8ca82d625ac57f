package main

import (
	"fmt"
	"io"
	"strconv"
	"sync"
	"time"

	"utvi/internal/atomicfile"
	"utvi/internal/tabular"
)

// A fitProgress keeps a line with the time left on a terminal; elsewhere it says when
// a stage begins, every fifth of the work, and where it stands after each silence.
type fitProgress struct {
	w        io.Writer
	terminal bool
	file     string // where to note how far it came, for those who find it stopped
	start    time.Time
	budget   time.Duration // that the training may take; 0: any
	timer    *time.Timer   // until the silence has to be broken

	mu      sync.Mutex
	begun   bool
	stopped bool
	now     tabular.Progress
	most    float64 // largest percentage shown: the estimate of the total changes at times
	left    timeLeft
	shown   time.Time
	noted   time.Time
	page    *fitPage // nil: none
	stage   string
	fifth   int
	scored  int // rows
	toScore int
}

const (
	longSilence = 30 * time.Second
	betweenNote = 5 * time.Second
)

func newFitProgress(w io.Writer, file string) *fitProgress {
	p := &fitProgress{w: w, terminal: isTerminal(w), file: file, start: time.Now(), fifth: 1}
	if !p.terminal {
		p.timer = time.AfterFunc(longSilence, p.speak)
	}
	return p
}

var stages = map[string]string{"choosing": "choosing the network", "training": "training the ensemble", "training again": "training the ensemble again, with all rows"}

func (p *fitProgress) tell(s tabular.Progress) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.begun, p.now = true, s
	p.most = max(p.most, 100*s.Done/max(s.Total, 1))
	p.page.show(s, p.most/100, p.remaining())
	if time.Since(p.noted) > betweenNote {
		p.note()
	}
	if p.stopped {
		return
	}
	if p.terminal {
		if time.Since(p.shown) > 100*time.Millisecond {
			p.shown = time.Now()
			fmt.Fprintf(p.w, "\r\033[K%s: %d of %d trainings, %.0f %% of the fit done%s", stages[s.Stage], s.Running, s.Jobs, p.most, p.leftText())
		}
		return
	}
	if s.Stage != p.stage {
		p.stage = s.Stage
		p.toScore = 0 // no rows are being scored, or no more
		p.line("%s: %s", stages[s.Stage], plural(s.Jobs, "training", "trainings"))
	}
	for ; p.most >= float64(20*p.fifth) && p.fifth < 5; p.fifth++ {
		p.line("%d %% done%s", 20*p.fifth, p.leftText())
	}
}

// scoring says how many held-out rows are scored.
func (p *fitProgress) scoring(done, total int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.scored = max(p.scored, done)
	p.toScore = total
	if p.stopped || !p.terminal || time.Since(p.shown) < 100*time.Millisecond && done < total {
		return
	}
	p.shown = time.Now()
	if done >= total {
		fmt.Fprint(p.w, "\r\033[Kfinding out which columns matter")
		return
	}
	fmt.Fprintf(p.w, "\r\033[Kscoring the held-out rows: %d of %d", done, total)
}

func (p *fitProgress) line(format string, args ...any) {
	fmt.Fprintf(p.w, format+"\n", args...)
	p.timer.Reset(longSilence)
}

// speak breaks a long silence.
func (p *fitProgress) speak() {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.stopped:
	case p.toScore > 0 && p.scored >= p.toScore:
		p.line("the held-out rows are scored; finding out which columns matter")
	case p.toScore > 0:
		p.line("scored %d of %d held-out rows", p.scored, p.toScore)
	case p.begun && p.now.Done >= p.now.Total:
		p.line("training is done; scoring the held-out rows")
	default:
		p.line("%.0f %% done%s", p.most, p.leftText())
	}
}

// note writes down how far it came. Without the note only a number is missing.
func (p *fitProgress) note() {
	p.noted = time.Now()
	atomicfile.Write(p.file, func(w io.Writer) error {
		_, err := io.WriteString(w, strconv.Itoa(int(p.most)))
		return err
	})
}

// remaining estimates the time to the end from the speed of this run alone; −1 if it is
// not known.
func (p *fitProgress) remaining() time.Duration {
	made := p.now.Done - p.now.Found
	if made <= 0 || p.now.Done >= p.now.Total {
		return -1
	}
	ran := time.Since(p.start)
	left := p.left.show(time.Duration(float64(ran)/made*(p.now.Total-p.now.Done)), ran)
	if p.budget > 0 {
		left = min(left, max(0, p.budget-ran))
	}
	return left
}

// leftText says how much time is left.
func (p *fitProgress) leftText() string {
	if d := p.remaining(); d >= 0 {
		return fmt.Sprintf(", %v left", d.Round(time.Second))
	}
	return ""
}

// A timeLeft follows estimates of the time to the end. It falls at once, and rises
// slowly, a fifth of the time that goes by: an estimate that jumps up is seldom right.
type timeLeft struct {
	shown, at time.Duration
	begun     bool
}

// show takes an estimate that is made after a program ran for a time, and returns what
// to show.
func (t *timeLeft) show(estimate, ran time.Duration) time.Duration {
	if t.begun {
		estimate = min(estimate, t.shown+(ran-t.at)/5)
	}
	t.shown = estimate
	t.at = ran
	t.begun = true
	return estimate
}

// stop answers Ctrl-C at once: the trainings take a moment to end.
func (p *fitProgress) stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stopped {
		return
	}
	p.clear()
	p.stopped = true
	fmt.Fprintln(p.w, "stopping: writing the best model so far")
}

// close takes the line off the terminal.
func (p *fitProgress) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.begun {
		p.note()
	}
	if !p.stopped {
		p.clear()
	}
	p.stopped = true
	if p.timer != nil {
		p.timer.Stop()
	}
}

func (p *fitProgress) clear() {
	if p.terminal {
		fmt.Fprint(p.w, "\r\033[K")
	}
}
