package affine

import (
	"utvi/internal/compute"
	"utvi/internal/compute/internal/cpu"
	"utvi/internal/compute/kernel"
	"utvi/internal/compute/product"
)

// A gradTask is a tile of the gradients under way. Its slices begin at the tile's first weight.
type gradTask[T compute.Float] struct {
	gradTile
	mean    []T // the weights' means
	gw, gs  []T // gradients by means and variances; gs is nil for fixed weights
	vh      []T // room for a tile of vᵀh
	squares []T // room for squares of left operands
	all     Gradients[T]
	hasH    bool // the outputs have variances
}

func (d *Dense[T]) gradTask(tile int, hasH bool, mean []T, o Gradients[T], scratch []T) gradTask[T] {
	g := gradTask[T]{gradTile: d.gradTile(tile), all: o, hasH: hasH}
	at := g.lo*d.Out + g.from
	g.mean = mean[at:]
	g.gw = o.Mean[at:]
	if d.Random {
		g.gs = o.Var[at:]
	}
	size := (g.hi - g.lo) * (g.to - g.from)
	g.vh = scratch[:size]
	g.squares = scratch[size:]
	clearBias(g.gradTile, o)
	return g
}

// Gradient computes a tile of the gradients, summing the blocks in order. hasV says that
// the inputs had variance, hasH that the outputs did, as those of random weights do. mean
// are the weights' means.
func (d *Dense[T]) Gradient(tile int, blocks []TapeBlock[T], hasV, hasH bool, mean []T, o Gradients[T], scratch []T) {
	g := d.gradTask(tile, hasH, mean, o, scratch)
	if hasV && hasH { // there is a vᵀh
		d.ways.gradient(d, g, blocks)
		return
	}
	for add := false; len(blocks) > 0; add = true {
		r := d.next(blocks)
		d.addMeans(&g, r, add)
		d.addSquares(&g, r, add)
		d.addBiases(&g, r)
		blocks = blocks[r.n:]
	}
}

// gradientApartFromSecond sums vᵀh apart, and adds it in the end: the usual way.
func (d *Dense[T]) gradientApartFromSecond(g gradTask[T], blocks []TapeBlock[T]) {
	for add := false; len(blocks) > 0; add = true {
		r := d.next(blocks)
		d.addMeans(&g, r, add)
		d.addSquares(&g, r, add)
		d.gradProduct(sum(g.vh, g.to-g.from, add), g.gradTile, r, d.left(r, 1, g.gradTile), d.right(r, 1, g.gradTile))
		d.addBiases(&g, r)
		blocks = blocks[r.n:]
	}
	d.addSecond(&g, d.Random)
}

// gradientOne is that of one output, by a kernel for all three sums.
func (d *Dense[T]) gradientOne(g gradTask[T], blocks []TapeBlock[T]) {
	sums := oneSums{cpu.As32(g.gw[:d.In]), cpu.As32(g.gs), cpu.As32(g.vh)}
	for add := false; len(blocks) > 0; add = true {
		r := d.next(blocks)
		if r.rows > 0 {
			at := func(i int) []float32 { return cpu.As32(d.onTape(r.tape, r.rows, i)) }
			sums.sum(at(2), at(3), at(0), at(1), r.rows, add)
		}
		d.addBiases(&g, r)
		blocks = blocks[r.n:]
	}
	d.addSecond(&g, true)
}

// beginsSums reports whether the sums of ∂s begin with vᵀh, and those of ∂w̄ with 2w̄∘vᵀh, so that
// nothing is added to a whole tile: AVX-512 has the kernels.
func (d *Dense[T]) beginsSums() bool { return cpu.Wide && cpu.Is32[T]() && d.Random && !d.single }

// gradientBegun begins the sums so. Where one product sums all blocks, vᵀh and mᵀg are one product
// after the other for each tile in registers. Of a large matrix the means would come from afar,
// and are better read in order.
func (d *Dense[T]) gradientBegun(g gradTask[T], blocks []TapeBlock[T]) {
	if len(blocks) == 0 {
		return
	}
	small := d.In*d.Out < streamFrom
	together := small && d.next(blocks).n == len(blocks)
	if !together {
		d.sumSecond(&g, blocks)
	}
	for add := false; len(blocks) > 0; add = true {
		r := d.next(blocks)
		switch {
		case together:
			product.MulStretchesTwo(product.To(cpu.As32(g.gw), d.Out), cpu.As32(g.gs), cpu.As32(g.mean),
				product.Factors{A: d.left(r, 1, g.gradTile).As32(), B: d.right(r, 1, g.gradTile).As32()},
				product.Factors{A: d.left(r, 0, g.gradTile).As32(), B: d.right(r, 0, g.gradTile).As32()}, r.extent(g.gradTile))
		case !add && small:
			product.MulStretchesBy(product.To(cpu.As32(g.gw), d.Out).From(cpu.As32(g.gs), d.Out), cpu.As32(g.mean),
				d.left(r, 0, g.gradTile).As32(), d.right(r, 0, g.gradTile).As32(), r.extent(g.gradTile))
		case !add:
			d.beginMeans(&g)
			d.addMeans(&g, r, true)
		default:
			d.addMeans(&g, r, true)
		}
		d.addSquares(&g, r, true)
		d.addBiases(&g, r)
		blocks = blocks[r.n:]
	}
}

