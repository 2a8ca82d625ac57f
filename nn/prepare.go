package nn

import (
	"utvi/gauss"
	"utvi/vi"
)

// PrepareReads returns the weights lo ≤ i < hi of a tensor that only this tile of a
// unit's Prepare reads; the tensor is nil if that is not known. Other tensors that the
// tile reads, such as a bias, belong to no tile. An engine may thus update the weights
// and prepare the tile in one task, after it has updated the tensors of no tile.
func PrepareReads[T gauss.Float](u Unit[T], tile int) (t *vi.Tensor[T], lo, hi int) {
	if r, ok := u.(prepareReader[T]); ok {
		return r.prepareReads(tile)
	}
	return nil, 0, 0
}

type prepareReader[T gauss.Float] interface {
	prepareReads(tile int) (t *vi.Tensor[T], lo, hi int)
}

func (u *dense[T]) prepareReads(tile int) (t *vi.Tensor[T], lo, hi int) {
	lo, hi = u.dense.PrepareRange(tile)
	return u.weight, lo, hi
}

func (c *chain[T]) prepareReads(tile int) (t *vi.Tensor[T], lo, hi int) {
	i, local := c.find(tile, Unit[T].PrepareTiles)
	return PrepareReads(c.units[i], local)
}

func (u *residual[T]) prepareReads(tile int) (t *vi.Tensor[T], lo, hi int) {
	return PrepareReads(u.branch, tile)
}

func (u *correlated[T]) prepareReads(tile int) (t *vi.Tensor[T], lo, hi int) {
	return PrepareReads(u.Unit, tile)
}
