package dist

import (
	"math"
	"testing"

	"utvi/likelihood"
)

// cases are asymmetric: nothing that swaps signs or parts goes unseen.
func cases() map[string]Dist {
	apart := new(Mixture) // two modes far apart, and a wide part beneath
	apart.Add(0.2, -3, 0.1)
	apart.Add(1.1, 2, 0.4)
	apart.Add(0.4, 0.5, 3)
	noise := new(Mixture)
	noise.AddLogNormal(1, 0.3, 0.2, -1.1, 0.7, 1e-6)
	both := new(Mixture)
	both.AddLogNormal(2, -0.8, 0.01, -1.1, 0.2, 1e-6)
	both.AddLogNormal(1, 0.6, 0.03, -0.1, 1.2, 1e-6)
	both.Add(0.5, 1.2, 0.3)
	return map[string]Dist{
		"normal": Normal{1.3, 0.4}, "apart": apart, "noise": noise, "both": both,
		"affine normal": Affine{Normal{-0.2, 0.7}, 3.5, -10}, "affine mixture": Affine{apart, 0.25, 4},
	}
}

// integral is Simpson's rule.
func integral(a, b float64, f func(float64) float64) float64 {
	const n = 4000
	h := (b - a) / (2 * n)
	sum := f(a) + f(b)
	for i := 1; i < 2*n; i++ {
		sum += f(a+h*float64(i)) * float64(2+2*(i%2))
	}
	return sum * h / 3
}

// bounds hold all but 1e-13 of the probability on either side.
func bounds(d Dist) (lo, hi float64) { return d.Quantile(1e-13), d.Quantile(1 - 1e-13) }

func TestDensityAgainstTheRest(t *testing.T) {
	for name, d := range cases() {
		lo, hi := bounds(d)
		density := func(x float64) float64 { return math.Exp(d.LogPDF(x)) }
		for _, p := range []float64{0.03, 0.4, 0.71, 0.99} {
			x := d.Quantile(p)
			if got := integral(lo, x, density); math.Abs(got-d.CDF(x)) > 1e-9 {
				t.Errorf("%s: the density below %g sums to %.12g, the CDF is %.12g", name, x, got, d.CDF(x))
			}
		}
		mean := integral(lo, hi, func(x float64) float64 { return x * density(x) })
		if math.Abs(mean-d.Mean()) > 1e-9*(1+math.Abs(mean)) {
			t.Errorf("%s: mean %.12g, by the density %.12g", name, d.Mean(), mean)
		}
		sd := math.Sqrt(integral(lo, hi, func(x float64) float64 { return (x - mean) * (x - mean) * density(x) }))
		if math.Abs(sd-d.SD()) > 1e-8*sd {
			t.Errorf("%s: standard deviation %.12g, by the density %.12g", name, d.SD(), sd)
		}
	}
}

func TestCRPSAgainstItsIntegral(t *testing.T) {
	for name, d := range cases() {
		lo, hi := bounds(d)
		for _, y := range []float64{d.Quantile(0.02), d.Quantile(0.6), d.Mean() + 3*d.SD()} {
			want := integral(lo, y, func(x float64) float64 { f := d.CDF(x); return f * f }) +
				integral(y, max(hi, y), func(x float64) float64 { f := 1 - d.CDF(x); return f * f })
			if got := d.CRPS(y); math.Abs(got-want) > 1e-8*d.SD() {
				t.Errorf("%s: CRPS(%g) = %.12g, by integration %.12g", name, y, got, want)
			}
		}
	}
}

func TestQuantileInvertsCDF(t *testing.T) {
	levels := []float64{1e-300, 1e-100, 1e-20, 1e-6, 0.003, 0.1, 0.31, 0.499, 0.5, 0.501, 0.64, 0.9, 0.97, 0.9999, 1 - 1e-9, 1 - 1e-15}
	for name, d := range cases() {
		last := math.Inf(-1)
		for _, p := range levels {
			x := d.Quantile(p)
			if !(x >= last) {
				t.Errorf("%s: the quantile of %g is %g, below that of a lower level", name, p, x)
			}
			last = x
			// x is rounded; where the tail is steep this moves the CDF.
			slack := 1e-12*p + 8e-16*(math.Abs(x)+math.Abs(d.Mean())+d.SD())*math.Exp(d.LogPDF(x))
			if got := d.CDF(x); math.Abs(got-p) > slack+3e-16 && p > 1e-9 || math.Abs(got-p) > slack+1e-12*p && p < 1e-9 {
				t.Errorf("%s: CDF(Quantile(%g)) is off by %g", name, p, got-p)
			}
		}
		if a, b := d.LogPDF(math.Inf(-1)), d.LogPDF(math.Inf(1)); !math.IsInf(a, -1) || !math.IsInf(b, -1) {
			t.Errorf("%s: the log-densities at −∞ and ∞ are %g and %g", name, a, b)
		}
		if !math.IsInf(d.Quantile(0), -1) || !math.IsInf(d.Quantile(1), 1) || !math.IsNaN(d.Quantile(1.1)) || !math.IsNaN(d.Quantile(math.NaN())) {
			t.Errorf("%s: the quantiles of 0, 1, 1.1 and NaN are %g %g %g %g", name, d.Quantile(0), d.Quantile(1), d.Quantile(1.1), d.Quantile(math.NaN()))
		}
	}
}

