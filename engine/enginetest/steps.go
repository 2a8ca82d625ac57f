package enginetest

import (
	"io"
	"math"
	"slices"
	"testing"

	"utvi/engine"
	"utvi/nn"
	"utvi/vi"
)

// Scores and gradients may differ from those of the CPU by rounding, relative to the largest.
const (
	scoreRounding    = 2e-4
	gradientRounding = 2e-4
)

// rate is the learning rate of all steps.
const rate = 1e-2

// trainer returns a trainer of the subject, or nil if the engine refuses it.
func (s subject) trainer(t testing.TB, e engine.Engine[float32], j engine.Job) engine.Trainer {
	t.Helper()
	tr, err := e.Train(s.network(t), j)
	if s.refused(t, err) {
		return nil
	}
	t.Cleanup(func() { done(tr) })
	return tr
}

// done frees what a trainer holds.
func done(tr engine.Trainer) {
	if c, ok := tr.(io.Closer); ok {
		c.Close()
	}
}

func update(step int) engine.Update { return engine.Update{Step: step, Rate: rate, KL: 1e-2} }

// advance makes the steps from … to, and fits the priors before those with odd numbers.
func advance(t testing.TB, tr engine.Trainer, from, to int) (all []engine.Outcome) {
	t.Helper()
	for step := from; step <= to; step++ {
		if step%2 == 1 {
			tr.FitPriors(vi.EmpiricalBayes{})
		}
		score := tr.Gradient(step)
		if score.Err != nil || !score.Finite {
			t.Fatalf("step %d: %+v", step, score)
		}
		change := tr.Update(update(step))
		if change.Err != nil || !change.Finite {
			t.Fatalf("step %d: %+v", step, change)
		}
		all = append(all, engine.Outcome{Score: score, Change: change})
	}
	return all
}

// synced returns the state of a training in the memory of the host.
func synced(t testing.TB, tr engine.Trainer) engine.State {
	t.Helper()
	if err := tr.Sync(); err != nil {
		t.Fatal(err)
	}
	return tr.State()
}

// steps compares scores, gradients and updates with those of the CPU.
func steps(t testing.TB, e engine.Engine[float32]) {
	for _, s := range subjects() {
		for _, clip := range []float64{0, 0.5} {
			j := s.job(t)
			j.Optimizer.Clip = clip
			if clip > 0 {
				j.Data = s.table(t, nn.Independent)
			}
			ours := s.trainer(t, e, j)
			if ours == nil {
				break
			}
			theirs := s.trainer(t, engine.CPU[float32](), j)
			compareSteps(t, s.name, ours, theirs)
		}
	}
}

func compareSteps(t testing.TB, name string, ours, theirs engine.Trainer) {
	t.Helper()
	got := advance(t, ours, 1, 1)
	want := advance(t, theirs, 1, 1)
	x := synced(t, ours)
	y := synced(t, theirs)
	// After one step AdamW's moments are the gradient and its square, by known factors.
	if d := off(x.First.Theta, y.First.Theta); !(d <= gradientRounding) {
		t.Errorf("%s: the gradients of the first step are off by %.1e of the largest", name, d)
	}
	if d := off(x.Second.Theta, y.Second.Theta); !(d <= 2*gradientRounding) {
		t.Errorf("%s: AdamW's second moments are off by %.1e of the largest", name, d)
	}
	compareUpdate(t, name, x, y)
	got = append(got, advance(t, ours, 2, 3)...)
	want = append(want, advance(t, theirs, 2, 3)...)
	for i, w := range want {
		g := got[i]
		if !near(g.NLL, w.NLL, scoreRounding) || g.Floored != w.Floored {
			t.Errorf("%s: step %d has the score %+v, on the CPU %+v", name, i+1, g.Score, w.Score)
		}
		if !near(g.Change.KL, w.Change.KL, scoreRounding) || !near(g.Change.GradNorm, w.Change.GradNorm, 10*scoreRounding) {
			t.Errorf("%s: step %d changes %+v, on the CPU %+v", name, i+1, g.Change, w.Change)
		}
	}
	x = synced(t, ours)
	y = synced(t, theirs)
	for i, p := range x.Params.Tensors {
		if q := y.Params.Tensors[i]; !near(p.Prior.Std, q.Prior.Std, scoreRounding) {
			t.Errorf("%s: the prior of %s is %v, on the CPU %v", name, p.Name, p.Prior, q.Prior)
		}
	}
}

