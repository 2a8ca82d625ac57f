package sweep_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"utvi/internal/sweep"
)

// A slow kind counts how many of its trials run, at a time and in all. They all wait for the end.
type slow struct {
	now, most, ran atomic.Int64
	end            chan struct{}
	together       int64 // the end comes once so many run together; 0: the test closes it
}

func (s *slow) kind() sweep.Kind {
	return sweep.Kind{
		Name:  "slow",
		Check: func(json.RawMessage) error { return nil },
		Run: func(ctx context.Context, j sweep.Job) (sweep.Outcome, error) {
			n := s.now.Add(1)
			defer s.now.Add(-1)
			for m := s.most.Load(); n > m && !s.most.CompareAndSwap(m, n); m = s.most.Load() {
			}
			s.ran.Add(1)
			if n == s.together {
				close(s.end)
			}
			select {
			case <-ctx.Done():
			case <-s.end:
			}
			return sweep.Outcome{}, ctx.Err()
		},
	}
}

// Two runners of one plan share the work, and both see all results.
func TestTwoRunners(t *testing.T) {
	var trials []sweep.Trial
	for i := range 6 {
		trials = append(trials, sweep.NewTrial("slow", string(rune('a'+i)), "", 0, i))
	}
	p, err := sweep.NewPlan("slow", trials...)
	if err != nil {
		t.Fatal(err)
	}
	s := &slow{end: make(chan struct{}), together: 6}
	r := sweep.Runner{Kinds: []sweep.Kind{s.kind()}, Dir: filepath.Join(t.TempDir(), "trials"), Jobs: 3}
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
	if ran := s.ran.Load(); ran != 6 {
		t.Errorf("6 trials were run %d times", ran)
	}
	if left, _ := filepath.Glob(filepath.Join(r.Dir, "*.lock")); len(left) > 0 {
		t.Errorf("left %v", left)
	}
}

// One trial asked for by two is waited for; who waits can be stopped.
func TestTrialWaits(t *testing.T) {
	s := &slow{end: make(chan struct{})}
	trial := sweep.NewTrial("slow", "a", "", 0, 1)
	begun, waits := make(chan bool), make(chan bool)
	kind := s.kind()
	run := kind.Run
	kind.Run = func(ctx context.Context, j sweep.Job) (sweep.Outcome, error) {
		begun <- true
		return run(ctx, j)
	}
	r := sweep.Runner{Kinds: []sweep.Kind{kind}, Dir: t.TempDir(), Progress: func(e sweep.Event) {
		if e.Waits {
			waits <- true
		}
	}}
	done := make(chan error)
	ask := func(ctx context.Context) { _, err := r.Trial(ctx, trial, 1); done <- err }
	go ask(t.Context())
	<-begun
	brief, stop := context.WithCancel(t.Context())
	go ask(brief)
	<-waits
	stop()
	if err := <-done; err != context.Canceled {
		t.Errorf("stopped while waiting: %v", err)
	}
	go ask(t.Context())
	<-waits
	close(s.end)
	for range 2 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if s.most.Load() != 1 || s.ran.Load() != 1 {
		t.Errorf("the trial was run %d times, %d at once", s.ran.Load(), s.most.Load())
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
	s := &slow{end: make(chan struct{})}
	close(s.end)
	r := sweep.Runner{Kinds: []sweep.Kind{s.kind()}, Dir: t.TempDir()}
	trial := sweep.NewTrial("slow", "a", "", 0, 1)
	if _, err := r.Trial(t.Context(), trial, 1); err != nil {
		t.Fatal(err)
	}
	for _, left := range []string{".lock", ".checkpoint", ".checkpoint.json"} {
		if err := os.WriteFile(filepath.Join(r.Dir, trial.ID()+left), nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := r.Trial(t.Context(), trial, 1); err != nil || s.ran.Load() != 1 {
		t.Fatalf("run %d times, %v", s.ran.Load(), err)
	}
	if files, _ := filepath.Glob(filepath.Join(r.Dir, "*")); len(files) != 1 {
		t.Errorf("left %v", files)
	}
}
