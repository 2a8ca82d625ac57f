// Package affine holds the maps with weights, dense and convolutional, of the moments of their
// inputs: forward, back to the inputs, and to the weights.
package affine

import (
	"runtime"

	"utvi/internal/compute"
	"utvi/internal/compute/internal/cpu"
	"utvi/internal/compute/kernel"
	"utvi/internal/compute/product"
)

// Dense is the moment product of a weight matrix (in × out, row-major) whose
// entries are Normals with mean w̄ and variance s, prepared for many rows:
//
//	m' = m·w̄ + b̄          v' = m²·s + v·(w̄² + s) + b_s
//
// and its reverse, from gradients g, h of a loss with respect to m' and v':
//
//	∂m = g·w̄ᵀ + 2m∘(h·sᵀ)      ∂v = h·(w̄²+s)ᵀ
//	∂w̄ = mᵀg + 2w̄∘(vᵀh)        ∂s = (m²)ᵀh + vᵀh
//
// Weights are packed once per step, 16 rows a tile or more. The operands of the weight
// gradients are packed once per row while they are hot, onto the tape.
type Dense[T compute.Float] struct {
	In, Out int
	Random  bool // s is not zero

	mean, vari, second    product.Right[T] // w̄, s, w̄²+s
	meanT, variT, secondT product.Right[T] // their transposes, for training
	biasMean, biasVar     []T
	few                   []T // columns of few outputs, in the place of mean, vari and second; see dense_thin.go

	gradRows, gradOutputs     int  // of a tile of gradients; see dense_grad.go
	plainInput, plainGradient bool // these lie on the tape as they are; see dense_tape.go

	apart  bool // the injected variance is kept apart: second is w̄²; see dense_apart.go
	follow int
}

// NewDense returns the product of an in × out matrix; train makes room for the
// reverse.
func NewDense[T compute.Float](in, out int, random, train bool) *Dense[T] {
	return newDense[T](in, out, random, train, false)
}

func newDense[T compute.Float](in, out int, random, train, apart bool) *Dense[T] {
	d := &Dense[T]{In: in, Out: out, Random: random, apart: apart}
	d.layTape()
	d.shareGradients(runtime.GOMAXPROCS(0))
	matrices := []*product.Right[T]{&d.mean, &d.second}
	transposes := []*product.Right[T]{&d.meanT, &d.secondT}
	if random {
		matrices, transposes = append(matrices, &d.vari), append(transposes, &d.variT)
	}
	if !d.newColumns() {
		product.NewRights(in, out, matrices)
	}
	if train {
		product.NewRights(out, in, transposes)
	}
	d.biasMean, d.biasVar = make([]T, out), make([]T, out)
	return d
}

// prepareRows is how many weight rows one Prepare tile packs: a panel of the transposes, and as many
// of few outputs as have so many weights.
func (d *Dense[T]) prepareRows() int { return product.NR * ceil(product.NR, d.Out) }

// PrepareTiles is the number of tiles of Prepare.
func (d *Dense[T]) PrepareTiles() int { return ceil(d.In, d.prepareRows()) }

// PrepareRange returns the weights that Prepare packs for a tile.
func (d *Dense[T]) PrepareRange(tile int) (lo, hi int) {
	lo = tile * d.prepareRows()
	return lo * d.Out, min(d.In, lo+d.prepareRows()) * d.Out
}

// PrepareScratch is the length of the scratch Prepare needs.
func (d *Dense[T]) PrepareScratch() int { return 2 * d.prepareRows() * d.Out }

// Prepare packs tile from the weights' means and ρ (σ = softplus ρ; nil for
// fixed weights). Tiles may be prepared concurrently.
func (d *Dense[T]) Prepare(tile int, mean, rho, scratch []T) {
	lo, hi := d.PrepareRange(tile)
	mean = mean[lo:hi]
	if d.preparesTogether(hi - lo) {
		d.prepareTogether(lo/d.Out, mean, rho[lo:hi])
		return
	}
	s, second := scratch[:hi-lo], scratch[d.prepareRows()*d.Out:][:hi-lo]
	switch {
	case !d.Random:
		kernel.Square(second, mean)
	case d.apart:
		kernel.Square(second, mean)
		kernel.Variance(s, rho[lo:hi])
	default:
		kernel.VarianceSecond(s, second, mean, rho[lo:hi])
	}
	d.pack(0, d.mean, d.meanT, lo/d.Out, hi/d.Out, mean)
	if d.Random {
		d.pack(1, d.vari, d.variT, lo/d.Out, hi/d.Out, s)
	}
	d.pack(2, d.second, d.secondT, lo/d.Out, hi/d.Out, second)
}

// preparesTogether reports whether one kernel of AVX-512 computes and packs n weights of a tile:
// whole panels, also of the transposes.
func (d *Dense[T]) preparesTogether(n int) bool {
	return cpu.Wide && cpu.Is32[T]() && d.Random && !d.apart && !d.thin() && d.meanT.Data != nil &&
		n == product.NR*d.Out && d.Out%product.NR == 0 && d.In*d.Out < streamFrom
}

func (d *Dense[T]) prepareTogether(row int, mean, rho []T) {
	var to, turned [3][]float32
	for i, r := range [3]product.Right[T]{d.mean, d.vari, d.second} {
		to[i] = cpu.As32(r.Data[row*product.NR:])
	}
	for i, r := range [3]product.Right[T]{d.meanT, d.variT, d.secondT} {
		turned[i] = cpu.As32(r.Data[row*d.Out:][:product.NR*d.Out])
	}
	kernel.PreparePanels(cpu.As32(mean), cpu.As32(rho), to, turned, d.In*product.NR, d.Out/product.NR)
}

