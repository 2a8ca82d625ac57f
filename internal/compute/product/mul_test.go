package product

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"utvi/internal/compute"
	"utvi/internal/compute/internal/computetest"
	"utvi/internal/compute/internal/cpu"
)

// product is one case: shapes and how the operands lie in memory.
type product struct {
	rows, k, n int
	left       string // how a lies: "rows", "columns" or "panels"
	start      string // "nil", "bias", "full" or "dst"
}

func products() []product {
	var all []product
	shapes := [][3]int{
		{1, 1, 1}, {8, 1, 13}, {13, 1, 24}, {1, 0, 5}, {7, 0, 3}, {1, 7, 16}, {1, 129, 203}, {2, 5, 67}, {3, 31, 17},
		{4, 33, 15}, {5, 64, 48}, {6, 2, 16}, {6, 37, 33}, {11, 1, 130}, {13, 19, 29}, {8, 300, 21},
		{9, 515, 1}, {23, 40, 1}, {5, 1029, 2}, {8, 64, 4}, {7, 3, 2}, {101, 261, 18}, {1, 600, 64}, {13, 3, 1021}, {25, 5, 1021}, {27, 1100, 33},
	}
	for _, s := range shapes {
		for _, left := range []string{"rows", "columns", "panels"} {
			for _, start := range []string{"nil", "bias", "full", "dst"} {
				all = append(all, product{s[0], s[1], s[2], left, start})
			}
		}
	}
	// Large enough to be packed.
	return append(all, product{103, 525, 257, "rows", "dst"}, product{11, 513, 256, "columns", "bias"})
}

func (p product) String() string {
	return fmt.Sprintf("%dx%dx%d/%s/%s", p.rows, p.k, p.n, p.left, p.start)
}

// operands of a product, with guard elements that must survive.
type operands[T compute.Float] struct {
	product
	dst, start, a    []T
	ldd, lds, rs, cs int
	step             int // from one tile of MR rows of a to the next
	b                Right[T]
	plain            []T // b row by row
	want, scale      []float64
}

const guard = 12345

func newOperands[T compute.Float](p product) *operands[T] {
	r := rand.New(rand.NewPCG(uint64(p.rows), uint64(p.k*1000+p.n)))
	random := func(n int) []T {
		s := make([]T, n)
		for i := range s {
			s[i] = T(r.NormFloat64())
		}
		return s
	}
	o := &operands[T]{product: p, ldd: p.n + 3}
	switch p.left {
	case "rows":
		o.rs, o.cs = p.k+2, 1
	case "columns":
		o.rs, o.cs = 1, p.rows+1
	case "panels":
		o.rs = 1
		o.cs = MR
		o.step = MR * p.k
	}
	if p.left != "panels" {
		o.step = MR * o.rs
	}
	o.a = random(o.at(p.rows-1, max(0, p.k-1)) + 1)
	o.plain = random(p.k * p.n)
	o.b = NewRight[T](p.k, p.n)
	for i := range o.b.Data {
		o.b.Data[i] = guard // Pack must clear the columns beyond n
	}
	o.b.Pack(o.plain, p.n, 1)
	o.dst = make([]T, p.rows*o.ldd-3) // the last row ends at column n
	for i := range o.dst {
		o.dst[i] = guard
	}
	switch p.start {
	case "bias":
		o.start = random(p.n)
	case "full":
		o.lds = p.n + 1
		o.start = random(p.rows*o.lds - 1)
	case "dst":
		for i := range p.rows {
			copy(o.dst[i*o.ldd:], random(p.n))
		}
		o.start, o.lds = o.dst, o.ldd
	}
	return o
}

// at is where element (i, k) of a lies.
func (o *operands[T]) at(i, k int) int { return i/MR*o.step + i%MR*o.rs + k*o.cs }

// mul multiplies rows from row i, the first of a tile where a lies in panels.
func (o *operands[T]) mul(i, rows int) {
	start := o.start
	if start != nil {
		start = start[i*o.lds:]
	}
	if o.left == "panels" {
		Mul(To(o.dst[i*o.ldd:], o.ldd).From(start, o.lds), Panels(o.a[o.at(i, 0):], o.b.K), rows, o.b)
	} else {
		Mul(To(o.dst[i*o.ldd:], o.ldd).From(start, o.lds), Strided(o.a[o.at(i, 0):], o.rs, o.cs), rows, o.b)
	}
}

// expect computes the product in float64 by its definition, and with absolute
// values for the scale of rounding errors.
func (o *operands[T]) expect() {
	o.want = make([]float64, o.rows*o.n)
	o.scale = make([]float64, o.rows*o.n)
	for i := range o.rows {
		for j := range o.n {
			var s float64
			if o.start != nil {
				s = float64(o.start[i*o.lds+j])
			}
			abs := math.Abs(s)
			for k := range o.k {
				x := float64(o.a[o.at(i, k)]) * float64(o.plain[k*o.n+j])
				s += x
				abs += math.Abs(x)
			}
			o.want[i*o.n+j], o.scale[i*o.n+j] = s, abs
		}
	}
}