// compareUpdate compares the parameters after the first step. AdamW divides each gradient by its own
// size, so only weights whose gradient is well above rounding are compared.
func compareUpdate(t testing.TB, name string, x, y engine.State) {
	t.Helper()
	var largest float64
	for _, g := range y.First.Theta {
		largest = max(largest, math.Abs(float64(g)))
	}
	for i, w := range y.Params.Theta {
		if math.Abs(float64(y.First.Theta[i])) < 0.01*largest {
			continue
		}
		if d := math.Abs(float64(x.Params.Theta[i]) - float64(w)); !(d <= 0.02*rate) {
			t.Errorf("%s: after the first step a parameter is %v, on the CPU %v", name, x.Params.Theta[i], w)
			return
		}
	}
}

func near(a, b, rounding float64) bool { return math.Abs(a-b) <= rounding*(0.1+math.Abs(b)) }

// off returns the largest difference, relative to the largest number.
func off(got, want []float32) float64 {
	var largest, most float64
	for i, w := range want {
		largest = max(largest, math.Abs(float64(w)))
		d := math.Abs(float64(got[i]) - float64(w))
		if !(d <= most) {
			most = d
		}
	}
	return most / largest
}

// sameBits trains twice.
func sameBits(t testing.TB, e engine.Engine[float32]) {
	for _, s := range subjects() {
		a := s.trainer(t, e, s.job(t))
		if a == nil {
			continue
		}
		b := s.trainer(t, e, s.job(t))
		x := advance(t, a, 1, 3)
		y := advance(t, b, 1, 3)
		if !slices.Equal(x, y) || !sameState(synced(t, a), synced(t, b)) {
			t.Errorf("%s: two trainings with the same seed have other bits", s.name)
		}
	}
}

func sameState(a, b engine.State) bool {
	for i, p := range a.Params.Tensors {
		if p.Prior != b.Params.Tensors[i].Prior {
			return false
		}
	}
	return slices.Equal(a.Params.Theta, b.Params.Theta) && slices.Equal(a.First.Theta, b.First.Theta) && slices.Equal(a.Second.Theta, b.Second.Theta)
}

// continued trains in two parts, the second from the state of the first, as a checkpoint does.
func continued(t testing.TB, e engine.Engine[float32]) {
	for _, s := range subjects() {
		whole := s.trainer(t, e, s.job(t))
		if whole == nil {
			continue
		}
		first := s.trainer(t, e, s.job(t))
		second := s.trainer(t, e, s.job(t))
		want := advance(t, whole, 1, 4)
		advance(t, first, 1, 2)
		restore(t, second, synced(t, first))
		got := advance(t, second, 3, 4)
		if !slices.Equal(got, want[2:]) || !sameState(synced(t, second), synced(t, whole)) {
			t.Errorf("%s: a training that is continued from its state has other bits", s.name)
		}
	}
}

// restore loads a state into a training.
func restore(t testing.TB, tr engine.Trainer, from engine.State) {
	t.Helper()
	to := synced(t, tr)
	for i, x := range from.Params.Tensors {
		to.Params.Tensors[i].Prior = x.Prior
	}
	copy(to.Params.Theta, from.Params.Theta)
	copy(to.First.Theta, from.First.Theta)
	copy(to.Second.Theta, from.Second.Theta)
	if err := tr.Load(); err != nil {
		t.Fatal(err)
	}
}

// drawnNetworks trains with drawn weights: as on the CPU, which draws the same.
func drawnNetworks(t testing.TB, e engine.Engine[float32]) {
	s := plain()
	s.layers = nn.Chain{s.layers, nn.Noise{}} // drawn networks predict numbers
	j := s.job(t)
	j.Draws = 2
	ours, err := e.Train(s.network(t), j)
	if err != nil {
		t.Logf("not trained by drawn networks: %v", err)
		return
	}
	defer done(ours)
	compareSteps(t, "drawn networks", ours, s.trainer(t, engine.CPU[float32](), j))
	s.layers = plain().layers
	if _, err := e.Train(s.network(t), j); err == nil {
		t.Error("a likelihood that needs a variance is accepted for drawn networks without noise")
	}
}

func stepAllocations(t testing.TB, e engine.Engine[float32]) {
	s := plain()
	tr := s.trainer(t, e, s.job(t))
	if tr == nil {
		return
	}
	step := 0
	if n := allocations(func() {
		step++
		tr.Gradient(step)
		tr.Update(update(step))
	}); n > 0 {
		t.Errorf("a step allocates %v times", n)
	}
}
