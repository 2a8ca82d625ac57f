package rng

import (
	"fmt"
	"math"
	"testing"
)

func TestDrawsDiffer(t *testing.T) {
	k := New(1)
	seen := map[uint64]string{}
	note := func(what string, v uint64) {
		if was, ok := seen[v]; ok {
			t.Errorf("%s repeats %s", what, was)
		}
		seen[v] = what
	}
	for i := range uint64(100) {
		note(fmt.Sprint("draw ", i), Uint64(k, i))
		note(fmt.Sprint("draw 2³²·", i+1), Uint64(k, (i+1)<<32))
		s := k.Sub(i, 0)
		note(fmt.Sprint("step ", i), uint64(s[1])<<32|uint64(s[0]))
		w := block(k, counter(i, 0, 0))
		note(fmt.Sprint("row ", i), uint64(w[1])<<32|uint64(w[0]))
	}
}

// TestGoldenDraws pins the indexed draws. Nobody may edit these numbers.
func TestGoldenDraws(t *testing.T) {
	k := New(0x0123456789abcdef)
	var p [8]int
	Perm(k, p[:])
	got := fmt.Sprintf("%x %x %v %v %d %d %v", Uint64(k, 0), Uint64(k, 1<<40),
		Uniform(k, 5), float32(Normal(k, 6)), Poisson(k, 7, 4), Poisson(k, 8, 400), p)
	if want := "8e83ed6671df2a57 418fa717cef8ed09 0.015399543186477849 1.2655991 5 414 [2 6 4 0 3 1 5 7]"; got != want {
		t.Errorf("draws are\n%s, want\n%s", got, want)
	}
	// All digits but the last few, which depend on math.Log and math.Cos.
	for i, want := range map[uint64]float64{6: 1.2655991698277502, 7: 0.8574594136856727, 1 << 40: -0.09607777168679828} {
		if got := Normal(k, i); math.Abs(got-want) > 1e-14 {
			t.Errorf("Normal %d is %v, want %v", i, got, want)
		}
	}
}

func TestUniform(t *testing.T) {
	const n = 200_000
	k := New(8)
	var m, v, c float64
	last := 0.5
	for i := range uint64(n) {
		u := Uniform(k, i)
		if u < 0 || u >= 1 {
			t.Fatalf("Uniform gives %g", u)
		}
		m += u / n
		v += (u - 0.5) * (u - 0.5) / n
		c += (u - 0.5) * (last - 0.5) / n
		last = u
	}
	near(t, "mean", m, 0.5, math.Sqrt(1./12/n))
	near(t, "variance", v, 1./12, math.Sqrt(1./180/n))
	near(t, "correlation", c, 0, 1./12/math.Sqrt(n))
}

// near turns red beyond 5 standard errors.
func near(t *testing.T, what string, got, want, se float64) {
	t.Helper()
	if !(math.Abs(got-want) <= 5*se) {
		t.Errorf("%s is %g ± %g, want %g", what, got, se, want)
	}
}

func TestNormal64(t *testing.T) {
	z := make([]float64, 1<<18)
	for i := range z {
		z[i] = Normal(New(3), uint64(i))
	}
	checkNormal(t, z)
}

func TestPerm(t *testing.T) {
	p := make([]int32, 1001)
	Perm(New(4), p)
	seen := make([]bool, len(p))
	for _, v := range p {
		if seen[v] {
			t.Fatalf("%d occurs twice", v)
		}
		seen[v] = true
	}
	// The numbers are those of draw, two of each, behind 2³² too.
	for _, first := range []uint64{0, 64, 3<<32 - 64, 5 << 32} {
		var got [2 * permBlock]uint64
		permDraws(New(6), first, &got)
		for i, u := range got {
			w := draw(New(6), first+uint64(i&^1), 0)
			if want := uint64(w[i%2*2+1])<<32 | uint64(w[i%2*2]); u != want {
				t.Fatalf("number %d from %d on is %#x, not %#x", i, first, u, want)
			}
		}
	}
	// Every permutation of four is as likely as any other.
	count := map[[4]int]int{}
	const n = 48_000
	for i := range uint64(n) {
		var q [4]int
		Perm(New(5).Sub(i, 0), q[:])
		count[q]++
	}
	var chi float64
	for _, c := range count {
		chi += (float64(c) - n/24) * (float64(c) - n/24) / (n / 24)
	}
	if len(count) != 24 || chi > 23+5*math.Sqrt(46) {
		t.Errorf("%d permutations of 4, χ² %g", len(count), chi)
	}
}

// TestPoisson compares the frequencies with the probabilities, by χ² over cells
// of at least 20 expected counts, on either side of the change of method too.
func TestPoisson(t *testing.T) {
	const n = 300_000
	for j, mean := range []float64{0.05, 1, 3.7, 9.99, 10, 31.4, 250, 1e4} {
		k := New(6).Sub(uint64(j), 0)
		count := make([]int, int(mean+20*math.Sqrt(mean))+20)
		var m, v float64
		for i := range uint64(n) {
			x := Poisson(k, i, mean)
			count[x]++
			d := float64(x) - mean
			m += d / n
			v += d * d / n
		}
		if mean == 10 && count[0] == 0 { // 14 of 300,000
			t.Error("Poisson(10) is never 0")
		}
		near(t, fmt.Sprintf("mean error at %g", mean), m, 0, math.Sqrt(mean/n))
		near(t, fmt.Sprintf("variance at %g", mean), v, mean, math.Sqrt((mean+2*mean*mean)/n))

		var chi, cells, want, got float64
		for x := range int(mean+12*math.Sqrt(mean)) + 12 {
			lg, _ := math.Lgamma(float64(x) + 1)
			want += n * math.Exp(float64(x)*math.Log(mean)-mean-lg)
			got += float64(count[x])
			if want >= 20 {
				chi += (got - want) * (got - want) / want
				cells++
				want, got = 0, 0
			}
		}
		if chi > cells+5*math.Sqrt(2*cells)+10 {
			t.Errorf("Poisson(%g): χ² %g over %g cells", mean, chi, cells)
		}
	}
	if x := Poisson(New(1), 0, 0); x != 0 {
		t.Errorf("Poisson(0) = %d", x)
	}
	// The largest uniform number, beyond the rounded sum of all probabilities.
	for mean := 0.0; mean < 10; mean += 0.01 {
		if x := poissonInverse(math.Nextafter(1, 0), mean); x > 400 {
			t.Errorf("the largest Poisson(%g) is %d", mean, x)
		}
	}
}

func BenchmarkPerm(b *testing.B) {
	p := make([]int32, 1_000_000)
	for b.Loop() {
		Perm(New(1), p)
	}
}

func BenchmarkPoisson(b *testing.B) {
	for _, mean := range []float64{0.5, 9, 100} {
		b.Run(fmt.Sprint(mean), func(b *testing.B) {
			for i := range b.N {
				Poisson(New(1), uint64(i), mean)
			}
		})
	}
}
