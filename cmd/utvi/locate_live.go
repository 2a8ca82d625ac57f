package main

import (
	"context"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"utvi/internal/live"
)

// A locatePage shows a stack while it is worked on; nil shows nothing.
type locatePage struct {
	*live.Page
	begun time.Time // to fit frames
	shown time.Time
	left  timeLeft
}

// watch opens the page, if there is to be one.
func (l *localising) watch(cmd *cobra.Command, path string) (context.Context, *locatePage, error) {
	ctx, page, err := l.live.open(cmd.Context(), cmd.ErrOrStderr(), live.Text{Title: "Molecules in " + filepath.Base(path), Stop: "Stop, and write the table so far"})
	if page == nil {
		return ctx, nil, err
	}
	return ctx, &locatePage{Page: page}, err
}

// stage says what is done now.
func (p *locatePage) stage(what string) {
	if p != nil {
		p.Progress(live.Progress{Stage: what, Left: -1})
	}
}

// betweenLooks is the least time between two pictures.
const betweenLooks = time.Second

// show shows how far a run has come.
func (p *locatePage) show(r *locateRun) {
	if p == nil {
		return
	}
	if p.begun.IsZero() {
		p.begun = time.Now()
		return // the first frames tell the speed of no others
	}
	done := r.locator.Facts.Frames
	if time.Since(p.shown) < betweenLooks && done < r.Frames {
		return
	}
	p.shown = time.Now()
	ran := time.Since(p.begun)
	here := done - r.found
	left := time.Duration(float64(ran) * float64(r.Frames-done) / float64(max(here, 1)))
	p.Progress(live.Progress{Stage: "Fitting the molecules of each frame", Part: float64(done) / float64(r.Frames), Left: p.left.show(left, ran)})
	p.Look(r.summary.Look(r.locator.Facts, here, ran.Seconds()))
}

// close shows how the run ended.
func (p *locatePage) close(r *locateRun, err error) {
	if p == nil {
		return
	}
	if r.locator != nil && r.summary != nil {
		p.Look(r.summary.Look(r.locator.Facts, 0, 0))
		if err == nil {
			p.Progress(live.Progress{Part: 1, Left: -1})
		}
	}
	good := ""
	if err == nil {
		good = told(r.locator.Facts) + ", in " + r.out + "."
	}
	closeLive(p.Page, good, err)
}
