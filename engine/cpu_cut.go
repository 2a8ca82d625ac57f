package engine

import (
	"utvi/internal/compute"
	"utvi/internal/compute/product"
	"utvi/vi"
)

// maxBlock is the largest number of rows in a block: its activations stay in the
// second-level cache, and its packed operands in the first.
const maxBlock = 96

// oneBlock is the largest batch that one worker takes in a single block: the weights are
// then read once, and their gradients summed in one go.
var oneBlock = blockLimit(compute.MachineCaches())

func blockLimit(c compute.Caches) int {
	if c.L2 < 1<<20 {
		return maxBlock
	}
	return 22 * product.MR
}

// minBlock is how many rows there must be for each worker that takes part: fewer would read the
// weights too often.
const minBlock = 4 * product.MR

// oneWorkerRows is the number of rows in a block of a batch that one worker takes alone: all,
// or whole tiles of the product. A worker whose weights are far reads them once for more
// rows, though the activations of so many do not stay in the second-level cache.
func oneWorkerRows(batch int, far bool) int {
	if batch <= oneBlock {
		return batch
	}
	const tile = 2 * product.MR
	most := maxBlock
	if far && oneBlock > maxBlock {
		most = farBlock
	}
	blocks := (batch + most - 1) / most
	return ((batch+blocks-1)/blocks + tile - 1) / tile * tile
}

const farBlock = 264

// farWeights is how many weights come from memory.
var farWeights = 1 << 21

// far reports whether the weights of a network come from memory, again and again.
func far(p *vi.Params[float32]) bool {
	n := 0
	for _, t := range p.Tensors {
		n += t.Len()
	}
	return n >= farWeights
}
