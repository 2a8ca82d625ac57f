package nn

import (
	"fmt"

	"utvi/internal/compute"
)

// A pool is what all poolings know.
type pool struct {
	stateless
	out          Shape
	cells        int // of a window
	window       compute.Window
	down, across int // from one place to the next
}

// maxPoolCells bounds the index of a runner.
const maxPoolCells = 1 << 24

func newPool(in Shape, form Form, size [2]int, stride int) (pool, error) {
	down, across := stride, stride
	if stride == 0 {
		down, across = max(1, size[0]), max(1, size[1])
		stride = 1
	}
	w, err := window(in, size, stride, Valid)
	if err != nil {
		return pool{}, err
	}
	p := pool{stateless: stateless{form}, out: Shape{(w.H-w.KH)/down + 1, (w.W-w.KW)/across + 1, w.C}, cells: w.KH * w.KW, window: w, down: down, across: across}
	if total := p.out.H * p.out.W * p.cells; total > maxPoolCells {
		return pool{}, fmt.Errorf("the windows cover %d cells in total; at most %d are allowed", total, maxPoolCells)
	}
	return p, nil
}

// places returns where the first channel of each cell lies, place by place. It
// belongs to the runners: a layer without weights, as a file may claim many,
// takes no memory before it runs.
func (p *pool) places() []int {
	w := p.window
	index := make([]int, 0, p.out.H*p.out.W*p.cells)
	for y := range p.out.H {
		for x := range p.out.W {
			for k := range p.cells {
				index = append(index, ((y*p.down+k/w.KW)*w.W+x*p.across+k%w.KW)*w.C)
			}
		}
	}
	return index
}

func (p *pool) Out() Shape { return p.out }
