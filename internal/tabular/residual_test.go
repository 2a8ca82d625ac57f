package tabular

import (
	"math"
	"testing"

	"utvi/data"
	"utvi/gauss"
	"utvi/rng"
)

// wide is one fold of n rows of two targets, predicted as N(0, 4) and N(1, 1): the
// first errors are those of a Normal of variance 4·c, one of seven three times wider,
// the second are as they should be.
func wide(n int, c float64) []fold {
	d := Data{Set: data.Set{X: gauss.Fixed(1, make([]float32, n)), Y: make([]float32, 2*n), Targets: 2}}
	h := heldOutPredictions{Mean: make([]float32, 2*n), Var: make([]float32, 2*n)}
	key := rng.New(8)
	for i := range n {
		s := 2 * math.Sqrt(c)
		if i%7 == 0 {
			s *= 3
		}
		d.Y[2*i], d.Y[2*i+1] = float32(s*rng.Normal(key, uint64(2*i))), float32(1+rng.Normal(key, uint64(2*i+1)))
		h.Mean[2*i], h.Mean[2*i+1] = 0, 1
		h.Var[2*i], h.Var[2*i+1] = 4, 1
	}
	return []fold{{held: d, by: [][]*result{{{log: record{Held: []heldOutPredictions{h}}}}}}}
}

// density is that of N(0, v).
func density(e, v float64) float64 { return math.Exp(-e*e/(2*v)) / math.Sqrt(2*math.Pi*v) }

func only(f fold) []heldOutPredictions { return []heldOutPredictions{f.by[0][0].log.Held[0]} }

// The shape is that of the residuals.
func TestFitShape(t *testing.T) {
	folds := wide(7000, 1)
	s := fitResiduals(folds, only, 0)
	// Three parts stand for two: what counts is the density.
	for _, e := range []float64{0, 1, 2, 4, 6, 9, 14} {
		want := math.Log(6.0/7*density(e, 4) + 1.0/7*density(e, 36))
		if got := s.logNormal(e, 4); math.Abs(got-want) > 0.1 {
			t.Errorf("ln p(%v) is %v, want %v", e, got, want)
		}
	}
	if s := fitResiduals(folds, only, 1); math.Abs(s.Scale()-1) > 0.05 {
		t.Errorf("the shape of a Normal is %+v", s)
	}
	// Rows that do not count change nothing.
	folds[0].held.Weights = make([]float32, 7000)
	for i := range folds[0].held.Weights {
		folds[0].held.Weights[i] = 5
		if i%7 == 0 {
			folds[0].held.Weights[i] = 0
		}
	}
	if s := fitResiduals(folds, only, 0); math.Abs(s.Scale()-1) > 0.05 {
		t.Errorf("without the wide rows the shape is %+v", s)
	}
}

// A hundred rows that fit do not promise that the next one does: one that lies thirty
// standard deviations away costs a dozen nats, and hardly widens the others.
func TestOneRowThatDoesNotFit(t *testing.T) {
	s := fitResiduals(wide(100, 1), only, 1)
	if got := s.logNormal(30, 1); got < -16 {
		t.Errorf("ln p of a row at 30 σ is %v", got)
	}
	if got := s.logNormal(100, 1); got < -30 {
		t.Errorf("ln p of a row at 100 σ is %v", got)
	}
	if s.Scale() > 1.5 {
		t.Errorf("variances grow by %v", s.Scale())
	}
	if many := fitResiduals(wide(7000, 1), only, 1); many.Scale() > 1.05 {
		t.Errorf("with 7,000 rows variances grow by %v", many.Scale())
	}
}

// The density of a shape is that of its mixture.
func TestShapeDensity(t *testing.T) {
	s := ResidualMixture{W: []float64{0.7, 0.3}, R: []float64{0.5, 4}}
	for _, e := range []float64{0, 0.4, -3} {
		want := math.Log(0.7*density(e, 0.5*2) + 0.3*density(e, 4*2))
		if got := s.logNormal(e, 2); math.Abs(got-want) > 1e-12 {
			t.Errorf("ln p(%v) = %v, want %v", e, got, want)
		}
	}
	if got := s.logNormal(1e6, 2); math.IsInf(got, 0) || math.IsNaN(got) {
		t.Errorf("far out it is %v", got)
	}
	if math.Abs(s.Scale()-1.55) > 1e-12 || plainResiduals().Scale() != 1 {
		t.Errorf("variances grow by %v", s.Scale())
	}
	if c := s.scaled(2); c.R[1] != 8 || s.R[1] != 4 || c.W[0] != 0.7 {
		t.Errorf("twice the shape is %+v of %+v", c, s)
	}
}
