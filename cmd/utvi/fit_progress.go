package main

import (
	"fmt"
	"io"
	"time"

	"utvi/tabular"
)

// A fitProgress keeps a line with the time left on a terminal; elsewhere it says when
// a stage begins and every fifth of the work.
type fitProgress struct {
	w        io.Writer
	terminal bool
	start    time.Time
	first    float64 // work that an earlier run had done
	begun    bool
	last     time.Time
	stage    string
	fifth    int
}

func newFitProgress(w io.Writer) *fitProgress {
	return &fitProgress{w: w, terminal: isTerminal(w), start: time.Now(), fifth: 1}
}

var stages = map[string]string{"choosing": "choosing the network", "training": "training the ensemble"}

func (p *fitProgress) tell(s tabular.Progress) {
	if !p.begun {
		p.begun, p.first = true, s.Done
	}
	part := s.Done / max(s.Total, 1)
	if p.terminal {
		if time.Since(p.last) > 100*time.Millisecond {
			p.last = time.Now()
			fmt.Fprintf(p.w, "\r\033[K%s: %d of %d trainings, %.0f %% of all%s", stages[s.Stage], s.Running, s.Jobs, 100*part, p.left(s))
		}
		return
	}
	if s.Stage != p.stage {
		p.stage = s.Stage
		fmt.Fprintf(p.w, "%s: %d trainings\n", stages[s.Stage], s.Jobs)
	}
	for ; part >= float64(p.fifth)/5 && p.fifth < 5; p.fifth++ {
		fmt.Fprintf(p.w, "%d %% done%s\n", 20*p.fifth, p.left(s))
	}
}

// left estimates the time to the end from the speed of this run alone.
func (p *fitProgress) left(s tabular.Progress) string {
	made := s.Done - p.first
	if made <= 0 || s.Done >= s.Total {
		return ""
	}
	d := time.Duration(float64(time.Since(p.start)) / made * (s.Total - s.Done))
	return fmt.Sprintf(", %v left", d.Round(time.Second))
}

// close takes the line off the terminal.
func (p *fitProgress) close() {
	if p.terminal {
		fmt.Fprint(p.w, "\r\033[K")
	}
}