// sumSecond writes vᵀh to the gradients by the variances.
func (d *Dense[T]) sumSecond(g *gradTask[T], blocks []TapeBlock[T]) {
	for add := false; len(blocks) > 0; add = true {
		r := d.next(blocks)
		d.gradProduct(sum(g.gs, d.Out, add), g.gradTile, r, d.left(r, 1, g.gradTile), d.right(r, 1, g.gradTile))
		blocks = blocks[r.n:]
	}
}

// beginMeans writes 2w̄∘vᵀh, of which gs has the second factor, to the gradients by the means.
func (d *Dense[T]) beginMeans(g *gradTask[T]) {
	w, times := g.stretch(d.Out)
	for i := range times {
		at := i * d.Out
		kernel.TwiceMulTo(g.gw[at:][:w], g.gs[at:], g.mean[at:])
	}
}

// addMeans adds mᵀg to the gradients by the means, or begins them with it.
func (d *Dense[T]) addMeans(g *gradTask[T], r run[T], add bool) {
	d.gradProduct(sum(g.gw, d.Out, add), g.gradTile, r, d.left(r, 0, g.gradTile), d.right(r, 0, g.gradTile))
}

// addSquares adds (m²)ᵀh to the gradients by the variances, or begins them with it.
func (d *Dense[T]) addSquares(g *gradTask[T], r run[T], add bool) {
	if !d.Random {
		return
	}
	left := d.left(r, 0, g.gradTile)
	if d.SquaresOnTape() {
		left = d.left(r, 2, g.gradTile)
	} else {
		left = squares(left, d.leftLen(r.rows, g.gradTile), r.n, nil, g.squares)
	}
	d.gradProduct(sum(g.gs, d.Out, add), g.gradTile, r, left, d.right(r, 1, g.gradTile))
}

// addBiases adds the rows of g and h to the sums of a tile's biases.
func (d *Dense[T]) addBiases(g *gradTask[T], r run[T]) {
	d.addRows(g.all.BiasMean, g.gradTile, r, d.right(r, 0, g.gradTile))
	if g.hasH {
		d.addRows(g.all.BiasVar, g.gradTile, r, d.right(r, 1, g.gradTile))
	}
}

// addSecond adds what a tile of vᵀh contributes to those of ∂w̄ and, if random is set, ∂s.
func (d *Dense[T]) addSecond(g *gradTask[T], random bool) {
	w, rows := g.stretch(d.Out)
	for i := range rows {
		vh, at := g.vh[i*w:][:w], i*d.Out
		if random {
			kernel.Add(g.gs[at:][:w], vh)
		}
		kernel.AddTwiceMul(g.gw[at:][:w], vh, g.mean[at:][:w])
	}
}

// sum writes a product to a tile, or adds it.
func sum[T compute.Float](dst []T, ld int, add bool) product.Sum[T] {
	if add {
		return product.Onto(dst, ld)
	}
	return product.To(dst, ld)
}

// gradProduct is leftᵀ·right of a run, the columns of a tile. With one output it is rightᵀ·left.
func (d *Dense[T]) gradProduct(to product.Sum[T], t gradTile, r run[T], left, right product.Stretched[T]) {
	if d.single {
		product.MulStretches(to, right, left, product.Extent{Rows: 1, Columns: d.In, K: r.rows, N: r.n})
		return
	}
	product.MulStretches(to, left, right, r.extent(t))
}

// addRows adds the rows of a right operand of a run to the sums of a tile's biases. Tiles of the
// first weight rows have them.
func (d *Dense[T]) addRows(dst []T, t gradTile, r run[T], right product.Stretched[T]) {
	if t.lo > 0 || dst == nil {
		return
	}
	if d.single {
		for _, g := range right.Data[:r.rows] {
			dst[0] += g
		}
		return
	}
	one := [1]T{1}
	dst = dst[t.from:t.to]
	product.MulStretches(product.Onto(dst, d.Out), product.Stretched[T]{Data: one[:]}, right,
		product.Extent{Rows: 1, Columns: t.to - t.from, K: r.rows, N: r.n})
}
