package nn

import (
	"fmt"

	"utvi/internal/compute/affine"
)

// A pool is what all poolings know.
type pool struct {
	Stateless
	out    Shape
	cells  int // of a window
	window affine.Window
	padded bool
}

// maxPoolCells bounds the index of a runner.
const maxPoolCells = 1 << 24

func newPool(in Shape, form Form, size [2]int, stride int, pad [4]int) (pool, error) {
	strides := [2]int{stride, stride}
	if stride == 0 {
		strides = [2]int{max(1, size[0]), max(1, size[1])}
	}
	w, err := windowing{kernel: size, stride: strides, pad: pad}.window(in)
	if err != nil {
		return pool{}, err
	}
	p := pool{Stateless: Stateless(form), cells: w.KH * w.KW, window: w, padded: pad != [4]int{}}
	p.out = Shape{w.OH, w.OW, w.C}
	if total := p.out.H * p.out.W * p.cells; total > maxPoolCells {
		return pool{}, fmt.Errorf("the windows cover %d cells in total; at most %d are allowed", total, maxPoolCells)
	}
	return p, nil
}

// places returns where the first channel of each cell lies, place by place. The cells of
// a window that lie outside of the image come last, as −1. The index belongs to the
// runners: a layer without weights, as a file may claim many, takes no memory before it
// runs.
func (p *pool) places() []int {
	w := p.window
	index := make([]int, 0, p.out.H*p.out.W*p.cells)
	for y := range p.out.H {
		for x := range p.out.W {
			for k := range p.cells {
				i, j := y*w.Down+k/w.KW-w.Top, x*w.Across+k%w.KW-w.Left
				if i >= 0 && i < w.H && j >= 0 && j < w.W {
					index = append(index, (i*w.W+j)*w.C)
				}
			}
			for len(index)%p.cells != 0 {
				index = append(index, -1)
			}
		}
	}
	return index
}

func (p *pool) Out() Shape { return p.out }
