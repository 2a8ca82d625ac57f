package quad_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"utvi/internal/quad"
	"utvi/moment"
)

func relative(got, want float64) float64 {
	if got == want {
		return 0
	}
	return math.Abs(got-want) / math.Abs(want)
}

var (
	square = &moment.Func{Name: "square", F: func(x float64) float64 { return x * x }, DF: func(x float64) float64 { return 2 * x }}
	exp    = &moment.Func{Name: "exp", F: math.Exp, DF: math.Exp}
	relu   = &moment.Func{Name: "relu", F: func(x float64) float64 { return max(x, 0) }, DF: func(x float64) float64 {
		if x > 0 {
			return 1
		}
		return 0
	}, Kinks: []float64{0}}
	// At m = 60 every value of this rounds to 1; only the slope still tells.
	flat = &moment.Func{Name: "flat", F: func(x float64) float64 { return -math.Expm1(-x) }, DF: func(x float64) float64 { return math.Exp(-x) }}
	bump = &moment.Func{Name: "bump", F: func(x float64) float64 { return math.Exp(-x * x) }}
	step = &moment.Func{Name: "step", F: func(x float64) float64 {
		if x > 0.5 {
			return 1
		}
		return 0
	}, Kinks: []float64{0.5}}
)

func TestKnownMoments(t *testing.T) {
	for _, c := range []struct {
		f                       *moment.Func
		m, v, wantMean, wantVar float64
	}{
		{square, -3, 1, 10, 38},
		{square, 2, 3, 7, 4*4*3 + 2*9},
		{square, 2, 1e-12, 4 + 1e-12, 16e-12 + 2e-24},
		{square, 1e-3, 1e4, 1e-6 + 1e4, 4e-2 + 2e8},
		{exp, -1, 2, 1, math.E*math.E - 1},
		{exp, 3, 1e-10, math.Exp(3 + 5e-11), math.Exp(6+1e-10) * math.Expm1(1e-10)},
		{exp, -20, 36, math.Exp(-2), math.Exp(-4) * math.Expm1(36)},
		// The tail: E[x⁺] and E[(x⁺)²] at z = −30 from the series of the Mills ratio.
		{relu, -30, 1, tailMoment(30, 1), tailMoment(30, 2)},
		{relu, -30e-6, 1e-12, 1e-6 * tailMoment(30, 1), 1e-12 * tailMoment(30, 2)},
		{flat, 60, 1, 1, math.Exp(-119) * math.Expm1(1)},
		{bump, 3e4, 1e10, bumpMean(3e4, 1e10, 1), bumpMean(3e4, 1e10, 2) - math.Pow(bumpMean(3e4, 1e10, 1), 2)},
		{step, 0.5, 9, 0.5, 0.25},
	} {
		m, v, err := quad.Moments(c.f, c.m, c.v)
		if err != nil {
			t.Errorf("%v", err)
			continue
		}
		if relative(m, c.wantMean) > 1e-12 || relative(v, c.wantVar) > 1e-11 {
			t.Errorf("%s over N(%g, %g): (%.15g, %.15g), want (%.15g, %.15g)", c.f.Name, c.m, c.v, m, v, c.wantMean, c.wantVar)
		}
	}
}

// bumpMean is E[exp(−k·x²)].
func bumpMean(m, v, k float64) float64 {
	return math.Exp(-k*m*m/(1+2*k*v)) / math.Sqrt(1+2*k*v)
}

// tailMoment is E[((u−x)⁺)ⁿ], n = 1 or 2, by its asymptotic series in 1/x².
func tailMoment(x float64, n int) float64 {
	sum, term := 0.0, 1.0
	for k := range 30 {
		sum += term
		j := float64(2*k + n)
		term *= -(j + 1) * (j + 2) / float64(2*(k+1)) / (x * x)
	}
	f := map[int]float64{1: 1, 2: 2}[n]
	return f * sum * math.Exp(-x*x/2) / math.Sqrt(2*math.Pi) / math.Pow(x, float64(n+1))
}

func TestRefuses(t *testing.T) {
	noisy := &moment.Func{Name: "noisy", F: func(x float64) float64 { return math.Mod(1e9*math.Sin(1e9*x), 1) }}
	pole := &moment.Func{Name: "pole", F: func(x float64) float64 { return 1 / x }}
	for _, c := range []struct {
		f    *moment.Func
		m, v float64
		want string
	}{
		{noisy, 0.1, 1, "converge"},
		{pole, 0, 1, "not finite"},
		{exp, 0, 1e6, "not finite"},
		{exp, 0, -1, "variance ≥ 0"},
		{exp, math.NaN(), 1, "finite mean"},
	} {
		if _, _, err := quad.Moments(c.f, c.m, c.v); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s over N(%g, %g): error %v, want %q", c.f.Name, c.m, c.v, err, c.want)
		}
	}
}

func TestNoVariance(t *testing.T) {
	if m, v, err := quad.Moments(square, 3, 0); m != 9 || v != 0 || err != nil {
		t.Errorf("square over N(3, 0): %g, %g, %v", m, v, err)
	}
}

func ExampleMoments() {
	sensor := &moment.Func{Name: "sensor", F: func(x float64) float64 { return x*x - 5 }}
	mean, variance, err := quad.Moments(sensor, 2, 3)
	fmt.Printf("%.6f %.6f %v\n", mean, variance, err)
	// Output: 2.000000 66.000000 <nil>
}
