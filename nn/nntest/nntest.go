// Package nntest is the conformance suite of layers: a new layer calls Layer in
// one line of its test.
package nntest

import (
	"math"
	"slices"
	"testing"

	"utvi/gauss"
	"utvi/nn"
	"utvi/rng"
	"utvi/vi"
)

// Options bend the suite to a layer's nature.
type Options struct {
	// Mean and Spread place the inputs: means around Mean ± Spread, variances
	// up to Spread². The zero values are 0 and 1.
	Mean, Spread float64
	// Tolerance is the largest relative error of a derivative; 0 stands for 1e-6.
	Tolerance float64
	// Entries is how many entries of each tensor are tried; 0 stands for 40.
	Entries int
	// SkipFixed leaves out inputs without variance.
	SkipFixed bool
}

// Layer checks a layer on inputs of the given shape: gradients in float64
// against finite differences, for inputs with and without variance; the same
// bits whatever the blocks; float32 against float64; no allocations.
func Layer(t *testing.T, l nn.Layer, in nn.Shape, o Options) {
	t.Helper()
	if o.Spread == 0 {
		o.Spread = 1
	}
	if o.Tolerance == 0 {
		o.Tolerance = 1e-6
	}
	if o.Entries == 0 {
		o.Entries = 40
	}
	t.Run("gradients", func(t *testing.T) { gradients(t, l, in, o, false) })
	if !o.SkipFixed {
		t.Run("gradients of fixed inputs", func(t *testing.T) { gradients(t, l, in, o, true) })
	}
	t.Run("blocks", func(t *testing.T) { blocks(t, l, in, o) })
	t.Run("float32", func(t *testing.T) { precision(t, l, in, o) })
	t.Run("allocations", func(t *testing.T) { allocations(t, l, in, o) })
}

// A bench is a layer bound and fed.
type bench[T gauss.Float] struct {
	unit   nn.Unit[T]
	params *vi.Params[T]
	x, out gauss.Batch[T]
	gm, gv []T // the loss is Σ gm·mean + gv·variance
	dx     gauss.Batch[T]
	blocks []nn.Block[T]
}

const rows = 7

func newBench[T gauss.Float](t testing.TB, l nn.Layer, in nn.Shape, o Options, det bool) *bench[T] {
	t.Helper()
	binder := &nn.Binder[T]{Params: &vi.Params[T]{}, In: in, Form: form(det), Name: "layer", Train: true}
	unit, err := nn.Bind(l, binder)
	if err != nil {
		t.Fatal(err)
	}
	b := &bench[T]{unit: unit, params: binder.Params}
	b.params.Alloc()
	b.params.AllocGrads()
	b.params.Start(rng.New(11), vi.Init{RhoMin: -3, RhoMax: 0})
	b.x = gauss.New[T](rows, in.Size())
	key := rng.New(7)
	for i := range b.x.Mean {
		b.x.Mean[i] = T(o.Mean + o.Spread*rng.Normal(key, uint64(3*i)))
		b.x.Var[i] = T(o.Spread * o.Spread * (0.05 + rng.Uniform(key, uint64(3*i+1))))
	}
	if det {
		b.x.Var = nil
	}
	b.out, b.dx = gauss.New[T](rows, unit.Out().Size()), gauss.New[T](rows, in.Size())
	if det {
		b.dx.Var = nil
		if unit.Form() == nn.Fixed {
			b.out.Var = nil
		}
	}
	n := len(b.out.Mean)
	b.gm, b.gv = make([]T, n), make([]T, n)
	for i := range b.gm {
		b.gm[i], b.gv[i] = T(rng.Normal(key, uint64(1000+2*i))), T(rng.Normal(key, uint64(1001+2*i)))
	}
	return b
}

func form(det bool) nn.Form {
	if det {
		return nn.Fixed
	}
	return nn.Independent
}

// run prepares the weights and carries the batch forward and, if back, backward,
// in blocks of at most size rows.
func (b *bench[T]) run(size int, back bool) {
	r := b.unit.NewRunner(size, true)
	for i := range b.unit.PrepareTiles() {
		r.Prepare(i)
	}
	b.blocks = b.blocks[:0]
	for lo := 0; lo < rows; lo += size {
		b.runBlock(r, lo, min(rows, lo+size), back)
	}
	if back {
		for i := range b.unit.GradTiles() {
			r.Gradient(i, b.blocks)
		}
	}
}

func (b *bench[T]) runBlock(r nn.Runner[T], lo, hi int, back bool) {
	p := nn.Pass[T]{Seed: rng.New(3), Step: 5, Row: uint64(lo), In: b.x.Slice(lo, hi), Out: b.out.Slice(lo, hi)}
	p.Tape = make([]T, (hi-lo)*b.unit.TapeWidth())
	r.Forward(&p)
	if !back {
		return
	}
	w := b.out.Width
	p.DOut = gauss.Batch[T]{Rows: hi - lo, Width: w, Mean: slices.Clone(b.gm[lo*w : hi*w])}
	if b.out.Var != nil {
		p.DOut.Var = slices.Clone(b.gv[lo*w : hi*w])
	}
	p.DIn = b.dx.Slice(lo, hi)
	r.Backward(&p)
	b.blocks = append(b.blocks, nn.Block[T]{Rows: hi - lo, Tape: p.Tape})
}

func (b *bench[T]) loss() float64 {
	b.run(rows, false)
	var sum float64
	for i, g := range b.gm {
		sum += float64(g) * float64(b.out.Mean[i])
		if b.out.Var != nil {
			sum += float64(b.gv[i]) * float64(b.out.Var[i])
		}
	}
	return sum
}

