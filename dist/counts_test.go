package dist

import (
	"math"
	"strings"
	"testing"
)

// masses are the probabilities of 0 … n−1, from the definition.
func masses(n int, parts [][3]float64) []float64 {
	out := make([]float64, n)
	var total float64
	for _, p := range parts {
		total += p[0]
	}
	for k := range out {
		for _, p := range parts {
			g, _ := math.Lgamma(float64(k) + 1)
			l := float64(k)*math.Log(p[1]) - p[1] - g
			if p[2] > p[1] {
				r := p[1] * p[1] / (p[2] - p[1])
				a, _ := math.Lgamma(float64(k) + r)
				b, _ := math.Lgamma(r)
				l = a - b - g + r*math.Log(r/(r+p[1])) + float64(k)*math.Log(p[1]/(r+p[1]))
			}
			out[k] += p[0] / total * math.Exp(l)
		}
	}
	return out
}

func mixture(parts [][3]float64) *Counts {
	c := new(Counts)
	for _, p := range parts {
		c.Add(p[0], p[1], p[2])
	}
	return c
}

func TestCounts(t *testing.T) {
	for name, parts := range map[string][][3]float64{
		"poisson": {{1, 3.2, 3.2}}, "rare": {{1, 0.03, 0.03}}, "dispersed": {{2, 4, 9}}, "wide": {{1, 5, 90}},
		"mixture": {{1, 1.5, 1.5}, {0.5, 7, 20}, {0.01, 7, 100}}, "many": {{1, 900, 900}, {1, 1000, 1200}},
	} {
		c := mixture(parts)
		want := masses(6000, parts)
		var mean, square, below float64
		for k, p := range want {
			n := float64(k)
			mean += p * n
			square += p * n * n
			if p > 1e-250 && math.Abs(c.LogPDF(n+0.3)-math.Log(p)) > 1e-9*(1+math.Abs(math.Log(p))) {
				t.Fatalf("%s: ln P(%d) is %v, want %v", name, k, c.LogPDF(n), math.Log(p))
			}
			if k%7 == 0 && k < 2500 {
				if got := c.CDF(n); math.Abs(got-below-p/2) > 1e-11 {
					t.Fatalf("%s: the CDF at %d is %v, want %v", name, k, got, below+p/2)
				}
				if got := (Whole{c}).CDF(n + 0.4); math.Abs(got-below-p) > 1e-11 {
					t.Fatalf("%s: P(X ≤ %d) is %v, want %v", name, k, got, below+p)
				}
			}
			below += p
		}
		if sd := math.Sqrt(square - mean*mean); math.Abs(c.Mean()-mean) > 1e-9*mean || math.Abs(c.SD()-sd) > 1e-7*sd {
			t.Errorf("%s: %v ± %v, want %v ± %v", name, c.Mean(), c.SD(), mean, sd)
		}
		for _, p := range []float64{1e-6, 0.05, 0.31, 0.5, 0.95, 0.999} {
			x := c.Quantile(p)
			if math.Abs(c.CDF(x)-p) > 1e-11 {
				t.Errorf("%s: the CDF at quantile %v is %v", name, p, c.CDF(x))
			}
			n, at := 0, want[0]
			for at < p {
				n++
				at += want[n]
			}
			if got := (Whole{c}).Quantile(p); got != float64(n) {
				t.Errorf("%s: quantile %v is %v, want %v", name, p, got, n)
			}
		}
		for _, y := range []float64{0, 3, 8, 1100} {
			var crps, at float64
			for k, p := range want {
				at += p
				d := at
				if float64(k) >= y {
					d = 1 - at
				}
				crps += d * d
			}
			if got := c.CRPS(y); math.Abs(got-crps) > 1e-8*(1+crps) {
				t.Errorf("%s: CRPS of %v is %v, want %v", name, y, got, crps)
			}
		}
		if n := testing.AllocsPerRun(10, func() { c.Quantile(0.9); c.CDF(3); c.CRPS(2); c.LogPDF(1) }); n > 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

// An interval of counts contains its level, and no smaller one inside it does.
func TestWholeInterval(t *testing.T) {
	for _, mean := range []float64{0.02, 0.3, 1, 2.5, 8, 60, 700} {
		for _, dispersion := range []float64{0, 0.3, 2} {
			w := Whole{mixture([][3]float64{{1, mean, mean + dispersion*mean*mean}})}
			for _, level := range []float64{0.5, 0.9, 0.95} {
				lo, hi := Interval(w, level)
				from, to := w.Quantile((1-level)/2), w.Quantile((1+level)/2)
				if mass := w.CDF(hi) - w.Below(lo); mass < level || lo < from || hi > to || lo != math.Trunc(lo) || hi != math.Trunc(hi) {
					t.Errorf("mean %v, %v: %v to %v holds %v; the central interval is %v to %v", mean, level, lo, hi, mass, from, to)
				}
				if lo < hi && (w.CDF(hi)-w.CDF(lo) >= level || w.Below(hi)-w.Below(lo) >= level) {
					t.Errorf("mean %v, %v: %v to %v could be shorter", mean, level, lo, hi)
				}
			}
		}
	}
}

// Far beyond everything nothing overflows, takes long or leaves its range.
func TestCountsFar(t *testing.T) {
	c := mixture([][3]float64{{1, 2, 1e9}, {1, 0, 0}, {1, 3e4, 3e4}})
	for _, y := range []float64{-7, -0.6, 1e9, math.Inf(1)} {
		if l, p := c.LogPDF(y), c.CDF(y); l > -30 && y > 0 || l != l || p != p || p < 0 || p > 1 {
			t.Errorf("ln p(%v) = %v, CDF %v", y, l, p)
		}
	}
	if p := c.Quantile(1 - 1e-15); !(p > 3e4 && p < 1e5) {
		t.Errorf("the last quantile is %v", p)
	}
	if got := c.CRPS(1e9); math.Abs(got/1e9-1) > 1e-3 {
		t.Errorf("CRPS of 1e9 is %v", got)
	}
}

// A scaled distribution of counts is still one of whole numbers.
func TestWholeScaled(t *testing.T) {
	a := &Affine{Dist: mixture([][3]float64{{1, 6, 9}}), Scale: 1.3, Shift: -1.8}
	w := Whole{a}
	var sum float64
	for n := range 200 {
		mass := w.CDF(float64(n)) - w.Below(float64(n))
		if n > 0 && w.CDF(float64(n-1)) != w.Below(float64(n)) {
			t.Errorf("P(X < %d) is %v, P(X ≤ %d) %v", n, w.Below(float64(n)), n-1, w.CDF(float64(n-1)))
		}
		if mass > 1e-5 && math.Abs(w.LogPDF(float64(n))-math.Log(mass)) > 1e-9 {
			t.Errorf("ln P(%d) is %v, want %v", n, w.LogPDF(float64(n)), math.Log(mass))
		}
		sum += mass
	}
	if math.Abs(sum-1) > 1e-9 {
		t.Errorf("all probabilities sum to %v", sum)
	}
	for _, p := range []float64{0.001, 0.4, 0.97} {
		if q := w.Quantile(p); q != math.Trunc(q) || q < 0 || w.CDF(q) < p || q > 0 && w.Below(q) >= p {
			t.Errorf("quantile %v is %v", p, q)
		}
	}
}

// Without parts there is nothing to visit.
func TestEmptyCounts(t *testing.T) {
	defer func() {
		if v, ok := recover().(string); !ok || !strings.Contains(v, "without parts") {
			t.Errorf("recovered %v", v)
		}
	}()
	new(Counts).Quantile(0.5)
}
