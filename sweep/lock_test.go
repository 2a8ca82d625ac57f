package sweep_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"utvi/sweep"
)

// slow is a kind that counts how many of its trials run, at a time and in all.
func slow(now, most, ran *atomic.Int64) sweep.Kind {
	return sweep.Kind{
		Name:  "slow",
		Check: func(json.RawMessage) error { return nil },
		Run: func(ctx context.Context, j sweep.Job) (sweep.Outcome, error) {
			n := now.Add(1)
			defer now.Add(-1)
			for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
			}
			ran.Add(1)
			select {
			case <-ctx.Done():
			case <-time.After(100 * time.Millisecond):
			}
			return sweep.Outcome{}, ctx.Err()
		},
	}
}

// Two runners of one plan share the work, and both see all results.
func TestTwoRunners(t *testing.T) {
	var now, most, ran atomic.Int64
	var trials []sweep.Trial
	for i := range 6 {
		trials = append(trials, sweep.NewTrial("slow", string(rune('a'+i)), "", 0, i))
	}
	p, err := sweep.NewPlan("slow", trials...)
	if err != nil {
		t.Fatal(err)
	}
	r := sweep.Runner{Kinds: []sweep.Kind{slow(&now, &most, &ran)}, Dir: filepath.Join(t.TempDir(), "trials"), Jobs: 3}
	done := make(chan error, 2)
	for range 2 {
		go func() {
			results, err := r.Run(t.Context(), p)
			for i, res := range results {
				if res == nil {
					t.Errorf("trial %d has no result", i)
				}
			}
			done <- err
		}()
	}
	for range 2 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if ran.Load() != 6 {
		t.Errorf("6 trials were run %d times", ran.Load())
	}
	if left, _ := filepath.Glob(filepath.Join(r.Dir, "*.lock")); len(left) > 0 {
		t.Errorf("left %v", left)
	}
}

// One trial asked for by two is waited for; who waits can be stopped.
func TestTrialWaits(t *testing.T) {
	var now, most, ran atomic.Int64
	trial := sweep.NewTrial("slow", "a", "", 0, 1)
	var waits atomic.Int64
	r := sweep.Runner{Kinds: []sweep.Kind{slow(&now, &most, &ran)}, Dir: t.TempDir(), Progress: func(e sweep.Event) {
		if e.Waits {
			waits.Add(1)
		}
	}}
	done := make(chan error)
	go func() { _, err := r.Trial(t.Context(), trial, 1); done <- err }()
	for ran.Load() == 0 {
		time.Sleep(time.Millisecond)
	}
	brief, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, err := r.Trial(brief, trial, 1); err != context.DeadlineExceeded {
		t.Errorf("stopped while waiting: %v", err)
	}
	if _, err := r.Trial(t.Context(), trial, 1); err != nil {
		t.Error(err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	if most.Load() != 1 || ran.Load() != 1 {
		t.Errorf("the trial was run %d times, %d at once", ran.Load(), most.Load())
	}
}

// A panic is the failure of one trial.
func TestPanicIsAFailure(t *testing.T) {
	bad := sweep.Kind{
		Name:  "bad",
		Check: func(json.RawMessage) error { return nil },
		Run:   func(context.Context, sweep.Job) (sweep.Outcome, error) { panic("on purpose") },
	}
	r := sweep.Runner{Kinds: []sweep.Kind{bad}, Dir: t.TempDir()}
	trial := sweep.NewTrial("bad", "a", "", 0, 1)
	if _, err := r.Trial(t.Context(), trial, 1); err == nil || err.Error() != "a: internal error: on purpose" {
		t.Errorf("a panic gives %v", err)
	}
	f, err := sweep.LoadFailure(r.Dir, trial)
	if err != nil || f == nil || f.Error != "internal error: on purpose" || !strings.Contains(f.Stack, "lock_test.go") {
		t.Errorf("the note says %+v, %v", f, err)
	}
}

// Who was killed just after writing a result leaves his checkpoint and lock; who
// finds the result clears them away.
func TestTidiesAfterTheKilled(t *testing.T) {
	var now, most, ran atomic.Int64
	r := sweep.Runner{Kinds: []sweep.Kind{slow(&now, &most, &ran)}, Dir: t.TempDir()}
	trial := sweep.NewTrial("slow", "a", "", 0, 1)
	if _, err := r.Trial(t.Context(), trial, 1); err != nil {
		t.Fatal(err)
	}
	for _, left := range []string{".lock", ".checkpoint", ".checkpoint.json"} {
		if err := os.WriteFile(filepath.Join(r.Dir, trial.ID()+left), nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := r.Trial(t.Context(), trial, 1); err != nil || ran.Load() != 1 {
		t.Fatalf("run %d times, %v", ran.Load(), err)
	}
	if files, _ := filepath.Glob(filepath.Join(r.Dir, "*")); len(files) != 1 {
		t.Errorf("left %v", files)
	}
}
