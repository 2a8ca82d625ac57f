package enginetest

import (
	"math"
	"slices"
	"strings"
	"testing"

	"utvi/data"
	"utvi/engine"
	"utvi/fn"
	"utvi/likelihood"
	"utvi/moment"
	"utvi/nn"
	"utvi/rng"
)

// spoilt returns rows that are good until a step, whose first row has the given input and target.
func spoilt(s subject, targets, at int, input, target float32) data.Source {
	in := s.in.Size()
	return &data.Generator{N: rows, In: in, Out: targets, Generate: func(_ rng.Key, row uint64, x, y []float32) {
		for i := range x {
			x[i] = float32(rng.Normal(rng.New(1), row<<8+uint64(i)))
		}
		for i := range y {
			y[i] = float32(rng.Normal(rng.New(2), row<<8+uint64(i)))
		}
		if row == uint64((at-1)*batch) {
			x[0] = input
			y[0] = target
		}
	}}
}

// spoiltTrainer returns a training whose step 2 is spoilt, after its first step, and its
// parameters.
func spoiltTrainer(t testing.TB, e engine.Engine[float32], s subject, input, target float32) (engine.Trainer, []float32) {
	t.Helper()
	j := s.job(t)
	j.Data = spoilt(s, j.Data.Targets(), 2, input, target)
	tr := s.trainer(t, e, j)
	if tr == nil {
		t.Fatalf("%s is refused", s.name)
	}
	advance(t, tr, 1, 1)
	return tr, slices.Clone(synced(t, tr).Params.Theta)
}

// scoreNotFinite lets a target be no number: the score says so.
func scoreNotFinite(t testing.TB, e engine.Engine[float32]) {
	tr, before := spoiltTrainer(t, e, plain(), 0, float32(math.NaN()))
	if score := tr.Gradient(2); score.Finite || score.Err != nil {
		t.Errorf("a target that is not a number has the score %+v", score)
	}
	explained(t, tr, "the score", "likelihood normal cannot score")
	if !slices.Equal(synced(t, tr).Params.Theta, before) {
		t.Error("a score that is not finite changes parameters")
	}
}

// gradientNotFinite lets a gradient overflow where the score does not: the update changes nothing.
func gradientNotFinite(t testing.TB, e engine.Engine[float32]) {
	tr, before := spoiltTrainer(t, e, plain(), 0, 1e25)
	if score := tr.Gradient(2); !score.Finite || score.Err != nil {
		t.Errorf("a large target has the score %+v", score)
		return
	}
	if change := tr.Update(update(2)); change.Finite || change.Err != nil {
		t.Errorf("a gradient that overflows gives %+v", change)
	}
	explained(t, tr, "the gradient", "gradient")
	if !slices.Equal(synced(t, tr).Params.Theta, before) {
		t.Error("a gradient that is not finite changes parameters")
	}
}

// layerOverflows lets a layer overflow, which must be named.
func layerOverflows(t testing.TB, e engine.Engine[float32]) {
	s := subject{"exp", nn.Vec(2), nn.Chain{nn.Dense{Out: 6}, nn.Apply{F: fn.Exp(), Rule: moment.UT(2)}, nn.Dense{Out: 1}}, likelihood.Normal{}, false}
	j := s.job(t)
	j.Data = spoilt(s, 1, 2, 1e6, 0)
	tr := s.trainer(t, e, j)
	if tr == nil {
		return
	}
	advance(t, tr, 1, 1)
	if score := tr.Gradient(2); score.Finite || score.Err != nil {
		t.Errorf("a layer that overflows gives the score %+v", score)
	}
	explained(t, tr, "the score", "1.apply")
}

// explained checks what a trainer says of the step before.
func explained(t testing.TB, tr engine.Trainer, what, say string) {
	t.Helper()
	if err := tr.Explain(what); err == nil || !strings.Contains(err.Error(), say) {
		t.Errorf("a step that is not finite is explained by %q, which does not say %q", err, say)
	}
}

// refusals gives the engine what no engine takes, or only the CPU.
func refusals(t testing.TB, e engine.Engine[float32]) {
	for _, s := range subjects() {
		n := s.network(t)
		_, err := e.Compile(n, nn.Fixed)
		s.refused(t, err)
		_, err = e.Train(n, s.job(t))
		s.refused(t, err)
	}
	bad := plain()
	n := bad.network(t)
	n.Layers = nn.Chain{nn.Dense{Out: 4}, nn.Dense{Out: -1}}
	if _, err := e.Compile(n, nn.Fixed); err == nil || !strings.Contains(err.Error(), "1.dense") {
		t.Errorf("a layer that cannot be is answered by %v, which does not name 1.dense", err)
	}
}
