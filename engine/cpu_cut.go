package engine

import (
	"time"

	"utvi/internal/compute"
	"utvi/vi"
)

// A cut is how a batch is cut into blocks: some of so many rows each, then small ones.
type cut struct{ rows, large, small int }

// evenCut has blocks of one size.
func evenCut(batch, workers int) cut {
	rows := blockRows(batch, workers)
	return cut{rows, (batch + rows - 1) / rows, rows}
}

// farCut is for one worker whose weights come from memory: they are read once for more rows, though
// the activations of so many do not stay in the second-level cache.
func farCut(batch int) cut {
	const tile = 2 * compute.MR
	blocks := (batch + farBlock - 1) / farBlock
	rows := ((batch+blocks-1)/blocks + tile - 1) / tile * tile
	return cut{rows, (batch + rows - 1) / rows, rows}
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

// unevenCut is for cores that are not equally fast, as those of a machine are that other
// programs use too. Every worker has one block, smaller than its share, and those who
// are done first take the small blocks that are left. It is the even one where shares are
// not one block or too small to be cut.
func unevenCut(batch, workers int) cut {
	rows, small := batch/workers*13/16/4*4, batch/workers*5/16/4*4
	if batch > workers*maxBlock || workers < 4 || small < 8 {
		return evenCut(batch, workers)
	}
	return cut{rows, workers, small}
}

// blocks is the number of blocks of a batch.
func (c cut) blocks(batch int) int {
	return c.large + max(0, batch-c.large*c.rows+c.small-1)/c.small
}

// span is the rows of a block.
func (c cut) span(block, batch int) span {
	if block < c.large {
		return span{block * c.rows, min(batch, (block+1)*c.rows)}
	}
	lo := c.large*c.rows + (block-c.large)*c.small
	return span{lo, min(batch, lo+c.small)}
}

// A pacer finds out which of two ways to do the same work takes less time on the cores
// as they are: it tries both, takes the faster one for a while, and tries again.
type pacer struct {
	run     int
	fastest [2]time.Duration
	pick    int
}

const paceTries, pacePeriod = 6, 300

// next is the way to take, 0 or 1.
func (p *pacer) next() int {
	if p.run < paceTries {
		return p.run % 2
	}
	return p.pick
}

// took says how long the way that next returned has taken. The second way must be faster by
// a thirtieth.
func (p *pacer) took(d time.Duration) {
	if p.run < paceTries {
		if f := &p.fastest[p.run%2]; p.run < 2 || d < *f {
			*f = d
		}
	}
	switch p.run++; p.run {
	case paceTries:
		p.pick = 0
		if p.fastest[1] < p.fastest[0]-p.fastest[0]/30 {
			p.pick = 1
		}
	case pacePeriod:
		p.run = 0
	}
}
