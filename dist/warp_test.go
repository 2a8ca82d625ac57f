package dist

import (
	"math"
	"testing"
)

func warps() map[string]*Warp {
	return map[string]*Warp{
		"log":  {Low: 0.01, Top: 50, Origin: -0.3, Mean: 0.2, SD: 1.3},
		"root": {Lambda: 0.5, Low: 0.01, Top: 9, Origin: 1, Mean: 0.5, SD: 0.8},
	}
}

func TestWarpIsRising(t *testing.T) {
	for name, w := range warps() {
		if err := w.Check(); err != nil {
			t.Fatal(err)
		}
		last := math.Inf(-1)
		for u := -3.0; u < 120; u += 0.013 {
			y := w.Origin + u
			z, slope := w.Forward(y)
			if !(z > last) {
				t.Fatalf("%s: z falls at %v", name, y)
			}
			last = z
			if back := w.Back(z); math.Abs(back-y) > 1e-9*(1+math.Abs(y)) {
				t.Fatalf("%s: %v comes back as %v", name, y, back)
			}
			const h = 1e-6
			up, _ := w.Forward(y + h)
			down, _ := w.Forward(y - h)
			if got, want := math.Exp(slope), (up-down)/(2*h); math.Abs(got/want-1) > 1e-4 {
				t.Fatalf("%s: the slope at %v is %v, by differences %v", name, y, got, want)
			}
		}
	}
	for _, bad := range []Warp{{}, {Low: 1, Top: 1, SD: 1}, {Low: 1, Top: 2}, {Lambda: 2, Low: 1, Top: 2, SD: 1}, {Low: math.NaN(), Top: 1, SD: 1}} {
		if bad.Check() == nil {
			t.Errorf("%+v was accepted", bad)
		}
	}
}

func TestWarped(t *testing.T) {
	m := new(Mixture)
	m.Add(1, 0.4, 0.5)
	m.Add(0.2, -0.3, 1.2)
	for name, w := range warps() {
		d := Warped{m, w}
		lo, hi := m.Quantile(1e-9), m.Quantile(1-1e-9)
		// Integrals over z, where nothing is steep.
		over := func(f func(y float64) float64) float64 {
			return integral(lo, hi, func(z float64) float64 { return math.Exp(m.LogPDF(z)) * f(w.Back(z)) })
		}
		for _, p := range []float64{0.02, 0.5, 0.93} {
			y := d.Quantile(p)
			if math.Abs(d.CDF(y)-p) > 1e-9 {
				t.Errorf("%s: the CDF at quantile %v is %v", name, p, d.CDF(y))
			}
			const h = 1e-5
			if got, want := math.Exp(d.LogPDF(y)), (d.CDF(y+h)-d.CDF(y-h))/(2*h); math.Abs(got/want-1) > 1e-4 {
				t.Errorf("%s: the density at %v is %v, by the CDF %v", name, y, got, want)
			}
			at, _ := w.Forward(y)
			dy := func(z float64) float64 { return (w.Back(z+1e-5) - w.Back(z-1e-5)) / 2e-5 }
			want := integral(lo, at, func(z float64) float64 { f := m.CDF(z); return f * f * dy(z) }) +
				integral(at, hi, func(z float64) float64 { f := 1 - m.CDF(z); return f * f * dy(z) })
			if got := d.CRPS(y); math.Abs(got-want) > 0.01*d.SD() {
				t.Errorf("%s: CRPS(%v) = %v, by integration %v", name, y, got, want)
			}
		}
		a, b := d.Quantile(trimmed), d.Quantile(1-trimmed)
		clip := func(y float64) float64 { return min(max(y, a), b) }
		mean := over(clip)
		sd := math.Sqrt(over(func(y float64) float64 { e := clip(y) - mean; return e * e }))
		if math.Abs(d.Mean()-mean) > 2e-3*sd || math.Abs(d.SD()/sd-1) > 5e-3 {
			t.Errorf("%s: %v ± %v, by integration %v ± %v", name, d.Mean(), d.SD(), mean, sd)
		}
		if n := testing.AllocsPerRun(10, func() { _ = d.Mean() + d.CRPS(1) + d.Quantile(0.1) }); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

// A target that is never negative has no value below 0, however its distribution was
// stretched.
func TestBounded(t *testing.T) {
	d := Bounded{&Normal{Mu: -0.5, Sigma: 2}, 0, math.Inf(1)}
	if d.Mean() != 0 || d.Quantile(0.3) != 0 || d.CDF(-1e-9) != 0 {
		t.Errorf("mean %v, quantile %v, P(below 0) %v", d.Mean(), d.Quantile(0.3), d.CDF(-1e-9))
	}
	if inner := d.Dist; d.CDF(1) != inner.CDF(1) || d.Quantile(0.9) != inner.Quantile(0.9) || d.LogPDF(-1) != inner.LogPDF(-1) || d.SD() != 2 {
		t.Error("something else changed")
	}
	if !math.IsNaN(d.Quantile(math.NaN())) {
		t.Error("a quantile that is not a number became one")
	}
	d = Bounded{&Normal{Mu: 90, Sigma: 20}, 0, 100}
	if d.Quantile(0.99) != 100 || d.Quantile(1e-9) != 0 || d.Mean() != 90 || d.CDF(100) != 1 || d.CDF(90) != 0.5 || d.LogPDF(110) != d.LogPDF(70) {
		t.Errorf("a share of 90 ± 20 %%: quantiles %v and %v, mean %v, P(≤ 100) %v", d.Quantile(1e-9), d.Quantile(0.99), d.Mean(), d.CDF(100))
	}
}
