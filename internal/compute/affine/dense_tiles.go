package affine

import (
	"math"

	"utvi/internal/compute"
	"utvi/internal/compute/internal/cpu"
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
	if d.single {
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
	return d.gradRows*min(d.gradOutputs, d.Out) + min(d.input.width(), d.gradRows+product.NR)*max(rows, gradDepth)
}

// A TapeBlock is a block of rows on the tape.
type TapeBlock[T compute.Float] struct {
	Rows int
	Tape []T
}

// Gradients are those of all weights and biases, by their means and variances. Those of
// the variances are nil for fixed weights, those of the biases where there are none.
type Gradients[T compute.Float] struct{ Mean, Var, BiasMean, BiasVar []T }

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
