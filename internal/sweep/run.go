package sweep

import (
	"cmp"
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

	"utvi/engine"
	"utvi/internal/compute"
	"utvi/internal/filelock"
)

// A Kind runs the trials that name it.
type Kind struct {
	Name string

	// Paths are the settings that name files. In a spec they are relative to the
	// spec's folder.
	Paths []string

	// Check returns an error for a specification that cannot be run.
	Check func(spec json.RawMessage) error

	// Run does the trial and continues from files under the stem, if any. When it
	// is cancelled, it writes a checkpoint and returns the context's error.
	Run func(ctx context.Context, j Job) (Outcome, error)
}

// A Job is a trial being run.
type Job struct {
	Trial
	Stem    string // begins the paths of the trial's own files; its folder exists. Stem.checkpoint (a file or a folder) and Stem.checkpoint.json go when the result is written
	Workers int    // goroutines the trial may keep busy; the bits must not depend on it

	Engine engine.Engine[float32] // trains networks; nil stands for the CPU

	// Tell reports progress. The score is NaN as long as it is unknown.
	Tell func(step, steps int, score float64)
}

// An Event reports the progress of one trial.
type Event struct {
	Trial       Trial
	Step, Steps int
	Score       float64 // NaN: none yet
	Found       bool    // an earlier run had finished it
	Waits       bool    // locked by another process
	Ended       bool
	Err         error // of a trial that failed
}

// A Runner runs plans on this machine.
type Runner struct {
	Kinds    []Kind
	Dir      string // of the trials' files; created if it does not exist
	Jobs     int    // trials at a time; 0 lets the engine choose: GOMAXPROCS on the CPU
	Engine   engine.Engine[float32]
	Progress func(Event)
}

// Check returns an error if the runner's kinds cannot run the plan.
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
	return Kind{}, fmt.Errorf("trial %d, %s, has kind %q; this program knows %v", t.Index, t.Name, t.Kind, known)
}

// Trial runs one trial, unless it has a result, and returns the result. If another
// process runs the trial, it waits.
func (r Runner) Trial(ctx context.Context, t Trial, workers int) (*Result, error) {
	return r.trial(ctx, t, workers, true)
}

// trial is Trial. Without wait it returns filelock.ErrBusy instead of waiting.
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

// once runs a trial, unless it has a result, while no other process runs it.
func (r Runner) once(ctx context.Context, k Kind, t Trial, workers int, wait bool, tell func(Event)) (res *Result, found bool, err error) {
	if res, err := LoadResult(r.Dir, t); err == nil {
		r.tidy(t)
		return res, true, nil
	} // a damaged result is replaced
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
		return res, true, nil // made by the process that had the lock before
	}
	start := time.Now()
	res, err = r.do(ctx, k, t, workers, start, tell)
	switch {
	case err == nil:
		r.clear(t)
	case !stopped(err):
		f := failure{Format: planFormat, Trial: t.ID(), Error: err.Error(), Run: newRunRecord(r.Engine, start)}
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
	out, err := k.Run(ctx, Job{Trial: t, Stem: stem(r.Dir, t), Workers: max(1, workers), Engine: r.Engine, Tell: func(step, steps int, score float64) {
		tell(Event{Trial: t, Step: step, Steps: steps, Score: score})
	}})
	if err != nil {
		return nil, err
	}
	res, err = newResult(t, out)
	if err != nil {
		return nil, err
	}
	res.Run = newRunRecord(r.Engine, start)
	return res, res.save(r.Dir, t)
}

// clear removes files that a trial with a result no longer needs.
func (r Runner) clear(t Trial) {
	os.Remove(failurePath(r.Dir, t))
	for _, left := range []string{".checkpoint", ".checkpoint.json"} {
		os.RemoveAll(stem(r.Dir, t) + left)
	}
}

// tidy cleans up after a process that was killed between writing its result and
// its end. The lock file that it left is held by nobody.
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

// stopped reports whether a trial was cancelled and did not fail.
func stopped(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// Run runs all trials of a plan, Jobs at a time, those of the highest cost first. Trials
// that measure time come last, one by one. A trial that fails does not stop the others. A trial that
// another process runs is waited for at the end. The results are in the plan's
// order, nil for trials without one. The error is the context's, or the first
// failure.
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
		// Long trials begin first, so that none of them is left alone at the end.
		slices.SortStableFunc(beside, func(a, b int) int { return cmp.Compare(p.Trials[b].Weight(), p.Trials[a].Weight()) })
		pool := compute.NewPool(min(engine.Beside(r.Engine, r.Jobs), len(beside)))
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
