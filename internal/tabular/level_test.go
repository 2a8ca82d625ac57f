package tabular

import (
	"math"
	"testing"

	"utvi/data"
	"utvi/gauss"
	"utvi/internal/special"
	"utvi/rng"
)

// overstated is one fold of n rows. The errors have the variances e^a, a from N(0, spread²);
// the predicted ones are e^(a + b), b from N(0, doubt²): they differ more than the true ones.
func overstated(n int, spread, doubt float64) []fold {
	d := Data{Set: data.Set{X: gauss.Fixed(1, make([]float32, n)), Y: make([]float32, n)}}
	h := heldOutPredictions{Mean: make([]float32, n), Var: make([]float32, n)}
	key := rng.New(5)
	for i := range n {
		z := func(k int) float64 { return rng.Normal(key, uint64(3*i+k)) }
		a := spread * z(0)
		d.Y[i], h.Var[i] = float32(math.Exp(a/2)*z(1)), float32(math.Exp(a+doubt*z(2)))
	}
	return []fold{{held: d, by: [][]*result{{{log: record{Held: []heldOutPredictions{h}}}}}}}
}

// covered is the share of rows within their central 90 % intervals, of those whose
// predicted variance is below 1, and of the others.
func covered(s ResidualMixture, f fold) (low, high float64) {
	var in, n [2]float64
	h := only(f)[0]
	for i, y := range f.held.Y {
		v, at := float64(h.Var[i]), 0
		if v >= 1 {
			at = 1
		}
		v *= s.Level.Factor(float64(h.Mean[i]), v)
		var below float64
		for j, w := range s.W {
			below += w * special.CDF(float64(y)/math.Sqrt(s.R[j]*v))
		}
		n[at]++
		if below > 0.05 && below < 0.95 {
			in[at]++
		}
	}
	return in[0] / n[0], in[1] / n[1]
}

// Variances that differ by chance are levelled; those that are right are not.
func TestLevel(t *testing.T) {
	folds := overstated(4000, 0, 0.6) // all true variances are 1
	s := fitShape(folds, only, 0, nil)
	if s.Level == nil || s.Level.Power != levels[len(levels)-1] {
		t.Fatalf("the level is %+v", s.Level)
	}
	low, high := covered(s, folds[0])
	plain := fitResiduals(folds, only, 0)
	worse, wide := covered(plain, folds[0])
	if math.Abs(low-0.9) > 0.04 || math.Abs(high-0.9) > 0.04 || wide-worse < 1.8*(high-low) {
		t.Errorf("rows of small and of large variances are covered by %v and %v; without a level by %v and %v", low, high, worse, wide)
	}
	// Half of what the variances differ by is true.
	folds = overstated(4000, 0.7, 0.7)
	if s := fitShape(folds, only, 0, nil); s.Level == nil || s.Level.Power < 0.3 {
		t.Errorf("the level is %+v, want 0.35 or 0.5", s.Level)
	}
	folds = overstated(4000, 1, 0)
	s = fitShape(folds, only, 0, nil)
	if low, high := covered(s, folds[0]); s.Level != nil || math.Abs(low-0.9) > 0.02 || math.Abs(high-0.9) > 0.02 {
		t.Errorf("variances that are right have the level %+v and are covered by %v and %v", s.Level, low, high)
	}
	// Few rows say little.
	if s := fitShape(overstated(14, 0, 0.2), only, 0, nil); s.Level != nil && s.Level.Power > 0.2 {
		t.Errorf("fourteen rows have the level %+v", s.Level)
	}
}

// Where the errors depend on the mean, held-out rows show it.
func TestTilt(t *testing.T) {
	const n = 2500
	for _, c := range []struct{ power, tilt float64 }{{-0.1, 0}, {0, -0.5}, {0, 0.2}, {0.2, 0.35}, {0.35, -0.35}, {0, 0.7}, {0, -0.95}} {
		d := Data{Set: data.Set{X: gauss.Fixed(1, make([]float32, n)), Y: make([]float32, n)}}
		h := heldOutPredictions{Mean: make([]float32, n), Var: make([]float32, n)}
		key := rng.New(7)
		truth := 0.0
		for i := range n {
			z := func(k int) float64 { return rng.Normal(key, uint64(3*i+k)) }
			mean, log := 2+z(0), -3+z(1)
			h.Mean[i], h.Var[i] = float32(mean), float32(math.Exp(log))
			log -= c.power*log + c.tilt*mean
			d.Y[i] = float32(mean + math.Exp(log/2)*z(2))
			truth += (-halfLog2Pi - log/2 - z(2)*z(2)/2) / n
		}
		f := fold{held: d, by: [][]*result{{{log: record{Held: []heldOutPredictions{h}}}}}}
		s := fitShape([]fold{f}, only, 0, nil)
		if got, _ := mixtureScore([]fold{f}, only, []ResidualMixture{s}); math.Abs(got-truth) > 0.02 {
			t.Errorf("%+v: ln p is %v, by the truth %v", c, got, truth)
		}
		if l := s.Level; l == nil || l.Power != c.power || l.Tilt != c.tilt {
			t.Errorf("the level is %+v, want %+v", l, c)
		}
		if r := s.Scale(); math.Abs(r-1) > 0.2 {
			t.Errorf("%+v: the scale is %v, want 1", c, r)
		}
	}
}

// A level does not change the scale of the variances, and what was fitted is what is scored.
func TestLevelScale(t *testing.T) {
	folds := overstated(3000, 0, 1)
	s := fitShape(folds, only, 0, nil)
	logp := func(c float32) float64 {
		f := folds[0]
		h := only(f)[0]
		scaled := heldOutPredictions{Mean: h.Mean, Var: make([]float32, len(h.Var))}
		for i, v := range h.Var {
			scaled.Var[i] = c * v
		}
		f.by = [][]*result{{{log: record{Held: []heldOutPredictions{scaled}}}}}
		own := fitShape([]fold{f}, only, 0, nil)
		mean, _ := mixtureScore([]fold{f}, only, []ResidualMixture{own})
		return mean
	}
	best, _ := mixtureScore(folds, only, []ResidualMixture{s})
	without, _ := mixtureScore(folds, only, []ResidualMixture{fitResiduals(folds, only, 0)})
	if best < without+0.02 {
		t.Errorf("ln p is %v with the level, and %v without", best, without)
	}
	if got := logp(9); math.Abs(got-best) > 0.01 {
		t.Errorf("ln p is %v for variances that are 9 times as large, want %v", got, best)
	}
}

// Intervals of errors with heavy tails hold nine of ten rows.
func TestHeavyTails(t *testing.T) {
	const n = 6000
	d := Data{Set: data.Set{X: gauss.Fixed(1, make([]float32, n)), Y: make([]float32, n)}}
	h := heldOutPredictions{Mean: make([]float32, n), Var: make([]float32, n)}
	key := rng.New(2)
	for i := range n {
		z := func(k int) float64 { return rng.Normal(key, uint64(4*i+k)) }
		c := z(1)*z(1) + z(2)*z(2) + z(3)*z(3)
		d.Y[i], h.Var[i] = float32(z(0)/math.Sqrt(c/3)), 1.5 // Student's t with 3 degrees of freedom
	}
	f := fold{held: d, by: [][]*result{{{log: record{Held: []heldOutPredictions{h}}}}}}
	s := fitShape([]fold{f}, only, 0, nil)
	if _, c := covered(s, f); math.Abs(c-0.9) > 0.01 {
		t.Errorf("the intervals hold %v, want 0.9; the shape is %+v", c, s)
	}
}
