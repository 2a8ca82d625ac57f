package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"utvi/internal/atomicfile"
	"utvi/internal/locate"
	"utvi/internal/locate/batch"
	"utvi/internal/locate/frames"
	"utvi/internal/locate/list"
	"utvi/internal/locate/net"
	"utvi/internal/locate/page"
)

// A locateRun is one run of locate, from a stack to a table.
type locateRun struct {
	*localising
	cmd     *cobra.Command
	stack   *frames.Stack
	locator *locate.Locator
	header  list.Header
	format  list.Format
	out     string
	summary *page.Summary // nil: no page is wanted
	view    *locatePage   // nil: nobody watches
	journal *locate.Journal
	found   int // frames that an earlier run had found
}

func (l *localising) run(cmd *cobra.Command, paths []string) (err error) {
	r := &locateRun{localising: l, cmd: cmd, out: l.out}
	r.stack, err = frames.Open(paths...)
	if err != nil {
		return err
	}
	if err := l.choose(r.stack); err != nil {
		return err
	}
	if r.out == "" {
		r.out = batch.Name(paths[0]) + ".locs.csv"
	}
	r.format, err = list.FormatOf(r.out)
	if err != nil {
		return usagef("--output: %v", err)
	}
	if err := ready(r.out); err != nil {
		return err
	}
	for _, path := range paths {
		if sameFile(path, r.out) {
			return usagef("%s is both the stack and the table to write", r.out)
		}
	}
	if r.out == "-" {
		if l.again.resume || l.again.fresh {
			return usagef("a run whose table goes to the standard output leaves nothing to go on from")
		}
	} else {
		release, err := l.again.begin(r.out, r.checkpoint(), func() string { return "" })
		if err != nil {
			return err
		}
		defer release()
	}
	ctx, view, err := l.watch(cmd, paths[0])
	if err != nil {
		return err
	}
	r.view = view
	err = r.whole(ctx)
	view.close(r, err)
	return err
}

// checkpoint is the journal of the run.
func (r *locateRun) checkpoint() string { return r.out + ".checkpoint" }

// whole prepares, fits and writes.
func (r *locateRun) whole(ctx context.Context) (err error) {
	r.view.stage("Learning from some frames")
	r.locator, err = locate.Prepare(ctx, r.stack, r.Config)
	if err != nil {
		return err
	}
	r.warn(r.cmd, r.locator.Facts)
	r.header = list.Header{Pixel: r.pixel, Sigma: r.locator.Facts.Sigma, Width: r.stack.Width, Height: r.stack.Height, Frames: r.First + r.Frames}
	if r.page != "" || r.view != nil {
		r.summary = page.New(r.header, r.First, r.Frames)
	}
	stopped := false
	err = writeOut(r.cmd, r.out, func(w io.Writer) error {
		table, err := list.NewWriter(w, r.format, r.header)
		if err != nil {
			return err
		}
		err = r.fit(ctx, table)
		if errors.Is(err, context.Canceled) && r.locator.Facts.Frames > 0 {
			stopped = true
			err = nil
		}
		return cmp.Or(err, table.Close())
	})
	if err == nil && r.format == list.Picasso {
		err = saveTo(yamlOf(r.out), func(path string) error {
			return atomicfile.Write(path, func(w io.Writer) error {
				_, err := io.WriteString(w, list.PicassoYAML(r.header))
				return err
			})
		})
	}
	if err == nil && r.page != "" {
		err = saveTo(r.page, r.summary.Page(r.locator.Facts).Save)
	}
	return r.ended(err, stopped)
}

