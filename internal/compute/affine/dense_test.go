package affine

import (
	"math"
	"slices"
	"testing"

	"utvi/internal/compute"
	"utvi/internal/compute/internal/computetest"
	"utvi/internal/compute/internal/cpu"
)

// near1 tells whether got is want, to eps of what was summed.
func near1[T compute.Float](t *testing.T, what string, got T, want, eps float64) {
	t.Helper()
	if !(math.Abs(float64(got)-want) <= eps*(10+math.Abs(want))) {
		t.Fatalf("%s is %v, want %v", what, got, want)
	}
}

// testDense compares a layer with its definition, its rows in uneven blocks.
func testDense[T compute.Float](t *testing.T, in, out, cores int, eps float64) {
	const rows = 13
	d := NewDense[T](in, out, true, true)
	d.shareGradients(cores)
	mean, rho := computetest.Values[T](in*out, 1), computetest.Values[T](in*out, 2)
	scratch := make([]T, max(d.PrepareScratch(), d.Scratch(rows)))
	for tile := range d.PrepareTiles() {
		d.Prepare(tile, mean, rho, scratch)
	}
	bias := computetest.Values[T](out, 3)
	d.PrepareBias(bias, nil)
	m := computetest.Values[T](rows*in, 4)
	v := computetest.Values[T](rows*in, 5)
	g := computetest.Values[T](rows*out, 6)
	h := computetest.Values[T](rows*out, 7)
	mo := make([]T, rows*out)
	vo := make([]T, rows*out)
	dm := make([]T, rows*in)
	dv := make([]T, rows*in)
	var blocks []TapeBlock[T]
	for lo, hi := 0, 5; lo < rows; lo, hi = hi, rows {
		b := TapeBlock[T]{hi - lo, make([]T, (hi-lo)*d.TapeWidth())}
		i := lo * in
		j := hi * in
		k := lo * out
		l := hi * out
		d.Forward(b.Rows, m[i:j], v[i:j], mo[k:l], vo[k:l], scratch)
		d.RecordInput(b.Tape, b.Rows, m[i:j], v[i:j])
		d.RecordGradient(b.Tape, b.Rows, g[k:l], h[k:l])
		d.Backward(b.Rows, m[i:j], g[k:l], h[k:l], dm[i:j], dv[i:j], scratch)
		blocks = append(blocks, b)
	}
	gw := make([]T, in*out)
	gs := make([]T, in*out)
	gb := make([]T, out)
	gbs := make([]T, out)
	work := make([]T, d.GradScratch(rows))
	for tile := range d.GradTiles() {
		d.Gradient(tile, blocks, true, true, mean, Gradients[T]{gw, gs, gb, gbs}, work)
	}

	w := func(k, j int) (w, s float64) {
		sigma := math.Log1p(math.Exp(float64(rho[k*out+j])))
		return float64(mean[k*out+j]), sigma * sigma
	}
	for i := range rows {
		for j := range out {
			wantM, wantV := float64(bias[j]), 0.0
			for k := range in {
				w, s := w(k, j)
				x, y := float64(m[i*in+k]), float64(v[i*in+k])
				wantM += x * w
				wantV += x*x*s + y*(w*w+s)
			}
			near1(t, "m'", mo[i*out+j], wantM, eps)
			near1(t, "v'", vo[i*out+j], wantV, eps)
		}
		for k := range in {
			var wantM, wantV float64
			for j := range out {
				w, s := w(k, j)
				g, h := float64(g[i*out+j]), float64(h[i*out+j])
				wantM += g*w + 2*float64(m[i*in+k])*h*s
				wantV += h * (w*w + s)
			}
			near1(t, "∂m", dm[i*in+k], wantM, eps)
			near1(t, "∂v", dv[i*in+k], wantV, eps)
		}
	}
	for j := range out {
		var sumG, sumH float64
		for i := range rows {
			sumG += float64(g[i*out+j])
			sumH += float64(h[i*out+j])
		}
		near1(t, "∂b̄", gb[j], sumG, eps)
		near1(t, "∂b_s", gbs[j], sumH, eps)
		for k := range in {
			var wantW, wantS float64
			for i := range rows {
				x, y := float64(m[i*in+k]), float64(v[i*in+k])
				g, h := float64(g[i*out+j]), float64(h[i*out+j])
				w, _ := w(k, j)
				wantW += x*g + 2*w*y*h
				wantS += (x*x + y) * h
			}
			near1(t, "∂w̄", gw[k*out+j], wantW, eps)
			near1(t, "∂s", gs[k*out+j], wantS, eps)
		}
	}
}

