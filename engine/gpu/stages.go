package gpu

import "utvi/internal/cuda"

// A stage is one launch of a kernel, or a few that belong together: operations on rows, a
// product, a convolution or a formula.
type stage interface {
	// result is the product that the stage computes last; nil: there is none. A function
	// behind it can become part of it.
	result() *product
	// reads returns the signals that the stage reads.
	reads() []cuda.Ptr
	// place completes its arguments, when the operations of the network lie at ops.
	place(w *weights, ops, results cuda.Ptr)
	// run queues it for a number of rows.
	run(w *weights, rows int) error
}

// rowsStage takes a few rows at a time through operations, in the kernel rows or thin or, for a
// small network, fused.
type rowsStage struct {
	list  *launches
	first rowsArgs         // of all of its operations
	call  many[rowsArgs]   // of the launch under way
	fused *many[fusedArgs] // of a small network
	thick bool             // an operation does not run in the kernel thin
	rare  bool             // one runs in the kernels for all operations only
}

// add adds an operation.
func (s *rowsStage) add(o op) {
	s.first.Count++
	s.thick = s.thick || !o.thin()
	s.rare = s.rare || o.rare()
	s.first.Per = max(s.first.Per, fewRows)
	if o.multiplies() {
		s.first.Per = rowsPerBlock
	}
}

// ops are its operations.
func (s *rowsStage) ops() []op {
	return s.list.ops[s.first.First : s.first.First+s.first.Count]
}

func (s *rowsStage) result() *product { return nil }

func (s *rowsStage) reads() (all []cuda.Ptr) {
	for _, o := range s.ops() {
		all = append(all, o.M, o.V, o.G, o.H, o.Y)
	}
	return all
}

func (s *rowsStage) place(w *weights, ops, results cuda.Ptr) {
	s.first.Ops = ops
	s.first.Control = w.control
	s.first.Results = results
}

func (s *rowsStage) run(w *weights, rows int) error { return s.runSome(w, rows, int(s.first.Count)) }

// runSome queues the first count operations, if there are any.
func (s *rowsStage) runSome(w *weights, rows, count int) error {
	if count <= 0 {
		return nil
	}
	if s.fused != nil {
		return s.runFused(w, rows, count)
	}
	r := &s.call.One
	*r = s.first
	r.Rows = int32(rows)
	r.Count = int32(count)
	if s.thick {
		kernel := pick(s.rare, w.kernels.rowsAny, w.kernels.rows)
		return launch(w, kernel, cuda.Grid{X: tiles(rows, int(r.Per))}, rowThreads, &s.call)
	}
	r.Per = pick(w.sideBySide, int32(sideBySideRows), thinRows)
	return launch(w, w.kernels.thin, cuda.Grid{X: tiles(rows, int(r.Per))}, thinThreads, &s.call)
}

// productStage is a matrix product of a dense layer, perhaps with the function behind it.
type productStage struct {
	p    product
	call many[product] // of the launch under way
	back bool
}

func (s *productStage) result() *product { return &s.p }

func (s *productStage) reads() []cuda.Ptr { return s.p.reads() }

func (s *productStage) place(_ *weights, _, results cuda.Ptr) { s.p.Results = results }

func (s *productStage) run(w *weights, rows int) error {
	s.call.One = s.p
	p := &s.call.One
	p.Rows = int32(rows)
	k := w.productKernel(p, rows, s.back)
	return launch(w, k.kernel, cuda.Grid{X: tiles(int(p.Cols), k.cols), Y: tiles(rows, k.rows)}, k.threads, &s.call)
}

func (p *product) reads() []cuda.Ptr { return []cuda.Ptr{p.A0, p.A1, p.E0, p.Q0, p.Q1} }

// fewTiles is how many tiles of 64 × 64 keep a card busy; with fewer, smaller ones are
// used.
const fewTiles = 132

// A productKernel is a kernel of products, with the sides of its tiles and the threads of a
// block.
type productKernel struct {
	kernel              cuda.Kernel
	rows, cols, threads int
}

// productKernel chooses the kernel of a product.
func (w *weights) productKernel(p *product, rows int, back bool) productKernel {
	k := w.kernels
	switch {
	case k.tilings != nil && !aligned(p):
		return productKernel{pick(back, k.backwardOdd, k.forwardOdd), oddRows, oddCols, oddThreads}
	case k.tilings != nil:
		t := w.tiling(w.sideBySide, func(t *tiling) int { return tiles(rows, t.rows) * tiles(int(p.Cols), t.cols) })
		forward := t.forward
		if p.A1 == 0 {
			forward = t.fixed
		}
		return productKernel{pick(back, t.backward, forward), t.rows, t.cols, t.threads}
	case tiles(rows, 64)*tiles(int(p.Cols), 64) < fewTiles:
		return productKernel{pick(back, k.backward32, k.forward32), 32, 32, 256}
	}
	return productKernel{pick(back, k.backward64, k.forward64), 64, 64, 256}
}

// aligned reports whether all rows of the operands begin at multiples of 16 bytes, and
// so can be copied sixteen bytes at a time.
func aligned(p *product) bool {
	return (p.A0|p.A1|p.B0|p.B1)%16 == 0 && p.Cols%4 == 0 && p.Depth%4 == 0
}

func pick[T any](first bool, a, b T) T {
	if first {
		return a
	}
	return b
}

func tiles(n, side int) int { return (n + side - 1) / side }
