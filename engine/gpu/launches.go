package gpu

import "utvi/internal/cuda"

// rowsPerBlock is how many rows a block of the kernel rows takes.
const rowsPerBlock = 8

// A launch is one kernel: operations on rows, or a wide product.
type launch struct {
	rows    *rowsArgs
	product *product
	back    bool
}

// launches cuts operations into launches: neighbours that act on rows are one.
type launches struct {
	ops []op
	all []launch
}

func (b *launches) add(o op) {
	if n := len(b.all); n == 0 || b.all[n-1].rows == nil {
		b.all = append(b.all, launch{rows: &rowsArgs{First: int32(len(b.ops))}})
	}
	b.ops = append(b.ops, o)
	b.all[len(b.all)-1].rows.Count++
}

func (b *launches) multiply(p product, back bool) {
	b.all = append(b.all, launch{product: &p, back: back})
}

// forward adds the forward operation of a layer.
func (b *launches) forward(l *layer, o op) {
	if !l.wide() {
		b.add(o)
		return
	}
	b.multiply(product{A0: o.M, A1: o.V, B0: o.W, B1: o.S, Cols: o.Out, Depth: o.In, O0: o.OM, O1: o.OV, E0: o.B, E1: o.BS}, false)
}

// backward adds the reverse of a layer.
func (b *launches) backward(l *layer, o op) {
	o.Kind++
	if !l.wide() {
		b.add(o)
		return
	}
	b.multiply(product{A0: o.G, A1: o.H, B0: o.W, B1: o.S, Cols: o.In, Depth: o.Out, O0: o.DM, O1: o.DV, E0: o.M}, true)
}

// place copies the operations to the card.
func (b *launches) place(w *weights, results cuda.Ptr) {
	ops := place(w.memory, b.ops, sizeOp)
	for _, l := range b.all {
		if l.rows != nil {
			l.rows.Ops, l.rows.Control, l.rows.Results = ops, w.control, results
		} else {
			l.product.Results = results
		}
	}
}

// run queues all launches for a number of rows.
func (b *launches) run(w *weights, rows int) error {
	for _, l := range b.all {
		var err error
		if l.rows != nil {
			l.rows.Rows = int32(rows)
			err = cuda.Launch(w.stream, w.kernels.rows, cuda.Grid{X: (rows + rowsPerBlock - 1) / rowsPerBlock}, 256, l.rows)
		} else {
			err = w.multiply(l.product, rows, l.back)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// fewTiles is how many tiles of 64 × 64 keep a card busy; with fewer, smaller ones are
// used.
const fewTiles = 132

func (w *weights) multiply(p *product, rows int, back bool) error {
	p.Rows = int32(rows)
	side, k := 64, w.kernels.forward64
	if back {
		k = w.kernels.backward64
	}
	if tiles(rows, side)*tiles(int(p.Cols), side) < fewTiles {
		if side, k = 32, w.kernels.forward32; back {
			k = w.kernels.backward32
		}
	}
	return cuda.Launch(w.stream, k, cuda.Grid{X: tiles(int(p.Cols), side), Y: tiles(rows, side)}, 256, p)
}

func tiles(n, side int) int { return (n + side - 1) / side }
