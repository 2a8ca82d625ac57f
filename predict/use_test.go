package predict_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"utvi/engine"
	"utvi/nn"
	"utvi/predict"
)

// refusing is an engine that can run nothing.
type refusing struct{ engine.Engine[float32] }

func (refusing) Compile(engine.Network[float32], nn.Form) (engine.Program[float32], error) {
	return nil, errors.New("no")
}

// An engine that cannot run the networks is refused, and the model predicts as before.
func TestUse(t *testing.T) {
	m := opened(t, resin())
	row := map[string]any{"temperature": 140.0, "temperature_std": 1.0, "minutes": 30.0, "strength": 40.0}
	predicted := func() any {
		got, err := predictor(t, m, predict.Options{}).Row(t.Context(), row)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	want := predicted()
	if err := m.Use(refusing{}); err == nil || err.Error() != "member 0: no" {
		t.Errorf("an engine that refuses: %v", err)
	}
	if !reflect.DeepEqual(predicted(), want) {
		t.Error("after an engine that refuses, the predictions differ")
	}
}

// The columns of a row are found by name in any order; one that the model does not know is
// not another one.
func TestColumns(t *testing.T) {
	m := opened(t, resin())
	b := m.NewRowBuilder()
	names := append([]string{}, m.Columns()...)
	for _, order := range [][]string{names, {names[1], names[0]}, {names[len(names)-1], names[0]}} {
		for _, name := range order {
			at := b.Column([]byte(name))
			if at < 0 || m.Schema.Columns[at].Name != name {
				t.Errorf("the column %s is at %d in %s", name, at, strings.Join(names, ", "))
			}
		}
	}
	for _, name := range []string{"", "nothing", names[0] + " ", strings.ToUpper(names[0])} {
		if at := b.Column([]byte(name)); at != -1 {
			t.Errorf("the column %q is at %d", name, at)
		}
	}
}

// roomless is an engine whose card finds no intervals: it has no room for them, or fails.
type roomless struct {
	engine.Engine[float32]
	found engine.Intervals // nil: no room
}

func (r roomless) Abilities() engine.Abilities[float32] {
	a := r.Engine.Abilities()
	a.NewIntervals = func(int, int, []engine.Shape) (engine.Intervals, error) {
		if r.found == nil {
			return nil, errors.New("no room")
		}
		return r.found, nil
	}
	return a
}

// failing counts how often it is asked.
type failing struct{ asked int }

func (f *failing) Find(float64, int, [][]float32, [][]float32, []float64, []float64) error {
	f.asked++
	return errors.New("lost")
}

// Where the engine finds no intervals, the CPU does; the engine is asked first.
func TestEngineWithoutIntervals(t *testing.T) {
	m := opened(t, strength())
	rows := named(t, frame(70, 9))
	predicted := func() []predict.Prediction {
		all, err := predictor(t, m, predict.Options{}).Rows(t.Context(), rows)
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	want := predicted()
	lost := &failing{}
	for _, found := range []engine.Intervals{nil, lost} {
		err := m.Use(roomless{engine.CPU[float32](), found})
		if err != nil {
			t.Fatal(err)
		}
		for i, got := range predicted() {
			if line(got) != line(want[i]) {
				t.Fatalf("row %d is %s, want %s", i, line(got), line(want[i]))
			}
		}
	}
	if lost.asked == 0 {
		t.Error("the engine was not asked for intervals")
	}
}

// fixed finds the same interval for all rows, in the units of the networks.
type fixed struct{ asked int }

func (f *fixed) Find(_ float64, n int, _, _ [][]float32, lo, hi []float64) error {
	f.asked++
	for i := range n {
		lo[i] = -1
		hi[i] = 2
	}
	return nil
}

// Intervals that the engine finds are found once for a batch, and are in the unit of the target.
func TestEngineWithIntervals(t *testing.T) {
	m := opened(t, strength())
	found := &fixed{}
	err := m.Use(roomless{engine.CPU[float32](), found})
	if err != nil {
		t.Fatal(err)
	}
	p := predictor(t, m, predict.Options{})
	y := m.Schema.Targets()[0]
	for batches := range 2 {
		all, err := p.Rows(t.Context(), named(t, frame(70, 9)))
		if err != nil {
			t.Fatal(err)
		}
		for i, x := range all {
			if n := x.Numbers[0]; n.Lo != y.Mean-y.SD || n.Hi != y.Mean+2*y.SD {
				t.Fatalf("row %d is from %v to %v, want %v ± %v", i, n.Lo, n.Hi, y.Mean, y.SD)
			}
		}
		if found.asked != batches+1 {
			t.Errorf("after %d batches the engine was asked %d times", batches+1, found.asked)
		}
	}
}
