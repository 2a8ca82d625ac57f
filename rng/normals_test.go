package rng

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestKnownAnswers holds Philox4x32-10 to the vectors of Salmon et al. (2011).
func TestKnownAnswers(t *testing.T) {
	for _, c := range []struct {
		k    Key
		c, w [4]uint32
	}{
		{Key{}, [4]uint32{}, [4]uint32{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
		{Key{0xffffffff, 0xffffffff}, [4]uint32{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
			[4]uint32{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
		{Key{0xa4093822, 0x299f31d0}, [4]uint32{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
			[4]uint32{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
	} {
		if w := block(c.k, c.c); w != c.w {
			t.Errorf("block(%x, %x) = %x, want %x", c.k, c.c, w, c.w)
		}
	}
}

// TestGolden pins the stream. Nobody may edit these numbers.
func TestGolden(t *testing.T) {
	k := New(0x0123456789abcdef).Sub(7, 3)
	for _, c := range []struct {
		row        uint64
		unit, quad uint32
		bits       [4]uint32
	}{
		{0, 0, 0, [4]uint32{0x3f96f60f, 0x40001757, 0x3eb18ae3, 0xbf30258a}},
		{1, 0, 0, [4]uint32{0x3aaff1ad, 0xbeaa1fbf, 0xbf7cc950, 0x3f6343bd}},
		{0, 1, 0, [4]uint32{0xbf6bfa10, 0xbfe837fa, 0xbf8e39e4, 0xbd103a80}},
		{0, 0, 1, [4]uint32{0xbe4a3a6d, 0xbf377c73, 0xbf70ceee, 0xbd1eb2a5}},
		{1 << 40, 0xfffffff0, 63, [4]uint32{0x3ebffa27, 0xbf1b6d29, 0x3eb2b999, 0x3f83b445}},
	} {
		var bits [4]uint32
		for i, z := range Normals(k, c.row, c.unit, c.quad) {
			bits[i] = math.Float32bits(z)
		}
		if bits != c.bits {
			t.Errorf("Normals(k, %d, %d, %d) = %#x, want %#x", c.row, c.unit, c.quad, bits, c.bits)
		}
	}
}

// TestParts holds radius and direction to float64.
func TestParts(t *testing.T) {
	src := rand.New(rand.NewPCG(1, 2))
	words := []uint32{0, 1, 2, 3, 1 << 30, 1 << 31, 1<<31 - 1, math.MaxUint32, math.MaxUint32 - 1, 0xff000000}
	for range 1 << 20 {
		words = append(words, src.Uint32(), src.Uint32()>>src.IntN(32), ^(src.Uint32() >> src.IntN(32)))
	}
	for _, w := range words {
		// The uniform number itself is rounded to float32, before the logarithm.
		u := float64(float32(w>>1)+0.5) * 0x1p-31
		want := math.Sqrt(-2 * math.Log(u))
		if got := float64(radius(w)); math.Abs(got-want) > 3e-7*want {
			t.Fatalf("radius(%#x) = %g, want %g", w, got, want)
		}
		c, s := direction(w)
		angle := float64(int32(w<<2)) / (1 << 31) * math.Pi / 4
		wc, ws := math.Cos(angle), math.Sin(angle)
		if w>>31 != 0 {
			wc = -wc
		}
		if w>>30&1 != 0 {
			wc, ws = ws, wc
		}
		if math.Abs(float64(c)-wc) > 3e-7*math.Abs(wc) || math.Abs(float64(s)-ws) > 3e-7*math.Abs(ws) {
			t.Fatalf("direction(%#x) = %g, %g, want %g, %g", w, c, s, wc, ws)
		}
	}
}

// TestNormalDistribution checks each of the four places of a quad by itself and
// in pairs: Kolmogorov–Smirnov, moments, tails, correlations.
func TestNormalDistribution(t *testing.T) {
	const n = 1 << 19
	k := New(99)
	var z [4][]float64
	for i := range n {
		for j, v := range Normals(k, uint64(i>>9), uint32(i&511), uint32(i)%3) {
			z[j] = append(z[j], float64(v))
		}
	}
	corr := func(a, b []float64, f func(x float64) float64) (c float64) {
		for i := range a {
			c += f(a[i]) * f(b[i])
		}
		return c / n
	}
	for i := range z {
		for j := range i {
			if c := corr(z[i], z[j], func(x float64) float64 { return x }); math.Abs(c) > 5/math.Sqrt(n) {
				t.Errorf("places %d and %d correlate: %g", i, j, c)
			}
			if c := corr(z[i], z[j], func(x float64) float64 { return x*x - 1 }); math.Abs(c) > 10/math.Sqrt(n) {
				t.Errorf("squares of places %d and %d correlate: %g", i, j, c)
			}
		}
		// Neighbouring units.
		if c := corr(z[i][1:], z[i][:n-1], func(x float64) float64 { return x }); math.Abs(c) > 5/math.Sqrt(n) {
			t.Errorf("place %d correlates with its neighbour: %g", i, c)
		}
	}
	for j := range z {
		checkNormal(t, z[j])
	}
}

// checkNormal turns red where a sample is unlikely (5 standard errors) to be
// standard Normal.
func checkNormal(t *testing.T, z []float64) {
	t.Helper()
	n := float64(len(z))
	var m [7]float64
	for _, v := range z {
		p := 1.0
		for k := range m {
			m[k] += p / n
			p *= v
		}
	}
	for k, want := range []float64{1, 0, 1, 0, 3, 0, 15} {
		se := math.Sqrt([]float64{0, 1, 2, 15, 96, 945, 10170}[k] / n)
		if math.Abs(m[k]-want) > 5*se+1e-12 {
			t.Errorf("moment %d is %g ± %g, want %g", k, m[k], se, want)
		}
	}
	slices.Sort(z)
	cdf := func(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }
	var d float64
	for i, v := range z {
		c := cdf(v)
		d = max(d, c-float64(i)/n, float64(i+1)/n-c)
	}
	if d > 2.2/math.Sqrt(n) { // p = 1e-4
		t.Errorf("Kolmogorov–Smirnov distance %g", d)
	}
	for _, x := range []float64{3, 4, 4.5} {
		lo, _ := slices.BinarySearch(z, -x)
		hi, _ := slices.BinarySearch(z, x)
		want := n * cdf(-x)
		for _, got := range []int{lo, len(z) - hi} {
			if math.Abs(float64(got)-want) > 5*math.Sqrt(want)+1 {
				t.Errorf("%d beyond ±%g, want %g", got, x, want)
			}
		}
	}
}

// TestRounds rebuilds Block from its table.
func TestRounds(t *testing.T) {
	k := New(5).Sub(1, 2)
	row := uint64(0x1234567890)
	unit := uint32(77)
	quad := uint32(9)
	p := Rounds(k, row, quad)
	w := func(m, x uint32) (hi, lo uint32) {
		v := uint64(m) * uint64(x)
		return uint32(v >> 32), uint32(v)
	}
	h, c3 := w(mul0, unit)
	c2 := h ^ p[0]
	h, c1 := w(mul1, c2)
	c0 := h ^ p[1]
	c2, c3 = c3^p[2], p[3]
	for r := 2; r < 10; r++ {
		h0, l0 := w(mul0, c0)
		h1, l1 := w(mul1, c2)
		c0 = h1 ^ c1 ^ p[2*r]
		c1 = l1
		c2 = h0 ^ c3 ^ p[2*r+1]
		c3 = l0
	}
	if got, want := [4]uint32{c0, c1, c2, c3}, block(k, counter(row, unit, quad)); got != want {
		t.Errorf("rounds give %x, Block %x", got, want)
	}
}
