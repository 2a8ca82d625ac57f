package sweep

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"utvi/internal/compute"
	"utvi/internal/filelock"
)

// A Kind runs the trials that name it.
type Kind struct {
	Name string

	// Paths are the settings that name files; a spec means them relative to
	// itself.
	Paths []string

	// Check reports a specification that cannot be run, before anything is.
	Check func(spec json.RawMessage) error

	// Run does the trial, continuing what it left under the stem. Cancelled, it
	// leaves a checkpoint and returns the context's error.
	Run func(ctx context.Context, j Job) (Outcome, error)
}

// A Job is a trial being run.
type Job struct {
	Trial
	Stem    string // begins the paths of the trial's own files; its folder exists. Stem.checkpoint (a file or a folder) and Stem.checkpoint.json go when the result is written
	Workers int    // goroutines the trial may keep busy; the bits must not depend on it

	// Tell says how far it is. The score is NaN before there is one.
	Tell func(step, steps int, score float64)
}

// An Event tells how far one trial is.
type Event struct {
	Trial       Trial
	Step, Steps int
	Score       float64 // NaN: none yet
	Found       bool    // another run had ended it
	Waits       bool    // another process is at it
	Ended       bool
	Err         error // of a trial that failed
}

// A Runner runs plans on this machine.
type Runner struct {
	Kinds    []Kind
	Dir      string // of the trials' files, made if need be
	Jobs     int    // trials at a time; 0 stands for GOMAXPROCS
	Progress func(Event)
}

// Check reports a plan with trials that the runner's kinds cannot run.
func (r Runner) Check(p *Plan) error {
	if err := p.Check(); err != nil {
		return err
	}
	for _, t := range p.Trials {
		k, err := r.kind(t)
		if err != nil {
			return err
		}
		if err := k.Check(t.Spec); err != nil {
			return fmt.Errorf("trial %d, %s: %w", t.Index, t.Name, err)
		}
	}
	return nil
}

func (r Runner) kind(t Trial) (Kind, error) {
	var known []string
	for _, k := range r.Kinds {
		if k.Name == t.Kind {
			return k, nil
		}
		known = append(known, k.Name)
	}
	return Kind{}, fmt.Errorf("trial %d, %s, is of kind %q; this program knows %v", t.Index, t.Name, t.Kind, known)
}

// Trial runs one trial, unless it has a result, and returns that. It waits for
// another process that is at it.
func (r Runner) Trial(ctx context.Context, t Trial, workers int) (*Result, error) {
	return r.trial(ctx, t, workers, true)
}

// trial is Trial, or gives filelock.ErrBusy instead of waiting.
func (r Runner) trial(ctx context.Context, t Trial, workers int, wait bool) (*Result, error) {
	k, err := r.kind(t)
	if err != nil {
		return nil, err
	}
	if err := k.Check(t.Spec); err != nil {
		return nil, fmt.Errorf("%s: %w", t.Name, err)
	}
	tell := r.Progress
	if tell == nil {
		tell = func(Event) {}
	}
	res, found, err := r.once(ctx, k, t, workers, wait, tell)
	if err != nil && !stopped(err) {
		err = fmt.Errorf("%s: %w", t.Name, err)
	}
	if !errors.Is(err, filelock.ErrBusy) {
		tell(Event{Trial: t, Step: 1, Steps: 1, Score: math.NaN(), Found: found, Ended: err == nil || !stopped(err), Err: err})
	}
	return res, err
}

// once runs a trial that no other process is at, unless it has a result.
func (r Runner) once(ctx context.Context, k Kind, t Trial, workers int, wait bool, tell func(Event)) (res *Result, found bool, err error) {
	if res, err := LoadResult(r.Dir, t); err == nil {
		r.tidy(t)
		return res, true, nil
	} // a damaged result is made anew
	if err := os.MkdirAll(r.Dir, 0o777); err != nil {
		return nil, false, err
	}
	release, err := holdOn(ctx, stem(r.Dir, t), wait, func() {
		tell(Event{Trial: t, Score: math.NaN(), Waits: true})
	})
	if err != nil {
		return nil, false, err
	}
	defer release()
	if res, err := LoadResult(r.Dir, t); err == nil {
		r.clear(t)
		return res, true, nil // made by who had the lock before
	}
	start := time.Now()
	res, err = r.do(ctx, k, t, workers, start, tell)
	switch {
	case err == nil:
		r.clear(t)
	case !stopped(err):
		f := Failure{Format: planFormat, Trial: t.ID(), Error: err.Error(), Run: newRunRecord(start)}
		if p, ok := errors.AsType[panicked](err); ok {
			f.Stack = string(p.stack)
		}
		f.save(r.Dir, t)
	}
	return res, false, err
}

