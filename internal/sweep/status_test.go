package sweep_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"utvi/internal/filelock"
	"utvi/internal/sweep"
)

// Who waited for another's result clears away what that one left, and runs nothing.
func TestWaiterClears(t *testing.T) {
	var ran atomic.Int64
	p := squares(t, 3)
	trial := p.Trials[0]
	other := sweep.Runner{Kinds: []sweep.Kind{square(&ran)}, Dir: t.TempDir()}
	if _, err := other.Trial(t.Context(), trial, 1); err != nil {
		t.Fatal(err)
	}
	result, err := os.ReadFile(sweep.ResultPath(other.Dir, trial))
	if err != nil {
		t.Fatal(err)
	}
	waits := make(chan bool, 1)
	r := sweep.Runner{Kinds: []sweep.Kind{square(&ran)}, Dir: t.TempDir(), Progress: func(e sweep.Event) {
		if e.Waits {
			waits <- true
		}
	}}
	stem := filepath.Join(r.Dir, trial.ID())
	release, err := filelock.Hold(stem + ".lock")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() {
		res, err := r.Trial(t.Context(), trial, 1)
		if err == nil && res.Metrics["square"] != 9 {
			err = fmt.Errorf("found %v", res.Metrics)
		}
		done <- err
	}()
	<-waits
	for name, data := range map[string][]byte{".result.json": result, ".checkpoint": nil, ".checkpoint.json": nil, ".failed.json": []byte("{}")} {
		if err := os.WriteFile(stem+name, data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	release()
	if err := <-done; err != nil || ran.Load() != 1 {
		t.Errorf("%v, run %d times", err, ran.Load())
	}
	if files, _ := filepath.Glob(filepath.Join(r.Dir, "*")); len(files) != 1 {
		t.Errorf("left %v", files)
	}
}

// Status sees every state, and why.
func TestStatus(t *testing.T) {
	var ran atomic.Int64
	r := sweep.Runner{Kinds: []sweep.Kind{square(&ran)}, Dir: t.TempDir()}
	p := squares(t, 1, -2, 3, 4, 5, 6)
	for _, i := range []int{0, 1, 5} {
		r.Trial(t.Context(), p.Trials[i], 1) // the second fails
	}
	at := func(i int, end string) string { return filepath.Join(r.Dir, p.Trials[i].ID()+end) }
	release, err := filelock.Hold(at(2, ".lock"))
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	for path, text := range map[string]string{at(3, ".checkpoint"): "", at(4, ".failed.json"): "{", at(5, ".result.json"): "{}"} {
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	all := sweep.Status(r.Dir, p)
	for i, want := range []struct {
		state sweep.State
		begun bool
		why   string
	}{
		{sweep.Done, false, ""}, {sweep.Failed, false, "it is negative"}, {sweep.Running, false, fmt.Sprint(os.Getpid())},
		{sweep.Missing, true, ""}, {sweep.Failed, false, at(4, ".failed.json")}, {sweep.Missing, false, at(5, ".result.json")},
	} {
		s := all[i]
		if s.State != want.state || s.Begun != want.begun || !strings.Contains(s.Why, want.why) || (want.why == "") != (s.Why == "") || (s.Result != nil) != (i == 0) || s.Trial.Index != i {
			t.Errorf("trial %d: %+v, want %+v", i, s, want)
		}
	}
	if got := sweep.Indices(all, sweep.Failed, sweep.Missing); !slices.Equal(got, []int{1, 3, 4, 5}) {
		t.Errorf("failed and missing are %v", got)
	}
	if sweep.Indices(all) != nil {
		t.Error("no state has trials")
	}
}

// Several failures are counted, and the context's end is no failure.
func TestFailuresAreCounted(t *testing.T) {
	var ran atomic.Int64
	r := sweep.Runner{Kinds: []sweep.Kind{square(&ran)}, Dir: t.TempDir(), Jobs: 1}
	if _, err := r.Run(t.Context(), squares(t, -1, 2, -3)); err == nil || err.Error() != "2 of 3 trials failed, the first: xm1: it is negative" {
		t.Errorf("two failures are told as %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	p := squares(t, 7, 8)
	results, err := r.Run(ctx, p)
	if !errors.Is(err, context.Canceled) || results[0] != nil {
		t.Errorf("cancelled: %v, %v", results, err)
	}
	if f, err := sweep.LoadFailure(r.Dir, p.Trials[0]); f != nil || err != nil {
		t.Errorf("a cancelled trial left %v, %v", f, err)
	}
}

// Trials that measure time come last, one by one.
func TestAloneComesLast(t *testing.T) {
	var running, most atomic.Int64
	var order []string
	kind := sweep.Kind{Name: "k", Check: func(json.RawMessage) error { return nil },
		Run: func(_ context.Context, j sweep.Job) (sweep.Outcome, error) {
			if j.Workers != 1 {
				t.Errorf("%s has %d workers", j.Name, j.Workers)
			}
			n := running.Add(1)
			defer running.Add(-1)
			if j.Alone {
				most.Store(max(most.Load(), n))
				order = append(order, j.Name)
			} else if len(order) > 0 {
				t.Errorf("%s comes after %v", j.Name, order)
			}
			return sweep.Outcome{}, nil
		}}
	var trials []sweep.Trial
	for i, name := range []string{"a", "b", "c", "d"} {
		x := sweep.NewTrial("k", name, "", 0, i)
		x.Alone = i < 2
		trials = append(trials, x)
	}
	p, err := sweep.NewPlan("p", trials...)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := (sweep.Runner{Kinds: []sweep.Kind{kind}, Dir: t.TempDir(), Jobs: 4}).Run(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	if most.Load() != 1 || len(order) != 2 {
		t.Errorf("%v ran alone, %d at a time", order, most.Load())
	}
}