func gradients(t *testing.T, l nn.Layer, in nn.Shape, o Options, det bool) {
	b := newBench[float64](t, l, in, o, det)
	b.run(4, true)
	b.check(t, "input mean", b.x.Mean, b.dx.Mean, nil, o)
	b.check(t, "input variance", b.x.Var, b.dx.Var, nil, o)
	for _, p := range b.params.Tensors {
		b.check(t, p.Name+".mean", p.Mean, p.GMean, nil, o)
		// GVar is ∂/∂σ²; σ = softplus(ρ).
		b.check(t, p.Name+".rho", p.Rho, p.GVar, func(rho float64) float64 {
			return 2 * math.Log1p(math.Exp(rho)) / (1 + math.Exp(-rho))
		}, o)
	}
}

// check compares the gradient of x, times chain(x), with fourth-order differences
// of the loss, at entries spread over it.
func (b *bench[T]) check(t *testing.T, what string, x, grad []T, chain func(float64) float64, o Options) {
	t.Helper()
	grad = slices.Clone(grad)
	var scale float64
	for i := range grad {
		if chain != nil {
			grad[i] *= T(chain(float64(x[i])))
		}
		scale = max(scale, math.Abs(float64(grad[i])))
	}
	stride := max(1, len(x)/o.Entries) | 1
	for i := 0; i < len(x); i += stride {
		x0 := x[i]
		h := 1e-3 * (0.01 + math.Abs(float64(x0)))
		at := func(k float64) float64 { x[i] = x0 + T(k*h); return b.loss() }
		want := (8*(at(1)-at(-1)) - (at(2) - at(-2))) / (12 * h)
		x[i] = x0
		if got := float64(grad[i]); !(math.Abs(got-want) <= o.Tolerance*(math.Abs(want)+0.01*scale)) {
			t.Errorf("∂/∂%s[%d]: %v, finite differences give %v", what, i, got, want)
		}
	}
}

// blocks: the cut into blocks does not change a bit.
func blocks(t *testing.T, l nn.Layer, in nn.Shape, o Options) {
	one, many := newBench[float32](t, l, in, o, false), newBench[float32](t, l, in, o, false)
	one.run(rows, true)
	many.run(3, true)
	same := func(what string, a, b []float32) {
		if !slices.EqualFunc(a, b, func(x, y float32) bool { return math.Float32bits(x) == math.Float32bits(y) }) {
			t.Errorf("%s depends on the blocks", what)
		}
	}
	same("mean", one.out.Mean, many.out.Mean)
	same("variance", one.out.Var, many.out.Var)
	same("input gradient", one.dx.Mean, many.dx.Mean)
	same("input variance gradient", one.dx.Var, many.dx.Var)
	same("parameter gradient", one.params.Grad, many.params.Grad)
}

// precision: float32 follows float64.
func precision(t *testing.T, l nn.Layer, in nn.Shape, o Options) {
	a, b := newBench[float32](t, l, in, o, false), newBench[float64](t, l, in, o, false)
	for i := range a.x.Mean { // the same inputs, to the bit
		b.x.Mean[i], b.x.Var[i] = float64(a.x.Mean[i]), float64(a.x.Var[i])
	}
	for i := range a.params.Theta {
		b.params.Theta[i] = float64(a.params.Theta[i])
	}
	a.run(rows, true)
	b.run(rows, true)
	near := func(what string, x []float32, y []float64) {
		var scale float64
		for _, v := range y {
			scale = max(scale, math.Abs(v))
		}
		for i := range x {
			if !(math.Abs(float64(x[i])-y[i]) <= 2e-4*(math.Abs(y[i])+0.01*scale)) {
				t.Errorf("%s[%d]: float32 gives %v, float64 %v", what, i, x[i], y[i])
				return
			}
		}
	}
	near("mean", a.out.Mean, b.out.Mean)
	near("variance", a.out.Var, b.out.Var)
	near("input gradient", a.dx.Mean, b.dx.Mean)
	near("input variance gradient", a.dx.Var, b.dx.Var)
	near("parameter gradient", a.params.Grad, b.params.Grad)
}

func allocations(t *testing.T, l nn.Layer, in nn.Shape, o Options) {
	b := newBench[float32](t, l, in, o, false)
	r := b.unit.NewRunner(rows, true)
	for i := range b.unit.PrepareTiles() {
		r.Prepare(i)
	}
	p := &nn.Pass[float32]{In: b.x, Out: b.out, DIn: b.dx, Tape: make([]float32, rows*b.unit.TapeWidth())}
	p.DOut = gauss.Batch[float32]{Rows: rows, Width: b.out.Width, Mean: b.gm, Var: b.gv}
	blocks := []nn.Block[float32]{{Rows: rows, Tape: p.Tape}}
	steps := map[string]func(){
		"Forward":  func() { r.Forward(p) },
		"Backward": func() { r.Backward(p) },
		"Gradient": func() {
			for i := range b.unit.GradTiles() {
				r.Gradient(i, blocks)
			}
		},
		"Prepare": func() {
			for i := range b.unit.PrepareTiles() {
				r.Prepare(i)
			}
		},
	}
	for _, name := range []string{"Forward", "Backward", "Gradient", "Prepare"} {
		if n := testing.AllocsPerRun(5, steps[name]); n != 0 {
			t.Errorf("%s allocates %v times", name, n)
		}
	}
}

// Refuses checks that a layer cannot be bound, and that the message says want.
func Refuses(t *testing.T, l nn.Layer, in nn.Shape, want string) {
	t.Helper()
	_, err := nn.Bind(l, &nn.Binder[float32]{Params: &vi.Params[float32]{}, In: in, Name: "layer"})
	if err == nil {
		t.Fatalf("%+v was bound", l)
	}
	if got := err.Error(); got != want {
		t.Errorf("the message is %q, want %q", got, want)
	}
}