// ended tells what was found, or what is kept for --resume.
func (r *locateRun) ended(err error, stopped bool) error {
	switch {
	case err == nil && stopped:
		return exitError{fmt.Errorf("locate was interrupted; %s holds frames %d to %d; continue with --resume", r.out, r.First+1, r.First+r.locator.Facts.Frames), exitInterrupted}
	case err != nil && r.journal != nil && r.locator.Facts.Frames > 0 && !errors.Is(err, context.Canceled):
		return fmt.Errorf("%w; what was found in %s is kept: continue with --resume", err, plural(r.locator.Facts.Frames, "frame", "frames"))
	case err != nil:
		if r.journal != nil && r.locator.Facts.Frames == 0 {
			os.Remove(r.checkpoint()) // it holds nothing
		}
		return err
	}
	if r.journal != nil {
		if err := os.Remove(r.checkpoint()); err != nil {
			return err
		}
	}
	return r.tell()
}

// fit gives the table what an earlier run had found, then what it finds itself, of which it keeps a journal.
func (r *locateRun) fit(ctx context.Context, table list.Writer) (err error) {
	write := func(p *locate.Part) error {
		if r.summary != nil {
			r.summary.Add(p.All)
		}
		return table.Write(p.All)
	}
	sink := write
	if r.out != "-" {
		if err := os.MkdirAll(filepath.Dir(r.out), 0o777); err != nil {
			return err
		}
		r.journal, err = locate.OpenJournal(r.checkpoint(), r.locator.Mark(), func(p *locate.Part) error {
			if p.Frame != r.First+r.found {
				return errors.New("it is damaged; start again with --fresh")
			}
			r.found++
			r.locator.Facts.Count(p)
			return write(p)
		})
		if errors.Is(err, locate.ErrOther) {
			return fmt.Errorf("%w; run again as before, or start again with --fresh", err)
		}
		if err != nil {
			return err
		}
		defer func() { err = cmp.Or(err, r.journal.Close()) }()
		sink = func(p *locate.Part) error {
			if err := r.journal.Add(p); err != nil {
				return err
			}
			return write(p)
		}
	}
	p := newCountProgress(r.cmd.ErrOrStderr(), r.Frames-r.found, "frame", "frames")
	defer p.close()
	return r.locator.Run(ctx, r.found, r.Frames, sink, func(frames int) {
		p.Done(frames)
		r.view.show(r)
	})
}

// tell says what was written.
func (r *locateRun) tell() error {
	if r.out == "-" {
		return nil
	}
	_, err := fmt.Fprintf(r.cmd.OutOrStdout(), "Wrote %s to %s.\n", told(r.locator.Facts), r.out)
	return err
}

// told says what was found where.
func told(f locate.Facts) string {
	where := fmt.Sprintf("%s in %s", plural(f.Found, "localisation", "localisations"), plural(f.Frames, "frame", "frames"))
	if f.Blank > 0 {
		where += fmt.Sprintf(" (%d of them blank)", f.Blank)
	}
	return where
}

// yamlOf is the name of the file that Picasso wants beside a table.
func yamlOf(out string) string { return strings.TrimSuffix(out, filepath.Ext(out)) + ".yaml" }

// muchNoise is how far the noise in frames may be from what a camera promises.
const muchNoise = 1.15

// warn says what was learnt of the stack, and where the camera's numbers contradict it.
func (l *localising) warn(cmd *cobra.Command, f locate.Facts) {
	if l.Sigma == 0 {
		tell(cmd, "the image of a point has a standard deviation of %.3f pixels (%.0f nm)", f.Sigma, f.Sigma*l.pixel)
	}
	const wrong = 0.06 // as often in the training
	if math.Abs(f.Seen/f.Sigma-1) > wrong {
		flagged := ""
		if net.OtherWidth(f.Sigma, f.Seen) {
			flagged = "; all rows are flagged"
		}
		tell(cmd, "warning: images of points in the frames are about %.2f pixels wide, and --sigma is %g; without --sigma the width is estimated%s", f.Seen, f.Sigma, flagged)
	}
	if f.Noise < muchNoise && f.Noise > 1/muchNoise {
		return
	}
	by := math.Round(100*f.Noise) / 100
	tell(cmd, "warning: the noise in the frames is %g times what the camera's numbers promise; error bars follow the frames, but check --gain (about %.3g would agree), --em-gain and --offset, on which photons depend", by, l.Camera.Gain/(f.Noise*f.Noise))
}