// streamFrom is the size of a matrix from which Prepare writes past the caches:
// six of them would push one another out before they are read, and what is not
// written whole at once must be fetched first.
const streamFrom = 1 << 16

// pack packs weight rows lo … hi of matrix i.
func (d *Dense[T]) pack(i int, r, t product.Right[T], lo, hi int, src []T) {
	stream := d.In*d.Out >= streamFrom
	if d.thin() {
		d.setColumns(i, lo, hi, src)
	} else {
		r.PackStream(lo, hi, src, d.Out, 1, stream)
	}
	if t.Data != nil {
		product.Right[T]{K: t.K, N: hi - lo, Data: t.Data[lo*t.K:]}.PackStream(0, t.K, src, 1, d.Out, stream)
	}
}

// PrepareBias sets the bias from its means and ρ.
func (d *Dense[T]) PrepareBias(mean, rho []T) {
	copy(d.biasMean, mean)
	if rho != nil {
		kernel.Variance(d.biasVar, rho)
	}
}

// Forward computes rows of m', v'. A nil v is a deterministic input; a nil vo is
// not wanted. scratch has the length Scratch.
func (d *Dense[T]) Forward(rows int, m, v, mo, vo, scratch []T) {
	if vo != nil && d.Random && product.Packs[T](rows, d.In, d.Out) {
		d.forwardPacked(rows, m, v, mo, vo, scratch)
		return
	}
	if v != nil && vo != nil && d.fuses() && d.In <= maxFused {
		d.forwardFused(rows, m, v, mo, vo)
		return
	}
	if vo != nil {
		d.Squares(rows, m, scratch)
	}
	d.ForwardPart(0, 1, rows, m, v, mo, vo, scratch)
}

// Squares computes the squares of rows of m that the variances need.
func (d *Dense[T]) Squares(rows int, m, squares []T) {
	if d.Random {
		kernel.Square(squares[:rows*d.In], m[:rows*d.In])
	}
}

// A part of the outputs has at least partBytes of weights to read, which takes longer
// than to hand it to another core, and whole stretches of partColumns.
const partBytes, partColumns = 1 << 19, 4 * product.NR

// Parts returns into how many parts, at most so many, the outputs are worth to be split.
func (d *Dense[T]) Parts(most int) int {
	bytes := d.In * d.Out * 4
	if d.Random {
		bytes *= 2
	}
	return max(1, min(most, bytes/partBytes, d.Out/partColumns))
}

// ForwardPart is Forward for one of so many parts of the outputs, after Squares. Parts
// may be computed concurrently.
func (d *Dense[T]) ForwardPart(part, parts, rows int, m, v, mo, vo, squares []T) {
	if d.thin() {
		d.forwardThin(rows, m, v, mo, vo, squares)
		return
	}
	lo, hi := 0, d.Out
	if whole := d.Out / partColumns; parts > 1 { // the last part takes what is left over
		lo = part * whole / parts * partColumns
		if part < parts-1 {
			hi = (part + 1) * whole / parts * partColumns
		}
	}
	mo, mean := mo[lo:], d.mean.Columns(lo, hi)
	if vo == nil {
		product.Mul(product.To(mo, d.Out).From(d.biasMean[lo:], 0), product.Rows(m, d.In), rows, mean)
		return
	}
	vo = vo[lo:]
	if rows == 1 && v != nil && d.Random && cpu.Vector && cpu.Is32[T]() && d.In*d.Out*8 > cpu.Cache.L2 {
		d.forwardOne(lo, hi, m[:d.In], v[:d.In], mo, vo, squares[:d.In])
		return
	}
	product.Mul(product.To(mo, d.Out).From(d.biasMean[lo:], 0), product.Rows(m, d.In), rows, mean)
	start, lds := d.biasVar[lo:], 0
	if v != nil && d.Random && cpu.Is32[T]() && product.TakesTwo(rows, d.In, hi-lo) {
		product.MulTwo(product.To(cpu.As32(vo), d.Out).From(cpu.As32(start), lds), cpu.As32(squares), cpu.As32(v), rows, d.vari.Columns(lo, hi).As32(), d.second.Columns(lo, hi).As32())
		return
	}
	if d.Random {
		product.Mul(product.To(vo, d.Out).From(start, lds), product.Rows(squares, d.In), rows, d.vari.Columns(lo, hi))
		start, lds = vo, d.Out
	}
	if v != nil {
		product.Mul(product.To(vo, d.Out).From(start, lds), product.Rows(v, d.In), rows, d.second.Columns(lo, hi))
	}
}

// Backward computes the gradients dm, dv of rows with input means m from g, h. A
// nil h is the gradient of a deterministic output; a nil dv is not wanted. scratch has the
// length Scratch.
func (d *Dense[T]) Backward(rows int, m, g, h, dm, dv, scratch []T) {
	if h != nil && d.Random && product.Packs[T](rows, d.Out, d.In) {
		d.backwardPacked(rows, m, g, h, dm, dv, scratch)
		return
	}
	if h != nil && dv != nil && d.Random && d.thin() && d.Out == 1 {
		d.backwardOne(rows, m, g, h, dm, dv)
		return
	}
	if h == nil || !d.Random {
		product.Mul(product.To(dm, d.In), product.Rows(g, d.Out), rows, d.meanT)
	} else {
		product.Mul(product.To(dm, d.In), product.Rows(h, d.Out), rows, d.variT)
		kernel.TwiceMul(dm[:rows*d.In], m)
		product.Mul(product.Onto(dm, d.In), product.Rows(g, d.Out), rows, d.meanT)
	}
	if dv != nil {
		product.Mul(product.To(dv, d.In), product.Rows(h, d.Out), rows, d.secondT)
	}
}
