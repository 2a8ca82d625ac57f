package moment

import (
	"utvi/gauss"
	"utvi/internal/compute"
	"utvi/internal/compute/kernel"
	"utvi/rng"
)

// planeSize is how many values one plane of a tile holds: the points, values
// and slopes of a tile stay in the first-level cache.
const planeSize = 1536

// fusedSize is how many elements a tile has whose points never leave the
// registers: only moments in and out are to stay in that cache.
const fusedSize = 1024

// Moments are the results of a Tile, one value an element: Mean and Var are the mean and
// the variance of the function; MM and MV are the derivatives of the mean by the mean and
// by the variance of the input, VM and VV those of the variance. The four derivatives are
// nil where nobody wants them.
type Moments[T gauss.Float] = kernel.Moments[T]

// A Tile is a stretch of elements on its way through a nonlinearity, with the
// scratch that a rule needs. It belongs to one goroutine.
type Tile[T gauss.Float] struct {
	F     *Func
	Kappa float64 // κ, where the rule learns it

	Mean, Var []T        // in
	Out       Moments[T] // out; nil Jacobian planes: moments only
	MK, VK    []T        // out: derivatives with respect to κ, where learned

	// Slope, SlopeM and SlopeV, if not nil, receive the slope g of the function as the
	// rule sees it, ∂g/∂m and ∂g/∂v. The derivatives need the Jacobian planes of Out,
	// and so does the slope of a closed form. See CheckSlope.
	Slope, SlopeM, SlopeV []T

	// Params are the inputs of a formula, in the order of Formula.Inputs, with one
	// value for each element; nil means their starting values. MP and VP, if not nil,
	// receive the derivatives with respect to the learned inputs, which come first.
	Params [][]T
	MP, VP [][]T

	// The elements are units Unit, Unit+1, … of row Row in the stream Key.
	Key  rng.Key
	Row  uint64
	Unit int

	rule          Rule
	cap, planes   int // elements, and points of each, that it holds at a time
	s, x, f, d    []T
	xi            []T
	draws         []float32
	sums          *kernel.Samples[T]
	nodes         [3]T // of a learned κ
	weights       [3]T
	fixed, fixedW []T // of a fixed rule
	wide          *Tile[float64]
	formula       *formulaTile[T] // nil: F is no formula
	scratch       []T             // of Scratch
}

// NewTile returns a tile for pushing elements through f by rule.
func NewTile[T gauss.Float](f *Func, rule Rule) *Tile[T] {
	t := &Tile[T]{F: f, rule: rule}
	t.count()
	if _, ok := any(t).(*Tile[float32]); ok && !rule.Vector(f) {
		t.wide = NewTile[float64](f, rule)
		n := t.wide.Cap()
		t.wide.Mean, t.wide.Var = make([]float64, n), make([]float64, n)
		t.wide.Out = newMoments[float64](n)
		t.wide.MK, t.wide.VK = make([]float64, n), make([]float64, n)
		t.wide.Slope = make([]float64, n)
		t.wide.SlopeM = make([]float64, n)
		t.wide.SlopeV = make([]float64, n)
		if f.Formula != nil { // fixed inputs need no rule
			t.formula = newFormulaTile[T](f.Formula, rule, t.cap, t.cap)
		}
		return t
	}
	n := t.Cap()
	size := n * t.planes
	t.s = make([]T, n)
	t.x = make([]T, size)
	t.f = make([]T, size)
	t.d = make([]T, size)
	if Draws(rule) {
		t.xi, t.draws = make([]T, size), make([]float32, size)
		t.sums = kernel.NewSamples[T](n)
	}
	if f.Formula != nil {
		t.formula = newFormulaTile[T](f.Formula, rule, n, size)
	}
	if r, ok := rule.(nodes); ok {
		t.fixed, t.fixedW = toT[T](r.xi), toT[T](r.w)
	}
	return t
}

// Cap returns the largest number of elements that the tile can hold.
func (t *Tile[T]) Cap() int { return t.cap }