func (r Runner) do(ctx context.Context, k Kind, t Trial, workers int, start time.Time, tell func(Event)) (res *Result, err error) {
	defer func() {
		if v := recover(); v != nil {
			res, err = nil, panicked{v, debug.Stack()}
		}
	}()
	out, err := k.Run(ctx, Job{Trial: t, Stem: stem(r.Dir, t), Workers: max(1, workers), Tell: func(step, steps int, score float64) {
		tell(Event{Trial: t, Step: step, Steps: steps, Score: score})
	}})
	if err != nil {
		return nil, err
	}
	if res, err = newResult(t, out); err != nil {
		return nil, err
	}
	res.Run = newRunRecord(start)
	return res, res.save(r.Dir, t)
}

// clear removes what a trial with a result needs no more.
func (r Runner) clear(t Trial) {
	os.Remove(FailurePath(r.Dir, t))
	for _, left := range []string{".checkpoint", ".checkpoint.json"} {
		os.RemoveAll(stem(r.Dir, t) + left)
	}
}

// tidy clears up after a process that was killed between its result and its end:
// it left its lock, which nobody holds.
func (r Runner) tidy(t Trial) {
	path := lockPath(stem(r.Dir, t))
	if _, err := os.Stat(path); err != nil {
		return
	}
	if release, err := filelock.Hold(path); err == nil {
		r.clear(t)
		release()
	}
}

// stopped reports whether a trial was told to end, and did not fail.
func stopped(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// Run runs all trials of a plan, some at a time; those that measure time come
// last, one by one. A trial that fails does not stop the others, nor does one
// that another process is at: it is waited for in the end. The results are
// in the plan's order, nil where there is none; the error is the context's, or
// the first failure.
func (r Runner) Run(ctx context.Context, p *Plan) ([]*Result, error) {
	if err := r.Check(p); err != nil {
		return nil, err
	}
	var beside, alone []int
	for i, t := range p.Trials {
		if t.Alone {
			alone = append(alone, i)
		} else {
			beside = append(beside, i)
		}
	}
	results := make([]*Result, len(p.Trials))
	var failed failures
	run := func(i, workers int, wait bool) (busy bool) {
		if ctx.Err() != nil {
			return false
		}
		var err error
		results[i], err = r.trial(ctx, p.Trials[i], workers, wait)
		if errors.Is(err, filelock.ErrBusy) {
			return true
		}
		if err != nil && !stopped(err) {
			failed.add(err)
		}
		return false
	}
	if len(beside) > 0 {
		pool := compute.NewPool(min(compute.Workers(r.Jobs), len(beside)))
		defer pool.Close()
		busy := make([]bool, len(p.Trials))
		pool.Run(len(beside), func(_, i int) { busy[beside[i]] = run(beside[i], 1, false) })
		beside = slices.DeleteFunc(beside, func(i int) bool { return !busy[i] })
		pool.Run(len(beside), func(_, i int) { run(beside[i], 1, true) })
	}
	for _, i := range alone {
		run(i, 1, true)
	}
	if err := ctx.Err(); err != nil {
		return results, err
	}
	return results, failed.err(len(p.Trials))
}

// failures counts errors of concurrent trials.
type failures struct {
	mu    sync.Mutex
	first error
	n     int
}

func (f *failures) add(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.n++; f.n == 1 {
		f.first = err
	}
}

func (f *failures) err(of int) error {
	if f.n <= 1 {
		return f.first
	}
	return fmt.Errorf("%d of %d trials failed, the first: %w", f.n, of, f.first)
}
