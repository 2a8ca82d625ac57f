package gpu_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"testing"

	"utvi/engine/gpu"
	"utvi/rng"
)

// The gradients of the broad layer of many dense nets against sums in float64, with all shapes and with rows that
// do not fill the last stretch.
func TestManyDenseGradients(t *testing.T) {
	e := card(t)
	if !e.HasManyDense() {
		t.Skip("not run: many dense nets have kernels of their own on Hopper's cards")
	}
	for _, c := range []struct{ in, out, rows int }{{128, 128, 200}, {96, 32, 33}, {32, 96, 1}, {64, 64, 64}, {32, 128, 31}, {128, 96, 65}} {
		t.Run(fmt.Sprintf("%d to %d, %d rows", c.in, c.out, c.rows), func(t *testing.T) { manyDenseGradients(t, e, c.in, c.out, c.rows) })
	}
}

func manyDenseGradients(t *testing.T, e *gpu.Engine, in, out, rows int) {
	key, drawn := rng.New(5), uint64(0)
	fill := func(n int, of func(z float64) float64) []float32 {
		x := make([]float32, n)
		for i := range x {
			x[i] = float32(of(rng.Normal(key, drawn)))
			drawn++
		}
		return x
	}
	m := fill(rows*in, func(z float64) float64 { return max(z, 0.01*z) })
	v := fill(rows*in, func(z float64) float64 { return 0.05 * z * z })
	g := fill(rows*out, func(z float64) float64 { return 1e-6 * z })
	h := fill(rows*out, func(z float64) float64 { return 1e-8 * (z + 0.5) })
	w := fill(in*out, func(z float64) float64 { return 0.2 * z })
	cells, scales := cutSignals(rows, [4]signals{{in, m}, {in, v}, {out, g}, {out, h}})
	got, err := gpu.ManyDenseGradients(e, in, out, rows, cells, scales, w)
	if err != nil {
		t.Fatal(err)
	}
	// compare takes two sums of terms for every element: a, and b times by.
	compare := func(name string, got []float32, by func(i int) float64, terms func(i, r int) (a, b float32)) {
		var worst, plain, most float64
		for i := range got {
			var s, magnitude, k float64 = 0, 0, by(i)
			var f, q float32
			for r := range rows {
				a, b := terms(i, r)
				s += float64(a) + k*float64(b)
				magnitude += math.Abs(float64(a)) + math.Abs(k*float64(b))
				f, q = f+a, q+b
			}
			plain = max(plain, math.Abs(float64(f+float32(k)*q)-s))
			if d := math.Abs(float64(got[i]) - s); !(d <= worst) {
				worst = d
			}
			most = max(most, magnitude)
		}
		t.Logf("%s: largest error %.2g, of sums in float32 %.2g, of %.2g", name, worst, plain, most)
		bound := 2 * plain
		if rows < 8 { // float32 hardly rounds
			bound = 3e-7 * most
		}
		if !(worst <= bound) {
			t.Errorf("%s: largest error %.3g, bound %.3g", name, worst, bound)
		}
	}
	one := func(int) float64 { return 1 }
	compare("mean", got[:in*out], func(i int) float64 { return 2 * float64(w[i]) }, func(i, r int) (a, b float32) {
		return m[r*in+i/out] * g[r*out+i%out], v[r*in+i/out] * h[r*out+i%out]
	})
	compare("rho", got[in*out:2*in*out], one, func(i, r int) (a, b float32) {
		x := m[r*in+i/out]
		return x * x * h[r*out+i%out], v[r*in+i/out] * h[r*out+i%out]
	})
	compare("bias", got[2*in*out:][:out], one, func(i, r int) (a, b float32) { return g[r*out+i], 0 })
	compare("rho of bias", got[(2*in+1)*out:], one, func(i, r int) (a, b float32) { return h[r*out+i], 0 })
}

// Signals are rows of so many columns.
type signals struct {
	width int
	x     []float32
}

// cutSignals cuts signals into halves as the pass of many dense nets does, and returns their scales.
func cutSignals(rows int, all [4]signals) (cells []byte, scales []float32) {
	const stretch, cell = 32, 4096
	groups := (rows + 2*stretch - 1) / (2 * stretch)
	cells, scales = make([]byte, groups*2*4*4*cell), make([]float32, groups*4)
	for n, o := range all {
		for group := range groups {
			part := o.x[min(len(o.x), group*2*stretch*o.width):min(len(o.x), (group+1)*2*stretch*o.width)]
			most := 0.0
			for _, x := range part {
				most = max(most, math.Abs(float64(x)))
			}
			_, e := math.Frexp(most)
			scales[group*4+n] = float32(math.Ldexp(1, e-15))
			for i, x := range part {
				row, col := i/o.width, i%o.width
				y := math.Ldexp(float64(x), 15-e)
				h := half(y)
				to := cells[(((group*2+row/stretch)*4+n)*4+col/32)*cell:]
				row %= stretch
				at := row*64 + (col%8/2^row/2&3)*16 + col%32/8*4 + col%2*2
				binary.LittleEndian.PutUint16(to[at:], halfBits(h))
				binary.LittleEndian.PutUint16(to[at+2048:], halfBits(half(y-h)))
			}
		}
	}
	return cells, scales
}

// half rounds to a number of half precision, of which halfBits are the bits.
func half(x float64) float64 {
	_, e := math.Frexp(x)
	step := math.Ldexp(1, max(e-11, -24))
	return math.RoundToEven(x/step) * step
}

func halfBits(x float64) uint16 {
	sign := uint16(0)
	if x < 0 {
		sign, x = 1<<15, -x
	}
	if x < math.Ldexp(1, -14) {
		return sign | uint16(math.Ldexp(x, 24))
	}
	f, e := math.Frexp(x)
	return sign | uint16(e+14)<<10 | uint16(math.Ldexp(f, 11))&1023
}