// A close grid over all levels: Newton's steps must not leave the order.
func TestQuantilesRise(t *testing.T) {
	for name, d := range cases() {
		last := math.Inf(-1)
		for i := 1; i < 2000; i++ {
			x := d.Quantile(float64(i) / 2000)
			if !(x > last) {
				t.Fatalf("%s: quantile %d of 2,000 is %g after %g", name, i, x, last)
			}
			last = x
		}
	}
}

func TestMixtureOfOne(t *testing.T) {
	n := Normal{-0.7, 2.2}
	m := new(Mixture)
	m.Add(3, n.Mu, n.Sigma)
	for _, x := range []float64{-90, -3, 0.2, 40} {
		for what, pair := range map[string][2]float64{
			"LogPDF": {m.LogPDF(x), n.LogPDF(x)}, "CDF": {m.CDF(x), n.CDF(x)}, "CRPS": {m.CRPS(x), n.CRPS(x)},
			"quantile": {m.Quantile(n.CDF(x)), n.Quantile(n.CDF(x))},
		} {
			if pair[0] != pair[1] && !(math.Abs(pair[0]/pair[1]-1) < 1e-13) {
				t.Errorf("%s at %g: %.17g, the Normal's %.17g", what, x, pair[0], pair[1])
			}
		}
	}
}

// The mixture over nodes has the density that the likelihood scores with: to 1e-7
// while it is above e⁻³⁰, to 2 % of the logarithm in the far tail, where few nodes count.
func TestLogNormalIsHeteroscedastic(t *testing.T) {
	const mean, variance, l = 0.3, 0.2, -1.1
	for _, floor := range []float64{1e-6, 0.1} {
		score := likelihood.Heteroscedastic{Floor: floor}
		for _, lv := range []float64{0, 1e-4, 0.01, 0.04, 0.08, 0.1, 0.5, 1, 2, 4, 9} {
			m := new(Mixture)
			m.AddLogNormal(1.7, mean, variance, l, lv, floor)
			for _, y := range []float64{mean, 0, 1, -2, 3, 5, -10, 30, 100} {
				want := -score.Score([]float64{y}, []float64{mean, l}, []float64{variance, lv})
				bound := 1e-7
				if want < -30 {
					bound = -0.02 * want
				}
				if got := m.LogPDF(y); !(math.Abs(got-want) <= bound) {
					t.Errorf("log-noise variance %g, floor %g: LogPDF(%g) = %.9g, likelihood %.9g", lv, floor, y, got, want)
				}
			}
			var ymean, yvar [1]float64
			score.Predict([]float64{mean, l}, []float64{variance, lv}, ymean[:], yvar[:])
			if floor < 1e-3 && math.Abs(m.SD()*m.SD()/yvar[0]-1) > 1e-7 {
				t.Errorf("log-noise variance %g: variance %.9g, likelihood %.9g", lv, m.SD()*m.SD(), yvar[0])
			}
		}
	}
}

func TestNothingAllocates(t *testing.T) {
	m := new(Mixture)
	for name, d := range cases() {
		got := testing.AllocsPerRun(20, func() {
			x := d.Quantile(0.2)
			_ = d.LogPDF(x) + d.CDF(x) + d.CRPS(x) + d.Mean() + d.SD()
			m.Reset()
			m.AddLogNormal(1, 0.2, 0.1, -1, 1.5, 1e-6)
		})
		if got != 0 {
			t.Errorf("%s: %g allocations", name, got)
		}
	}
}

func TestMisusePanics(t *testing.T) {
	for name, f := range map[string]func(){
		"weight": func() { new(Mixture).Add(0, 1, 1) },
		"NaN":    func() { new(Mixture).Add(math.NaN(), 1, 1) },
		"sigma":  func() { new(Mixture).Add(1, 1, 0) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
}

func TestCategorical(t *testing.T) {
	c := Categorical{0.2, 0.5, 0, 0.3}
	if c.Argmax() != 1 || (Categorical{0.4, 0.4, 0.2}).Argmax() != 0 {
		t.Error("Argmax")
	}
	if want := -(0.2*math.Log(0.2) + 0.5*math.Log(0.5) + 0.3*math.Log(0.3)); math.Abs(c.Entropy()-want) > 1e-15 {
		t.Errorf("entropy %g, want %g", c.Entropy(), want)
	}
	if c.LogPMF(3) != math.Log(0.3) || !math.IsInf(c.LogPMF(2), -1) {
		t.Error("LogPMF")
	}
}

func BenchmarkMixture(b *testing.B) {
	m := new(Mixture)
	fill := func() {
		m.Reset()
		m.AddLogNormal(1, 0.3, 0.05, -1, 0.04, 1e-6)
	}
	fill()
	for name, f := range map[string]func(){
		"fill": fill, "quantile": func() { m.Quantile(0.05) }, "logpdf": func() { m.LogPDF(0.4) }, "crps": func() { m.CRPS(0.4) },
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				f()
			}
		})
	}
}
