package calibrate

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"utvi/dist"
	"utvi/metric"
	"utvi/rng"
)

// skewed are rows of truth μ + σ(e − 1), e exponential, predicted as too wide a Normal.
func skewed(seed uint64, n int) Rows {
	key := rng.New(seed)
	return Unweighted(func(yield func(float64, dist.Dist) bool) {
		d := new(dist.Normal)
		for i := range n {
			mu, sigma := 5*math.Sin(float64(i)), 0.3+rng.Uniform(key.Sub(1, 0), uint64(i))
			*d = dist.Normal{Mu: mu, Sigma: 1.5 * sigma}
			if !yield(mu+sigma*(-math.Log1p(-rng.Uniform(key, uint64(i)))-1), d) {
				return
			}
		}
	})
}

func scores(rows Rows) metric.RegressionScores {
	var m metric.Regression
	for r := range rows {
		m.Add(r.Target, r.Prediction, r.Weight)
	}
	return m.Scores()
}

// Knots lie where ranks says: between the rows of those ranks.
func TestKnotsLieBetweenRows(t *testing.T) {
	const n = 1000
	rows := skewed(3, n)
	l, err := FitLevels(rows)
	if err != nil {
		t.Fatal(err)
	}
	want := ranks(n)
	if len(l.From) != len(want) {
		t.Fatalf("%d knots, want %d", len(l.From), len(want))
	}
	for i, from := range l.From {
		below := 0
		for r := range rows {
			if r.Prediction.CDF(r.Target) < from {
				below++
			}
		}
		if to := (float64(want[i]) + from) / (n + 1); below != want[i] || math.Abs(l.To[i]-to) > 1e-12 {
			t.Errorf("knot %d: %d rows below it, level %v; want %d and %v", i, below, l.To[i], want[i], to)
		}
	}
}

// On fresh rows the levels are uniform, the intervals hold and the density is better.
func TestLevelsStraightenFreshRows(t *testing.T) {
	l, err := FitLevels(skewed(1, 5000))
	if err != nil {
		t.Fatal(err)
	}
	before, after := scores(skewed(2, 3000)), scores((&Calibration{Levels: l}).Corrected(skewed(2, 3000)))
	if before.CalibrationError < 0.05 {
		t.Fatalf("the rows are calibrated already: %g", before.CalibrationError)
	}
	// Fitting and fresh rows both vary.
	if bound := 3 * math.Sqrt(1+3.0/5) * after.CalibrationChance; after.CalibrationError > bound {
		t.Errorf("calibration error %g, at most %g by chance", after.CalibrationError, bound)
	}
	for _, c := range after.Intervals {
		near(t, fmt.Sprintf("coverage of %g", c.Level), c.Coverage, c.Level, 4*math.Sqrt(c.Level*(1-c.Level)*(1.0/3000+1.0/5000)))
	}
	if after.LL.Value < before.LL.Value+0.1 || after.CRPS.Value >= before.CRPS.Value {
		t.Errorf("log-likelihood %g after %g, CRPS %g after %g", after.LL.Value, before.LL.Value, after.CRPS.Value, before.CRPS.Value)
	}
}

// Where nothing is wrong, little is changed, and less by more rows.
func TestLevelsLeaveWhatIsRight(t *testing.T) {
	fresh := normals(9, 3000, 0, 1)
	for _, n := range []int{100, 1000, 10000} {
		l, err := FitLevels(normals(8, n, 0, 1))
		if err != nil {
			t.Fatal(err)
		}
		loss := (nll((&Calibration{Levels: l}).Corrected(fresh)) - nll(fresh)) / 3000
		// Each of the J parts costs ½ n⁻¹ at large.
		if bound := 2 * float64(len(l.From)+1) / float64(2*n); loss > bound {
			t.Errorf("%d rows: the log-likelihood falls by %g, more than %g", n, loss, bound)
		}
	}
}

// steep makes a map with knots and slopes of every kind.
var steep = &Levels{Rows: 10, From: []float64{1e-12, 0.01, 0.4, 0.5, 0.97}, To: []float64{0.05, 0.06, 0.1, 0.9, 0.95}}

func bases() []dist.Dist {
	m := new(dist.Mixture)
	m.Add(2, -1, 0.4)
	m.Add(1, 1.5, 0.2)
	return []dist.Dist{dist.Normal{Mu: 3, Sigma: 0.5}, m}
}