func TestDense(t *testing.T) {
	computetest.EachFamily(t, func(t *testing.T) {
		for _, s := range [][2]int{{1, 20}, {3, 1}, {16, 1}, {53, 1}, {7, 5}, {40, 17}, {203, 8}, {97, 131}} {
			for _, cores := range []int{1, 2, 5, 16} {
				testDense[float32](t, s[0], s[1], cores, 1e-5)
				testDense[float64](t, s[0], s[1], cores, 1e-12)
			}
		}
	})
}

// A single row of weights that the caches do not hold has the bits that it has among
// others, though its products are made another way.
func TestDenseOneRow(t *testing.T) {
	computetest.EachFamily(t, func(t *testing.T) {
		defer func(was cpu.Caches) { cpu.Cache = was }(cpu.Cache)
		for _, s := range [][2]int{{40, 17}, {203, 32}, {77, 85}, {5, 64}} {
			in, out := s[0], s[1]
			d := NewDense[float32](in, out, true, false)
			scratch := make([]float32, max(d.PrepareScratch(), 2*in))
			for tile := range d.PrepareTiles() {
				d.Prepare(tile, computetest.Values[float32](in*out, 1), computetest.Values[float32](in*out, 2), scratch)
			}
			d.PrepareBias(computetest.Values[float32](out, 3), computetest.Values[float32](out, 8))
			m, v := computetest.Values[float32](2*in, 4), computetest.Values[float32](2*in, 5)
			mo := make([]float32, 2*out)
			vo := make([]float32, 2*out)
			m1 := make([]float32, out)
			v1 := make([]float32, out)
			cpu.Cache.L2 = 1 << 30
			d.Forward(2, m, v, mo, vo, scratch)
			cpu.Cache.L2 = 0
			d.Forward(1, m[in:], v[in:], m1, v1, scratch)
			if !slices.Equal(m1, mo[out:]) || !slices.Equal(v1, vo[out:]) {
				t.Errorf("%d × %d: a row alone differs", in, out)
			}
		}
	})
}

// Parts of the outputs have the bits that they have together, however many there are.
func TestDenseParts(t *testing.T) {
	computetest.EachFamily(t, func(t *testing.T) {
		defer func(was cpu.Caches) { cpu.Cache = was }(cpu.Cache)
		for i, s := range [][2]int{{40, 17}, {600, 260}, {300, 579}, {5, 128}} {
			cpu.Cache.L2 = i % 2 << 30 // a single row takes both ways
			for _, rows := range []int{1, 2, 7} {
				in, out := s[0], s[1]
				d := NewDense[float32](in, out, true, false)
				scratch := make([]float32, max(d.PrepareScratch(), rows*in))
				for tile := range d.PrepareTiles() {
					d.Prepare(tile, computetest.Values[float32](in*out, 1), computetest.Values[float32](in*out, 2), scratch)
				}
				d.PrepareBias(computetest.Values[float32](out, 3), computetest.Values[float32](out, 8))
				m, v := computetest.Values[float32](rows*in, 4), computetest.Values[float32](rows*in, 5)
				mo, vo := make([]float32, rows*out), make([]float32, rows*out)
				d.Forward(rows, m, v, mo, vo, scratch)
				for parts := range max(1, out/partColumns) {
					parts++
					m1, v1 := make([]float32, rows*out), make([]float32, rows*out)
					d.Squares(rows, m, scratch)
					for part := range parts {
						d.ForwardPart(part, parts, rows, m, v, m1, v1, scratch)
					}
					if !slices.Equal(m1, mo) || !slices.Equal(v1, vo) {
						t.Errorf("%d rows through %d × %d differ in %d parts", rows, in, out, parts)
					}
				}
			}
		}
	})
}
