package affine

import (
	"math"

	"utvi/internal/compute"
	"utvi/internal/compute/internal/cpu"
	"utvi/internal/compute/kernel"
	"utvi/internal/compute/product"
)

// A gradTile is the part of the weight gradients that one task owns: weight rows lo … hi,
// outputs from … to.
type gradTile struct{ lo, hi, from, to int }

// shareGradients sets how many weight rows and outputs a gradient tile has: as many as
// end first where each core takes one tile after the other. What a tile reads costs as much
// as some rows and outputs more. One core takes tiles of 96 × 512, or × 256, which stay in
// the second-level cache. The bits of a gradient do not depend on it.
func (d *Dense[T]) shareGradients(cores int) {
	d.gradRows, d.gradOutputs = d.In, 1
	if d.single() {
		return
	}
	pairs, most := ceil(d.In, 2*product.MR), maxGradOutputs
	if cpu.Cache.L2 < 1<<20 {
		most /= 2
	}
	d.gradRows, d.gradOutputs = share(pairs, 8)*2*product.MR, most
	if cores == 1 {
		return
	}
	const reading = 4
	best := math.MaxInt
	for across := ceil(d.Out, most); ; across++ {
		outputs := ceil(ceil(d.Out, 2*product.NR), across) * 2 * product.NR
		if best < math.MaxInt && outputs < minGradOutputs {
			return
		}
		for p := 12; p > 0; p-- {
			rows, columns := share(pairs, p)*2*product.MR, min(outputs, d.Out)
			tiles := ceil(d.In, rows) * ceil(d.Out, outputs)
			if cost := ceil(tiles, cores) * (rows*columns + reading*(rows+columns)); cost < best {
				best = cost
				d.gradRows = rows
				d.gradOutputs = outputs
			}
		}
	}
}

const maxGradOutputs, minGradOutputs = 32 * product.NR, 8 * product.NR

// share cuts n into as few equal parts as have at most so many each, and returns the size
// of a part.
func share(n, most int) int { return ceil(n, ceil(n, most)) }

func ceil(n, by int) int { return (n + by - 1) / by }

// gradTile returns a tile of Gradient. Neighbours share their left operands.
func (d *Dense[T]) gradTile(tile int) gradTile {
	across := ceil(d.Out, d.gradOutputs)
	lo, from := tile/across*d.gradRows, tile%across*d.gradOutputs
	return gradTile{lo, min(d.In, lo+d.gradRows), from, min(d.Out, from+d.gradOutputs)}
}

// GradTiles is the number of tiles of Gradient.
func (d *Dense[T]) GradTiles() int { return ceil(d.In, d.gradRows) * ceil(d.Out, d.gradOutputs) }

// GradScratch is the length of the scratch Gradient needs for blocks of at most
// rows rows: a tile of vᵀh, and the squares of a tile's left operand in all blocks that
// one product sums.
func (d *Dense[T]) GradScratch(rows int) int {
	return d.gradRows*min(d.gradOutputs, d.Out) + min(d.leftWidth(), d.gradRows+product.NR)*max(rows, gradDepth)
}

// A TapeBlock is a block of rows on the tape.
type TapeBlock[T compute.Float] struct {
	Rows int
	Tape []T
}

// Gradients are those of all weights and biases, by their means and variances. Those of
// the variances are nil for fixed weights, those of the biases where there are none.
type Gradients[T compute.Float] struct{ Mean, Var, BiasMean, BiasVar []T }

// Gradient computes a tile of the gradients, summing the blocks in order. hasV says that
// the inputs had variance, hasH that the outputs did, as those of random weights do. mean
// are the weights' means.
func (d *Dense[T]) Gradient(tile int, blocks []TapeBlock[T], hasV, hasH bool, mean []T, o Gradients[T], scratch []T) {
	t := d.gradTile(tile)
	at := t.lo*d.Out + t.from
	gw := o.Mean[at:]
	gs := o.Var
	mean = mean[at:]
	if d.Random {
		gs = gs[at:]
	}
	size := (t.hi - t.lo) * (t.to - t.from)
	vh, squares := scratch[:size], scratch[size:]
	clearBias(t, o)
	if d.apart {
		d.gradientApart(blocks, t, hasV, mean, gw, gs, vh, squares, o)
		return
	}
	second := hasV && hasH // there is a vᵀh to add
	begun := second && cpu.Wide && cpu.Is32[T]() && d.Random && !d.single()
	together := begun && d.beginsTogether(blocks)
	if begun { // the sums of ∂s begin with vᵀh, those of ∂w̄ with 2w̄∘vᵀh
		second = false
		if !together {
			d.sumSecond(blocks, t, gs)
		}
	}
	for add := false; len(blocks) > 0; add = true {
		b := blocks[0] // and those that one product sums
		n, apart := d.stretches(blocks)
		g, h := d.right(b, 0, t, apart), d.right(b, 1, t, apart)
		if second && d.fuses() {
			d.gradientFused(b, add, gw, gs, vh)
		} else {
			switch {
			case together:
				product.MulStretchesTwo(product.To(cpu.As32(gw), d.Out), cpu.As32(gs), cpu.As32(mean),
					product.Factors{A: d.left(b, 1, t, apart).As32(), B: h.As32()},
					product.Factors{A: d.left(b, 0, t, apart).As32(), B: g.As32()},
					product.Extent{Rows: t.hi - t.lo, Columns: t.to - t.from, K: b.Rows, N: n})
			case begun && !add:
				d.beginMean(gw, gs, mean, t, b.Rows, n, d.left(b, 0, t, apart), g)
			default:
				d.gradProduct(gw, d.Out, t, add, b.Rows, n, d.left(b, 0, t, apart), g)
			}
			if d.Random {
				d.gradProduct(gs, d.Out, t, add || begun, b.Rows, n, d.leftSquares(b, t, n, apart, squares), h)
			}
			if second {
				d.gradProduct(vh, t.to-t.from, t, add, b.Rows, n, d.left(b, 1, t, apart), h)
			}
		}
		d.addRows(o.BiasMean, t, b.Rows, n, g)
		if hasH {
			d.addRows(o.BiasVar, t, b.Rows, n, h)
		}
		blocks = blocks[n:]
	}
	if second {
		d.addSecond(t, d.Random, vh, mean, gw, gs)
	}
}

