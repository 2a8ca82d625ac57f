package calibrate

import (
	"math"
	"testing"

	"utvi/dist"
	"utvi/rng"
)

// normals are n rows of truth N(μ, σ), σ changing from row to row, predicted as
// N(μ + bias·σ, sd·σ).
func normals(seed uint64, n int, bias, sd float64) Rows {
	key := rng.New(seed)
	return Unweighted(func(yield func(float64, dist.Dist) bool) {
		d := new(dist.Normal)
		for i := range n {
			mu, sigma := math.Cos(float64(i)), 0.1+rng.Uniform(key.Sub(1, 0), uint64(i))
			*d = dist.Normal{Mu: mu + bias*sigma, Sigma: sd * sigma}
			if !yield(mu+sigma*rng.Normal(key, uint64(i)), d) {
				return
			}
		}
	})
}

// mixtures are the same rows predicted by a mixture that is too narrow and leans.
func mixtures(seed uint64, n int) Rows {
	return Unweighted(func(yield func(float64, dist.Dist) bool) {
		m := new(dist.Mixture)
		for r := range normals(seed, n, 0, 1) {
			y, d := r.Target, r.Prediction
			m.Reset()
			m.Add(2, d.Mean()-0.1*d.SD(), 0.4*d.SD())
			m.Add(1, d.Mean()+0.3*d.SD(), 0.6*d.SD())
			if !yield(y, m) {
				return
			}
		}
	})
}

func nll(rows Rows) (sum float64) {
	for r := range rows {
		sum -= r.Weight * r.Prediction.LogPDF(r.Target)
	}
	return sum
}

func near(t *testing.T, what string, got, want, bound float64) {
	t.Helper()
	if !(math.Abs(got-want) <= bound) {
		t.Errorf("%s: %.12g, want %.12g ± %.2g", what, got, want, bound)
	}
}

// The likelihood falls on both sides of the fitted factor.
func TestScaleIsTheMaximum(t *testing.T) {
	for name, rows := range map[string]Rows{
		"too sure": normals(1, 300, 0.1, 0.6), "not sure enough": normals(2, 300, 0, 1.7), "right": normals(3, 300, 0, 1),
		"mixtures": mixtures(4, 300), "biased": normals(5, 50, 3, 0.05),
	} {
		s, err := FitScale(rows)
		if err != nil {
			t.Fatal(err)
		}
		best := nll((&Calibration{Scale: s}).Corrected(rows))
		if plain := nll(rows); best > plain {
			t.Errorf("%s: %v made the likelihood worse by %g", name, s, best-plain)
		}
		for _, by := range []float64{0.99, 1.01} {
			if other := nll((&Calibration{Scale: &Scale{s.Rows, s.Factor * by}}).Corrected(rows)); other <= best {
				t.Errorf("%s: %v, but %g times that is better by %g", name, s, by, best-other)
			}
		}
	}
}

// A search that starts where it cannot see the maximum at 1 still finds it: two
// narrow peaks that are right, and a wide part whose tails decide the start.
func TestScaleTriesOne(t *testing.T) {
	m := &dist.Mixture{}
	m.Add(0.495, -1, 0.1)
	m.Add(0.495, 1, 0.1)
	m.Add(0.01, 0, 30)
	s, err := FitScale(Unweighted(func(yield func(float64, dist.Dist) bool) {
		for i := range 40 {
			if !yield(float64(2*(i%2)-1)+0.02*float64(i%5-2), m) {
				return
			}
		}
	}))
	if err != nil || math.Abs(s.Factor-1) > 0.1 {
		t.Errorf("the scale is %v, want about 1; %v", s, err)
	}
}

func TestScaleFindsTheFactor(t *testing.T) {
	const n = 4000
	s, err := FitScale(normals(6, n, 0, 0.8))
	if err != nil {
		t.Fatal(err)
	}
	near(t, "factor", s.Factor, 1/0.8, 4/0.8/math.Sqrt(2*n))

	// The search, where it is not needed, finds the closed form.
	near(t, "searched factor", searchScale(normals(6, n, 0, 0.8), 0.1), s.Factor, 2e-6)
}

// Scaling is about the mean: that stays, the deviation does not.
func TestScaledMoments(t *testing.T) {
	for r := range mixtures(1, 3) {
		d := r.Prediction
		got := (&Calibration{Scale: &Scale{20, 1.7}}).Apply(d, nil)
		near(t, "mean", got.Mean(), d.Mean(), 1e-14)
		near(t, "standard deviation", got.SD(), 1.7*d.SD(), 1e-14)
	}
}

func TestNormalsAreRecognised(t *testing.T) {
	n := dist.Normal{Mu: 1, Sigma: 2}
	if !isNormal(n) || !isNormal(&n) || !isNormal(dist.Affine{Dist: &n, Scale: 2}) || !isNormal(&dist.Affine{Dist: n, Scale: 2}) {
		t.Error("a Normal is searched")
	}
	if isNormal(new(dist.Mixture)) || isNormal(dist.Affine{Dist: new(dist.Mixture), Scale: 2}) {
		t.Error("a mixture is taken for a Normal")
	}
}