func (o *operands[T]) check(t *testing.T, eps float64) {
	t.Helper()
	for i := range o.rows {
		for j := range o.n {
			got, want := float64(o.dst[i*o.ldd+j]), o.want[i*o.n+j]
			tol := 8 * eps * o.scale[i*o.n+j]
			if math.IsNaN(got) || math.Abs(got-want) > tol {
				t.Fatalf("(%d, %d) = %v, want %v ± %v", i, j, got, want, tol)
			}
		}
		for g := i*o.ldd + o.n; g < min((i+1)*o.ldd, len(o.dst)); g++ {
			if o.dst[g] != guard {
				t.Fatalf("row %d: wrote beyond column %d", i, o.n)
			}
		}
	}
}

func TestMul(t *testing.T) {
	computetest.EachFamily(t, func(t *testing.T) {
		for _, p := range products() {
			t.Run(p.String(), func(t *testing.T) {
				o := newOperands[float32](p)
				o.expect()
				o.mul(0, o.rows)
				o.check(t, 0x1p-24)
				d := newOperands[float64](p)
				d.expect()
				d.mul(0, d.rows)
				d.check(t, 0x1p-51)
			})
		}
	})
}

// A row has the same bits whatever rows it is computed with.
func TestMulRowsAgree(t *testing.T) {
	computetest.EachFamily(t, func(t *testing.T) {
		for _, p := range products() {
			whole := newOperands[float32](p)
			whole.mul(0, whole.rows)
			for size := 1; size <= 7; size++ {
				if p.left == "panels" && size != MR {
					continue
				}
				o := newOperands[float32](p)
				for i := 0; i < o.rows; i += size {
					o.mul(i, min(size, o.rows-i))
				}
				for i, v := range o.dst {
					if v != whole.dst[i] {
						t.Fatalf("%v: in blocks of %d rows, element %d is %v, not %v", p, size, i, v, whole.dst[i])
					}
				}
			}
		}
	})
}

// Each element is one chain, start through ascending k, whatever the blocking:
// the vector kernels' bits are those of fused multiply-adds one by one.
func TestMulChain(t *testing.T) {
	if !cpu.Vector {
		t.Skip("the Go twin does not fuse")
	}
	for _, p := range products() {
		if p.n <= 4 && p.left == "rows" {
			continue // sums in parts
		}
		o := newOperands[float32](p)
		want := make([]float32, o.rows*o.n)
		for i := range o.rows {
			for j := range o.n {
				var s float32
				if o.start != nil {
					s = o.start[i*o.lds+j]
				}
				for k := range o.k {
					s = fma32(o.a[o.at(i, k)], o.plain[k*o.n+j], s)
				}
				want[i*o.n+j] = s
			}
		}
		o.mul(0, o.rows)
		for i := range o.rows {
			for j := range o.n {
				if got := o.dst[i*o.ldd+j]; got != want[i*o.n+j] {
					t.Fatalf("%v: (%d, %d) = %v, want %v", p, i, j, got, want[i*o.n+j])
				}
			}
		}
	}
}

// fma32 rounds x·y + z once: the product is exact in float64, and rounding the
// sum to odd first makes the second rounding, to float32, harmless.
func fma32(x, y, z float32) float32 {
	p, q := float64(x)*float64(y), float64(z)
	s := p + q
	t := s - p
	if e := (p - (s - t)) + (q - t); e != 0 && math.Float64bits(s)&1 == 0 {
		if (e > 0) == (s > 0) {
			s = math.Float64frombits(math.Float64bits(s) + 1)
		} else {
			s = math.Float64frombits(math.Float64bits(s) - 1)
		}
	}
	return float32(s)
}

func TestPackRows(t *testing.T) {
	computetest.EachFamily(t, func(t *testing.T) {
		const k, n = 19, 37
		src := make([]float32, k*n)
		flip := make([]float32, k*n) // column by column
		for i := range k {
			for j := range n {
				src[i*n+j] = float32(i*n + j + 1)
				flip[j*k+i] = src[i*n+j]
			}
		}
		rows, columns := NewRight[float32](k, n), NewRight[float32](k, n)
		for i := range rows.Data {
			rows.Data[i], columns.Data[i] = guard, guard
		}
		rows.Pack(src, n, 1)
		columns.PackRows(0, 11, flip, 1, k)
		columns.PackRows(11, k, flip[11:], 1, k)
		for i := range k {
			for j := range 3 * NR {
				want := float32(0)
				if j < n {
					want = src[i*n+j]
				}
				at := (j/NR*k+i)*NR + j%NR
				if rows.Data[at] != want || columns.Data[at] != want {
					t.Fatalf("(%d, %d) = %v by rows, %v by columns, want %v", i, j, rows.Data[at], columns.Data[at], want)
				}
			}
		}
	})
}

func TestMulAllocations(t *testing.T) {
	computetest.EachFamily(t, func(t *testing.T) {
		for _, p := range []product{{7, 40, 37, "rows", "bias"}, {9, 70, 2, "rows", "nil"}, {1, 300, 40, "rows", "dst"}, {13, 525, 257, "rows", "bias"}} {
			o, d := newOperands[float32](p), newOperands[float64](p)
			if n := testing.AllocsPerRun(10, func() {
				o.mul(0, o.rows)
				d.mul(0, d.rows)
			}); n != 0 {
				t.Errorf("%v: %v allocations", p, n)
			}
			if n := testing.AllocsPerRun(10, func() {
				var dst, bias [260]float32 // operands on the caller's stack stay there
				Mul(To(dst[:], 260).From(bias[:], 0), Strided(o.a, o.rs, o.cs), 1, o.b)
			}); n != 0 {
				t.Errorf("%v: %v allocations with operands on the stack", p, n)
			}
		}
	})
}
