package gpu

import "utvi/internal/cuda"

// A stage is one launch of a kernel: operations on rows, a wide product, a convolution,
// or a formula.
type stage struct {
	rows    *rowsArgs
	thick   bool             // an operation does not run in the kernel thin
	rare    bool             // one runs in the kernels for all operations only
	fused   *many[fusedArgs] // of a small network
	call    many[rowsArgs]   // of the launch under way
	product *product
	sent    many[product] // of the launch under way
	conv    *conv
	folded  many[conv] // of the launch under way
	back    bool
	formula *formulaLaunch
	wide    *wideStage
}

// launches cuts operations into launches: neighbours that act on rows are one.
type launches struct {
	ops  []op
	all  []stage
	kept []cuda.Ptr             // signals that are needed outside
	cuts map[cuda.Ptr][3]planes // of signals, by their means
	sums cuda.Ptr               // of the product under way, if it is cut

	chain   *chain   // all of it, if the network is a chain
	quartet *quartet // likewise
}

func (b *launches) add(o op) {
	if n := len(b.all); n == 0 || b.all[n-1].rows == nil || b.all[n-1].rows.Count == mostOps {
		b.all = append(b.all, stage{rows: &rowsArgs{First: int32(len(b.ops))}})
	}
	b.ops = append(b.ops, o)
	l := &b.all[len(b.all)-1]
	r := l.rows
	r.Count++
	l.thick, l.rare = l.thick || !o.thin(), l.rare || o.rare()
	r.Per = max(r.Per, fewRows)
	if o.multiplies() {
		r.Per = rowsPerBlock
	}
}

// last returns the product that was added last, if nothing followed it.
func (b *launches) last() *product {
	if n := len(b.all); n > 0 {
		if c := b.all[n-1].conv; c != nil {
			return &c.P
		}
		if w := b.all[n-1].wide; w != nil {
			return &w.finish.One.P
		}
		return b.all[n-1].product
	}
	return nil
}

func (b *launches) multiply(p product, back bool) {
	b.all = append(b.all, stage{product: &p, back: back})
}

// forward adds the forward operation of a layer.
func (b *launches) forward(w *weights, l *layer, o op, rows int) {
	if l.formula != nil {
		b.addFormula(l, o)
		return
	}
	if p := b.last(); p != nil && p.Fused == 0 && p.O0 == o.M && l.fusable() {
		p.Fused = 1
		p.F = o.F
		p.P0 = o.OM
		p.P1 = o.OV
		return
	}
	if l.kind == opConv && !l.folded {
		b.all = append(b.all, stage{conv: convForward(l, o)})
		b.apart(o)
		return
	}
	if !l.wide() {
		b.add(o)
		return
	}
	p := product{A0: o.M, A1: o.V, B0: o.W, B1: o.S, Cols: o.Out, Depth: o.In, O0: o.OM, O1: o.OV, E0: o.B, E1: o.BS}
	switch {
	case l.cut:
		b.multiplyCut(w, l, p, false, rows)
		return
	case l.narrow:
		b.multiplyNarrow(p, o, false)
		return
	}
	b.multiply(p, false)
}

// backward adds the reverse of a layer.
func (b *launches) backward(w *weights, l *layer, o op, rows int) {
	if p := b.last(); p != nil && p.Fused == 0 && p.O0 == o.G && l.fusable() {
		p.Fused = 1
		p.F = o.F
		p.Q0 = o.M
		p.Q1 = o.V
		p.O0 = o.DM
		p.O1 = o.DV
		return
	}
	if l.kind == opConv {
		b.all = append(b.all, stage{conv: convBackward(l, o), back: true})
		b.apartBack(o)
		return
	}
	o.Kind++
	if l.formula != nil {
		b.addFormula(l, o)
		return
	}
	if !l.wide() {
		b.add(o)
		return
	}
	p := product{A0: o.G, A1: o.H, B0: o.W, B1: o.S, Cols: o.In, Depth: o.Out, O0: o.DM, O1: o.DV, E0: o.M}
	switch {
	case l.cut:
		b.multiplyCut(w, l, p, true, rows)
		return
	case l.narrow:
		b.multiplyNarrow(p, o, true)
		return
	}
	b.multiply(p, true)
}

