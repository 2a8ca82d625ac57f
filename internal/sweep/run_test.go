package sweep_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"utvi/engine"
	"utvi/internal/strictjson"
	"utvi/internal/sweep"
)

type squareSpec struct{ X float64 }

// square is a kind whose trials count how often they are run.
func square(ran *atomic.Int64) sweep.Kind {
	return sweep.Kind{
		Name: "square",
		Check: func(spec json.RawMessage) error {
			return strictjson.Unmarshal(spec, &squareSpec{})
		},
		Run: func(ctx context.Context, j sweep.Job) (sweep.Outcome, error) {
			ran.Add(1)
			if err := ctx.Err(); err != nil {
				return sweep.Outcome{}, err
			}
			var s squareSpec
			if err := json.Unmarshal(j.Spec, &s); err != nil {
				return sweep.Outcome{}, err
			}
			if s.X < 0 {
				return sweep.Outcome{}, errors.New("it is negative")
			}
			return sweep.Outcome{Metrics: map[string]float64{"square": s.X * s.X}, Data: s}, nil
		},
	}
}

func squares(t *testing.T, xs ...float64) *sweep.Plan {
	t.Helper()
	var trials []sweep.Trial
	for _, x := range xs {
		trials = append(trials, sweep.NewTrial("square", strings.ReplaceAll(fmt.Sprintf("x%v", x), "-", "m"), "all", 1, squareSpec{x}))
	}
	p, err := sweep.NewPlan("squares", trials...)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestRunIsIdempotent(t *testing.T) {
	var ran atomic.Int64
	r := sweep.Runner{Kinds: []sweep.Kind{square(&ran)}, Dir: filepath.Join(t.TempDir(), "trials"), Jobs: 3}
	p := squares(t, 1, 2, 2, 3)
	if len(p.Trials) != 3 {
		t.Fatalf("a trial asked for twice is planned %d times", len(p.Trials)-1)
	}
	for range 2 {
		results, err := r.Run(context.Background(), p)
		if err != nil {
			t.Fatal(err)
		}
		for i, res := range results {
			if want := float64((i + 1) * (i + 1)); res.Metrics["square"] != want {
				t.Errorf("trial %d found %v, not %v", i, res.Metrics["square"], want)
			}
		}
	}
	if ran.Load() != 3 {
		t.Errorf("3 trials were run %d times", ran.Load())
	}
	// A damaged result is made anew.
	path := sweep.ResultPath(r.Dir, p.Trials[1])
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(strings.Replace(string(b), `"square":4`, `"square":5`, 1)), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := sweep.LoadResult(r.Dir, p.Trials[1]); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("a damaged result gives %v", err)
	}
	if _, err := r.Run(context.Background(), p); err != nil || ran.Load() != 4 {
		t.Errorf("after one damage, %d runs, %v", ran.Load(), err)
	}
}

// White space in a specification makes no other trial, anything else does; the hash
// is the one that earlier versions gave.
// A result says which card ran its networks.
func TestRunNamesTheCard(t *testing.T) {
	var ran atomic.Int64
	r := sweep.Runner{Kinds: []sweep.Kind{square(&ran)}, Dir: t.TempDir(), Engine: carded{engine.CPU[float32]()}}
	found, err := r.Run(t.Context(), squares(t, 1))
	if err != nil {
		t.Fatal(err)
	}
	if c := found[0].Run.Card; c != "a card" || !strings.HasPrefix(found[0].Run.Machine(), "a card and ") {
		t.Errorf("the result names the card %q and the machine %q", c, found[0].Run.Machine())
	}
}

// carded is an engine that says it is on a card.
type carded struct{ engine.Engine[float32] }

func (carded) Abilities() engine.Abilities[float32] {
	return engine.Abilities[float32]{Card: "a card"}
}

func TestTrialID(t *testing.T) {
	trial := sweep.NewTrial("square", "x", "", 1, squareSpec{2})
	id := trial.ID()
	if id != "x-452657b6" {
		t.Errorf("the trial is %s", id)
	}
	spaced := trial
	spaced.Spec = json.RawMessage(" {\n\"X\" : 2 }")
	if spaced.ID() != id {
		t.Errorf("with spaces it is %s, without %s", spaced.ID(), id)
	}
	other, kind := trial, trial
	other.Spec, kind.Kind = json.RawMessage(`{"X":3}`), "cube"
	if other.ID() == id || kind.ID() == id {
		t.Error("another specification or kind has the same ID")
	}
}

func TestOneFailureStopsNothing(t *testing.T) {
	var ran atomic.Int64
	r := sweep.Runner{Kinds: []sweep.Kind{square(&ran)}, Dir: t.TempDir(), Jobs: 1}
	p := squares(t, -1, 2, 3)
	results, err := r.Run(context.Background(), p)
	if err == nil || !strings.Contains(err.Error(), "xm1: it is negative") {
		t.Errorf("the failure is told as %v", err)
	}
	if results[0] != nil || results[1] == nil || results[2] == nil {
		t.Error("the others have not run")
	}
	if _, err := sweep.LoadResult(r.Dir, p.Trials[0]); !errors.Is(err, sweep.ErrMissing) {
		t.Errorf("a failed trial's result gives %v", err)
	}
}

func TestPlanRoundTrip(t *testing.T) {
	p := squares(t, 1, 2.5)
	path := filepath.Join(t.TempDir(), "plan.json")
	if err := p.Save(path); err != nil {
		t.Fatal(err)
	}
	q, err := sweep.LoadPlan(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := range p.Trials {
		if p.Trials[i].ID() != q.Trials[i].ID() {
			t.Errorf("trial %d is %s, read as %s", i, p.Trials[i].ID(), q.Trials[i].ID())
		}
	}
}

func TestPlanRefuses(t *testing.T) {
	var ran atomic.Int64
	r := sweep.Runner{Kinds: []sweep.Kind{square(&ran)}, Dir: t.TempDir()}
	trial := sweep.NewTrial("square", "a", "", 1, squareSpec{1})
	for want, p := range map[string]*sweep.Plan{
		"format 2":      {Format: 2, Trials: []sweep.Trial{trial}},
		"no trials":     {Format: 1},
		"has index 0":   {Format: 1, Trials: []sweep.Trial{trial, trial}},
		"is named":      {Format: 1, Trials: []sweep.Trial{{Name: "../a", Kind: "square", Spec: trial.Spec}}},
		"both named":    {Format: 1, Trials: []sweep.Trial{trial, {Index: 1, Name: "a", Kind: "square", Spec: trial.Spec}}},
		"has kind":      {Format: 1, Trials: []sweep.Trial{{Name: "a", Kind: "cube", Spec: trial.Spec}}},
		"unknown field": {Format: 1, Trials: []sweep.Trial{{Name: "a", Kind: "square", Spec: json.RawMessage(`{"Y":1}`)}}},
	} {
		if _, err := r.Run(context.Background(), p); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q in %v", want, err)
		}
	}
	if ran.Load() != 0 {
		t.Error("a plan that was refused has run")
	}
}
