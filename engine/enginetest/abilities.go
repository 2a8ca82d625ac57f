package enginetest

import (
	"math"
	"slices"
	"sync"
	"testing"

	"utvi/engine"
	"utvi/gauss"
	"utvi/internal/special"
	"utvi/nn"
	"utvi/rng"
)

// pipeline makes steps without waiting: they are those that one makes singly, and end with the first
// that is not finite.
func pipeline(t testing.TB, e engine.Engine[float32]) {
	s := plain()
	tr := s.trainer(t, e, s.job(t))
	p, ok := tr.(engine.Pipeline)
	if !ok {
		t.Log("the engine has no engine.Pipeline")
		return
	}
	const many = 5
	var updates []engine.Update
	for step := 1; step <= many; step++ {
		updates = append(updates, update(step))
	}
	out := make([]engine.Outcome, many)
	if done := p.Run(updates, out); done != many {
		t.Fatalf("%d of %d steps are made: %+v", done, many, out)
	}
	single := s.trainer(t, e, s.job(t))
	for i, u := range updates {
		score := single.Gradient(u.Step)
		change := single.Update(u)
		if change != out[i].Change || !near(score.NLL, out[i].NLL, 1e-9) {
			t.Errorf("step %d without waiting gives %+v, singly %+v and %+v", u.Step, out[i], score, change)
		}
	}
	if !sameState(synced(t, tr), synced(t, single)) {
		t.Error("steps without waiting have other bits than single ones")
	}

	last, before := spoiltTrainer(t, e, s, 0, float32(math.NaN()))
	if done := last.(engine.Pipeline).Run(updates[1:], out); done != 1 || out[0].Finite || out[0].Change.Finite {
		t.Errorf("steps from one that is not finite on: %d are made, the first gives %+v", done, out[0])
	}
	if !slices.Equal(synced(t, last).Params.Theta, before) {
		t.Error("steps from one that is not finite on change parameters")
	}
}

// ensembles predicts with several networks together: the bits are those of each alone.
func ensembles(t testing.TB, e engine.Engine[float32]) {
	const many = 41
	s := plain()
	x := s.inputs(many, nn.Fixed)
	pool := engine.NewPool(1)
	defer pool.Close()
	var programs []engine.Program[float32]
	var want, got []gauss.Batch[float32]
	for i := range 3 {
		n := s.network(t)
		for k := range n.Params.Theta {
			n.Params.Theta[k] *= 1 - 0.1*float32(i)
		}
		p := compiled(t, e, n)
		programs = append(programs, p)
		want = append(want, through(p, p.NewPredictor(pool, many), x, many))
		got = append(got, gauss.New[float32](many, want[i].Width))
	}
	together := e.Abilities().NewEnsemble
	if together == nil {
		t.Log("the engine has no NewEnsemble")
		return
	}
	all, ok := together(programs, pool, many)
	if !ok {
		t.Fatal("networks of one engine do not predict together")
	}
	for range 2 {
		all.PredictAll(x, got)
		for i := range got {
			if !sameBatch(got[i], want[i]) {
				t.Errorf("network %d of an ensemble predicts other bits than alone", i)
			}
			clear(got[i].Mean)
		}
	}
	other := compiled(t, engine.CPU[float32](), s.network(t))
	if _, ok := together([]engine.Program[float32]{programs[0], other}, pool, many); ok {
		t.Error("networks of this engine and of the CPU predict together")
	}
}

// intervals finds the intervals of mixtures: they have their level.
func intervals(t testing.TB, e engine.Engine[float32]) {
	newIntervals := e.Abilities().NewIntervals
	if newIntervals == nil {
		t.Log("the engine has no NewIntervals")
		return
	}
	shapes := []engine.Shape{{Weights: []float64{0.7, 0.3}, Factors: []float64{0.5, 4}}, {Weights: []float64{1}, Factors: []float64{1.3}}}
	const members, most, n = 3, 40, 30
	find, err := newIntervals(members, most, shapes)
	if err != nil {
		t.Fatal(err)
	}
	mean := make([][]float32, members)
	variance := make([][]float32, members)
	for k := range members {
		for i := range most {
			at := uint64(members*i + k)
			mean[k] = append(mean[k], float32(rng.Normal(rng.New(1), at)))
			variance[k] = append(variance[k], float32(math.Exp(rng.Normal(rng.New(2), at))))
		}
	}
	lo := make([]float64, most)
	hi := make([]float64, most)
	for _, level := range []float64{0.5, 0.9, 0.999} {
		if err := find.Find(level, n, mean, variance, lo, hi); err != nil {
			t.Fatal(err)
		}
		for i := range n {
			below := func(x float64) (p float64) {
				s := shapes[i%len(shapes)]
				for k := range members {
					for j, w := range s.Weights {
						p += w / members * special.CDF((x-float64(mean[k][i]))/math.Sqrt(float64(variance[k][i])*s.Factors[j]))
					}
				}
				return p
			}
			if a, b := below(lo[i]), below(hi[i]); math.Abs(a-(1-level)/2) > 1e-6 || math.Abs(b-(1+level)/2) > 1e-6 {
				t.Errorf("the interval of level %v, number %d, lies between the quantiles %v and %v", level, i, a, b)
			}
		}
	}
	if lo[n] != 0 || hi[n] != 0 {
		t.Error("more intervals are found than were asked for")
	}
}

// sideBySide runs trainings at the same time: each has the bits that it has alone, by the same plan.
func sideBySide(t testing.TB, e engine.Engine[float32]) {
	s := plain()
	beside := engine.Beside(e, 0)
	if beside < 1 {
		t.Fatalf("%d trainings suit the engine", beside)
	}
	const together = 3
	var trainers [together + 1]engine.Trainer
	begin := func(i int) {
		j := s.job(t)
		j.Beside = together
		var err error
		trainers[i], err = e.Train(s.network(t), j)
		if err != nil {
			t.Fatal(err)
		}
	}
	var states [together + 1]engine.State
	train := func(i int) {
		tr := trainers[i]
		for step := 1; step <= 3; step++ {
			tr.Gradient(step)
			tr.Update(update(step))
		}
		if err := tr.Sync(); err != nil {
			t.Error(err)
		}
		states[i] = tr.State()
	}
	begin(together)
	train(together)
	done(trainers[together])
	for i := range together {
		begin(i)
		defer done(trainers[i])
	}
	var all sync.WaitGroup
	for i := range together {
		all.Go(func() { train(i) })
	}
	all.Wait()
	for i := range together {
		if !sameState(states[i], states[together]) {
			t.Errorf("training %d of %d at the same time has other bits than alone", i, together)
		}
	}
}