// place copies the operations to the card. A chain and a quartet need none there.
func (b *launches) place(w *weights, results cuda.Ptr) {
	switch {
	case b.known():
		return
	case w.fused:
		b.fuse(w)
	}
	ops := place(w.memory, b.ops, sizeOp)
	for _, l := range b.all {
		switch {
		case l.rows != nil:
			l.rows.Ops = ops
			l.rows.Control = w.control
			l.rows.Results = results
		case l.conv != nil:
			l.conv.P.Results = results
		case l.formula != nil:
			l.formula.place(ops, w.control, results)
		case l.wide != nil:
			l.wide.place(w, results)
		default:
			l.product.Results = results
		}
	}
}

// known reports whether kernels know the network: it is a chain or a quartet.
func (b *launches) known() bool { return b.chain != nil || b.quartet != nil }

// run queues all launches for a number of rows.
func (b *launches) run(w *weights, rows int) error { return b.runTo(w, rows, len(b.ops)) }

// runTo queues what comes before an operation on rows.
func (b *launches) runTo(w *weights, rows, last int) error {
	if b.chain != nil {
		return w.runChain(b.chain, rows, last)
	}
	if b.quartet != nil {
		return w.runQuartet(b.quartet, rows, last)
	}
	done := -1 // a launch that was part of the one before it
	for i := range b.all {
		if i == done {
			continue
		}
		l := &b.all[i]
		count := 0
		if l.rows != nil {
			count = min(int(l.rows.Count), last-int(l.rows.First))
			if count <= 0 {
				return nil
			}
		}
		var err error
		switch {
		case l.conv != nil:
			err = w.convolve(l, rows)
		case l.fused != nil:
			err = w.runFused(l, rows, count)
		case l.rows != nil:
			err = w.runRows(l, rows, count)
		case l.formula != nil:
			err = l.formula.run(w, rows)
		case l.wide != nil && b.scores(i, last):
			done = i + 1
			err = w.runNarrowScore(l.wide, &b.all[done], rows)
		case l.wide != nil:
			err = l.wide.run(w, rows)
		default:
			err = w.multiply(l, rows)
		}
		if err != nil || l.rows != nil && count < int(l.rows.Count) {
			return err
		}
	}
	return nil
}

// runRows queues a launch of the first count operations.
func (w *weights) runRows(l *stage, rows, count int) error {
	r := &l.call.One
	*r = *l.rows
	r.Rows, r.Count = int32(rows), int32(count)
	k, threads := pick(l.rare, w.kernels.rowsAny, w.kernels.rows), rowThreads
	if !l.thick {
		k = w.kernels.thin
		threads = thinThreads
		r.Per = thinRows
		if w.crowded {
			r.Per = crowdedRows
		}
	}
	return launch(w, k, cuda.Grid{X: tiles(rows, int(r.Per))}, threads, &l.call)
}

// fewTiles is how many tiles of 64 × 64 keep a card busy; with fewer, smaller ones are
// used.
const fewTiles = 132

func (w *weights) multiply(l *stage, rows int) error {
	l.sent.One = *l.product
	p := &l.sent.One
	p.Rows = int32(rows)
	k, y, x, threads := w.choose(p, rows, l.back)
	return launch(w, k, cuda.Grid{X: tiles(int(p.Cols), x), Y: tiles(rows, y)}, threads, &l.sent)
}

// choose returns the kernel of a wide product, the rows and columns of its tiles and the
// threads of a block.
func (w *weights) choose(p *product, rows int, back bool) (kernel cuda.Kernel, y, x, threads int) {
	k := w.kernels
	switch {
	case k.tilings != nil && !aligned(p):
		return pick(back, k.backwardOdd, k.forwardOdd), oddRows, oddCols, oddThreads
	case k.tilings != nil:
		t := w.tiling(w.crowded, func(t *tiling) int { return tiles(rows, t.rows) * tiles(int(p.Cols), t.cols) })
		forward := t.forward
		if p.A1 == 0 {
			forward = t.fixed
		}
		return pick(back, t.backward, forward), t.rows, t.cols, t.threads
	case tiles(rows, 64)*tiles(int(p.Cols), 64) < fewTiles:
		return pick(back, k.backward32, k.forward32), 32, 32, 256
	}
	return pick(back, k.backward64, k.forward64), 64, 64, 256
}

func pick[T any](first bool, a, b T) T {
	if first {
		return a
	}
	return b
}

// aligned reports whether all rows of the operands begin at multiples of 16 bytes, and
// so can be copied sixteen bytes at a time.
func aligned(p *product) bool {
	return (p.A0|p.A1|p.B0|p.B1)%16 == 0 && p.Cols%4 == 0 && p.Depth%4 == 0
}

func tiles(n, side int) int { return (n + side - 1) / side }