// beginsTogether reports whether vᵀh and mᵀg are one product after the other for each tile in
// registers, with AVX-512: there is one stretch of blocks. Of a large matrix the means would come
// from afar, and are better read in order.
func (d *Dense[T]) beginsTogether(blocks []TapeBlock[T]) bool {
	n, _ := d.stretches(blocks)
	return n == len(blocks) && d.In*d.Out < streamFrom
}

// sumSecond writes vᵀh to gs, with AVX-512: the other products go on from there, so that nothing
// is added to a whole tile.
func (d *Dense[T]) sumSecond(blocks []TapeBlock[T], t gradTile, gs []T) {
	for add := false; len(blocks) > 0; add = true {
		b := blocks[0]
		n, apart := d.stretches(blocks)
		d.gradProduct(gs, d.Out, t, add, b.Rows, n, d.left(b, 1, t, apart), d.right(b, 1, t, apart))
		blocks = blocks[n:]
	}
}

// beginMean is gradProduct that begins with 2w̄∘vᵀh, which gs has. Of a large matrix these numbers
// come from afar, and are better read in order.
func (d *Dense[T]) beginMean(gw, gs, mean []T, t gradTile, rows, n int, left, right product.Stretched[T]) {
	if d.In*d.Out < streamFrom {
		product.MulStretchesBy(product.To(cpu.As32(gw), d.Out).From(cpu.As32(gs), d.Out), cpu.As32(mean), left.As32(), right.As32(), product.Extent{Rows: t.hi - t.lo, Columns: t.to - t.from, K: rows, N: n})
		return
	}
	w, times := t.stretch(d.Out)
	for i := range times {
		at := i * d.Out
		kernel.TwiceMulTo(gw[at:][:w], gs[at:], mean[at:])
	}
	d.gradProduct(gw, d.Out, t, true, rows, n, left, right)
}

// clearBias begins the sums of a tile's biases.
func clearBias[T compute.Float](t gradTile, o Gradients[T]) {
	for _, g := range [2][]T{o.BiasMean, o.BiasVar} {
		if t.lo == 0 && g != nil {
			clear(g[t.from:t.to])
		}
	}
}

// stretch returns how many weights of a tile follow one another, and how often.
func (t gradTile) stretch(outputs int) (n, times int) {
	n, times = t.to-t.from, t.hi-t.lo
	if n == outputs {
		return n * times, 1
	}
	return n, times
}

// addSecond adds what a tile of vᵀh contributes to those of ∂w̄ and, if random is set, ∂s.
func (d *Dense[T]) addSecond(t gradTile, random bool, vh, mean, gw, gs []T) {
	w, rows := t.stretch(d.Out)
	for i := range rows {
		vh, at := vh[i*w:][:w], i*d.Out
		if random {
			kernel.Add(gs[at:][:w], vh)
		}
		kernel.AddTwiceMul(gw[at:][:w], vh, mean[at:][:w])
	}
}

// gradProduct writes leftᵀ·right of n blocks of rows to a tile of a gradient, or adds it.
func (d *Dense[T]) gradProduct(dst []T, ld int, t gradTile, add bool, rows, n int, left, right product.Stretched[T]) {
	var start []T
	if add {
		start = dst
	}
	if d.single() {
		product.MulStretches(product.To(dst, d.In).From(start, d.In), right, left, product.Extent{Rows: 1, Columns: d.In, K: rows, N: n})
		return
	}
	product.MulStretches(product.To(dst, ld).From(start, ld), left, right, product.Extent{Rows: t.hi - t.lo, Columns: t.to - t.from, K: rows, N: n})
}

// addRows adds the rows of a right operand of n blocks to the sums of a tile's biases. Tiles of the
// first weight rows have them.
func (d *Dense[T]) addRows(dst []T, t gradTile, rows, n int, r product.Stretched[T]) {
	if t.lo > 0 || dst == nil {
		return
	}
	if d.single() {
		for _, g := range r.Data[:rows] {
			dst[0] += g
		}
		return
	}
	one := [1]T{1}
	dst = dst[t.from:t.to]
	product.MulStretches(product.Onto(dst, d.Out), product.Stretched[T]{Data: one[:]}, r, product.Extent{Rows: 1, Columns: t.to - t.from, K: rows, N: n})
}
