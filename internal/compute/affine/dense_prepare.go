package affine

import (
	"utvi/internal/compute/internal/cpu"
	"utvi/internal/compute/kernel"
	"utvi/internal/compute/product"
)

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
	if d.Random {
		rho = rho[lo:hi]
	}
	if d.together && hi-lo == product.NR*d.Out { // a last tile may have fewer rows
		d.prepareTogether(lo/d.Out, mean, rho)
		return
	}
	s, second := scratch[:hi-lo], scratch[d.prepareRows()*d.Out:][:hi-lo]
	d.ways.moments(d, s, second, mean, rho)
	d.pack(0, d.meanT, lo/d.Out, hi/d.Out, mean)
	if d.Random {
		d.pack(1, d.variT, lo/d.Out, hi/d.Out, s)
	}
	d.pack(2, d.secondT, lo/d.Out, hi/d.Out, second)
}

// secondOfFixed is the second matrix of fixed weights: w̄².
func (d *Dense[T]) secondOfFixed(_, second, mean, _ []T) { kernel.Square(second, mean) }

// secondOfRandom is that of random weights: w̄²+s.
func (d *Dense[T]) secondOfRandom(s, second, mean, rho []T) {
	kernel.VarianceSecond(s, second, mean, rho)
}

// prepareTogether computes and packs a whole tile by one kernel of AVX-512, also of the transposes.
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

// pack packs weight rows lo … hi of a matrix, and for training of its transpose t.
func (d *Dense[T]) pack(matrix int, t product.Right[T], lo, hi int, src []T) {
	d.ways.keep(d, matrix, lo, hi, src)
	if t.Data != nil {
		columns := product.Right[T]{K: t.K, N: hi - lo, Data: t.Data[lo*t.K:]}
		columns.PackStream(0, t.K, src, 1, d.Out, d.In*d.Out >= streamFrom)
	}
}

// keepPanels keeps rows of a matrix in panels.
func (d *Dense[T]) keepPanels(matrix, lo, hi int, src []T) {
	r := [3]product.Right[T]{d.mean, d.vari, d.second}[matrix]
	r.PackStream(lo, hi, src, d.Out, 1, d.In*d.Out >= streamFrom)
}

// PrepareBias sets the bias from its means and ρ.
func (d *Dense[T]) PrepareBias(mean, rho []T) {
	copy(d.biasMean, mean)
	if rho != nil {
		kernel.Variance(d.biasVar, rho)
	}
}
