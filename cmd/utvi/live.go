package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"utvi/internal/advice"
	"utvi/internal/live"
	"utvi/internal/sweep"
	"utvi/internal/tabular"
)

// liveFlag is where to show the work; "" shows it nowhere.
type liveFlag string

func (f *liveFlag) flag(set *pflag.FlagSet) {
	set.StringVar((*string)(f), "live", "", "show the work in a browser, at a free port of this machine or at =ADDRESS")
	set.Lookup("live").NoOptDefVal = "127.0.0.1:0"
}

func (f liveFlag) check() error {
	if f == "" {
		return nil
	}
	return misuse(live.Loopback(string(f)))
}

// open opens the page, if there is to be one, and says where it is. The returned context
// ends when a viewer stops the work.
func (f liveFlag) open(ctx context.Context, stderr io.Writer, text live.Text) (context.Context, *live.Page, error) {
	if f == "" {
		return ctx, nil, nil
	}
	ctx, stop := context.WithCancel(ctx)
	page, err := live.Open(string(f), text, stop)
	if err != nil {
		stop()
		return nil, nil, err
	}
	fmt.Fprintln(stderr, "live page:", page.URL())
	return ctx, page, nil
}

// closeLive shows how the work ended.
func closeLive(page *live.Page, good string, err error) {
	if page == nil {
		return
	}
	if err == nil {
		page.Close(live.End{Good: true, Text: good})
		return
	}
	e, ok := errors.AsType[exitError](err)
	page.Close(live.End{Good: ok && e.code == exitInterrupted, Text: capital(oneLine(advice.InError(err, asFlag))) + "."})
}

func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// A fitPage shows a fit.
type fitPage struct{ *live.Page }

func (p *fitPage) show(s tabular.Progress, part float64, left time.Duration) {
	if p == nil {
		return
	}
	p.Progress(live.Progress{Stage: capital(stages[s.Stage]), Part: part, Left: left})
	x := s.Training
	if x == nil {
		return
	}
	group, which := placeOf(x.Name)
	t := live.Training{Name: x.Name, Group: group, Label: x.Candidate.String() + which, Part: float64(x.Step) / float64(max(1, x.Steps)), State: live.Running, Note: x.Failed}
	for _, c := range x.Curve {
		point := live.Point{Step: c.Step, Train: live.Num(c.Train)}
		t.Score = point.Train
		if c.Held != 0 {
			point.Held = live.Num(c.Held)
			t.Score = point.Held
		}
		t.Curve = append(t.Curve, point)
	}
	switch {
	case x.Failed != "":
		t.State = live.Failed
	case x.Step == x.Steps:
		t.State = live.Done
	}
	p.Show(t)
}

// placeOf says where a training of that name stands, and which of its candidate it is.
// Scores can be compared within a fold.
func placeOf(name string) (group, which string) {
	var fold, candidate, seed int
	switch n, _ := fmt.Sscanf(name, "trial-%d-%d-%d", &fold, &candidate, &seed); n {
	case 2:
		return fmt.Sprintf("Candidates, fold %d", fold+1), ""
	case 3:
		return fmt.Sprintf("Candidates, fold %d", fold+1), fmt.Sprintf(", seed %d", seed+1)
	}
	return "Members of the ensemble", ""
}

// A trialPage shows the trials of a plan.
type trialPage struct{ *live.Page }

func (p *trialPage) show(e sweep.Event, score, part float64, left time.Duration) {
	if p == nil {
		return
	}
	p.Progress(live.Progress{Stage: "Running the trials", Part: part, Left: left})
	t := live.Training{Name: e.Trial.Name, Group: "Trials", Label: e.Trial.Name, Part: float64(e.Step) / float64(max(1, e.Steps)), State: live.Running}
	if !math.IsNaN(score) {
		t.Score = live.Num(score)
	}
	switch {
	case e.Waits:
		t.State, t.Note = live.Waiting, "locked by another process"
	case e.Err != nil && e.Ended:
		t.State, t.Note = live.Failed, oneLine(e.Err.Error())
	case e.Ended:
		t.State = live.Done
	}
	if e.Found {
		t.Note = "done before"
	}
	p.Show(t)
}