// Scratch returns n numbers for the Push of a rule from outside this package, with
// whatever values were left there. The tile keeps the memory and hands out the same each
// time, so only the first call allocates. A rule needs at most a few times Cap numbers.
func (t *Tile[T]) Scratch(n int) []T {
	if n > len(t.scratch) {
		t.scratch = make([]T, n)
	}
	return t.scratch[:n]
}

// count settles how many points and elements the tile holds at a time.
func (t *Tile[T]) count() {
	n := t.rule.Nodes()
	t.planes = n.count()
	if n.draws() {
		t.planes = min(t.planes, chunk)
	}
	t.cap = max(8, planeSize/t.planes&^7)
	if r, ok := t.rule.(nodes); ok && oneKernel(t.F, len(r.xi)) {
		t.cap = fusedSize
	}
}

// Push fills t.Out from t.Mean and t.Var, for at most Cap elements. If the rule draws,
// the elements of a tile must belong to one row.
func (t *Tile[T]) Push() {
	if t.wide != nil {
		t.pushWide()
		return
	}
	switch t := any(t).(type) {
	case *Tile[float32]:
		t.rule.Push32(t)
	case *Tile[float64]:
		t.rule.Push64(t)
	}
}

// pushWide computes float32 elements in float64.
func (t *Tile[T]) pushWide() {
	w, n := t.wide, len(t.Mean)
	in, out := *w, w.Out
	w.Kappa = t.Kappa
	w.Key = t.Key
	w.Row = t.Row
	w.Unit = t.Unit
	w.Mean, w.Var = in.Mean[:n], in.Var[:n]
	compute.Convert(w.Mean, t.Mean)
	compute.Convert(w.Var, t.Var)
	w.Out = kernel.Moments[float64]{Mean: out.Mean[:n], Var: out.Var[:n]}
	if t.Out.MM != nil {
		w.Out.MM = out.MM[:n]
		w.Out.MV = out.MV[:n]
		w.Out.VM = out.VM[:n]
		w.Out.VV = out.VV[:n]
	}
	w.MK = nil
	w.VK = nil
	w.Slope = nil
	w.SlopeM = nil
	w.SlopeV = nil
	if t.Slope != nil {
		w.Slope = in.Slope[:n]
		w.SlopeM = in.SlopeM[:n]
		w.SlopeV = in.SlopeV[:n]
	}
	if t.MK != nil {
		w.MK, w.VK = in.MK[:n], in.VK[:n]
	}
	w.Push()
	compute.Convert(t.Out.Mean, w.Out.Mean)
	compute.Convert(t.Out.Var, w.Out.Var)
	if t.Out.MM != nil {
		compute.Convert(t.Out.MM, w.Out.MM)
		compute.Convert(t.Out.MV, w.Out.MV)
		compute.Convert(t.Out.VM, w.Out.VM)
		compute.Convert(t.Out.VV, w.Out.VV)
	}
	if t.Slope != nil {
		compute.Convert(t.Slope, w.Slope)
		compute.Convert(t.SlopeM, w.SlopeM[:len(t.SlopeM)])
		compute.Convert(t.SlopeV, w.SlopeV[:len(t.SlopeV)])
	}
	if t.MK != nil {
		compute.Convert(t.MK, w.MK)
		compute.Convert(t.VK, w.VK)
	}
	w.Mean = in.Mean
	w.Var = in.Var
	w.Out = out
	w.MK = in.MK
	w.VK = in.VK
	w.Slope = in.Slope
	w.SlopeM = in.SlopeM
	w.SlopeV = in.SlopeV
}

// jacobian reports whether derivatives are wanted.
func (t *Tile[T]) jacobian() bool { return t.Out.MM != nil }

func newMoments[T gauss.Float](n int) kernel.Moments[T] {
	p := make([]T, 6*n)
	cut := func(i int) []T { return p[i*n : (i+1)*n : (i+1)*n] }
	return kernel.Moments[T]{Mean: cut(0), Var: cut(1), MM: cut(2), MV: cut(3), VM: cut(4), VV: cut(5)}
}

func toT[T gauss.Float](x []float64) []T {
	y := make([]T, len(x))
	compute.Convert(y, x)
	return y
}