func TestBentInverts(t *testing.T) {
	if err := steep.check(); err != nil {
		t.Fatal(err)
	}
	for _, base := range bases() {
		d := (&Calibration{Levels: steep}).Apply(base, nil)
		last := math.Inf(-1)
		for _, p := range []float64{1e-200, 1e-9, 0.02, 0.05, 0.0501, 0.07, 0.3, 0.5, 0.9, 0.93, 0.95, 0.96, 0.999} {
			x := d.Quantile(p)
			if !(x > last) {
				t.Errorf("quantiles do not rise at %g", p)
			}
			last = x
			near(t, "CDF of the quantile over its level", d.CDF(x)/p, 1, 1e-9)
		}
		if !math.IsInf(d.Quantile(0), -1) || !math.IsInf(d.Quantile(1), 1) || !math.IsNaN(d.Quantile(-0.1)) || !math.IsNaN(d.Quantile(1.1)) || !math.IsNaN(d.Quantile(math.NaN())) {
			t.Error("the ends of the quantile")
		}
	}
}

// Mean, deviation and CRPS against sums over quantiles, which know nothing of G's density;
// the density against differences of G.
func TestBentMoments(t *testing.T) {
	for _, base := range bases() {
		d := (&Calibration{Levels: steep}).Apply(base, nil)
		const n = 30000
		var mean, square, apart float64
		for i := range n {
			p := (float64(i) + 0.5) / n
			x := d.Quantile(p)
			mean += x / n
			square += x * x / n
			apart += 2 * x * (2*p - 1) / n // ½E|X−X′| = Σ x(2p−1)/n
		}
		near(t, "mean", d.Mean(), mean, 1e-3*base.SD())
		near(t, "deviation", d.SD(), math.Sqrt(square-mean*mean), 2e-3*base.SD())
		for _, y := range []float64{mean - 0.3, mean + 0.4, mean + 30, mean - 40} {
			var away float64
			for i := range n / 10 {
				away += math.Abs(d.Quantile((float64(i)+0.5)/(n/10))-y) / (n / 10)
			}
			near(t, "CRPS", d.CRPS(y), away-apart/2, 2e-3*base.SD())
		}
		for _, p := range []float64{0.001, 0.055, 0.08, 0.4, 0.92, 0.99} {
			x, h := d.Quantile(p), 1e-6
			near(t, "log-density", d.LogPDF(x), math.Log((d.CDF(x+h)-d.CDF(x-h))/(2*h)), 1e-5)
		}
		if v := d.LogPDF(-1000); math.IsInf(v, 0) || math.IsNaN(v) {
			t.Errorf("the log-density in the far tail is %g", v)
		}
	}
}

// What scratch remembers of one row or map is not taken for another's.
func TestScratchForgets(t *testing.T) {
	var scratch Scratch
	gentle := &Levels{Rows: 10, From: []float64{0.3}, To: []float64{0.4}}
	for range 2 {
		for _, levels := range []*Levels{steep, gentle} {
			for _, base := range append(bases(), dist.Normal{Mu: -2, Sigma: 3}) {
				c := &Calibration{Levels: levels}
				got, want := c.Apply(base, &scratch), c.Apply(base, nil)
				if got.Mean() != want.Mean() || got.SD() != want.SD() {
					t.Errorf("%g ± %g, want %g ± %g", got.Mean(), got.SD(), want.Mean(), want.SD())
				}
			}
		}
	}
}

// Rows all in one place, or beyond all levels, still give a map that rises.
func TestLevelsOfHopelessRows(t *testing.T) {
	for name, y := range map[string]func(i int) float64{
		"far above":  func(int) float64 { return 1e6 },
		"far below":  func(int) float64 { return -1e6 },
		"all equal":  func(int) float64 { return 0.25 },
		"both sides": func(i int) float64 { return 100 - 200*float64(i%2) },
		"two places": func(i int) float64 { return float64(i % 2) },
	} {
		rows := Unweighted(func(yield func(float64, dist.Dist) bool) {
			for i := range 100 {
				if !yield(y(i), dist.Normal{Sigma: 1}) {
					return
				}
			}
		})
		l, err := FitLevels(rows)
		if err == nil {
			err = l.check()
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if after := nll((&Calibration{Levels: l}).Corrected(rows)); after > nll(rows) {
			t.Errorf("%s: worse on the fitting rows", name)
		}
		if !slices.IsSorted(l.From) || !slices.IsSorted(l.To) {
			t.Errorf("%s: knots %v to %v", name, l.From, l.To)
		}
	}
}
