package nn

import (
	"utvi/gauss"
	"utvi/internal/compute"
	"utvi/internal/compute/kernel"
	"utvi/moment"
)

// activated is a dense layer and the leaky ReLU behind it, by a rule of three points, as one
// unit. In between
//
//   - outputs are written over the dense layer's, where neither layer needs those again;
//   - the gradients by the dense layer's outputs go to its tape at once, in the order in which
//     its products read them;
//   - with AVX-512, a dense layer of one fixed input and the function are one kernel each way, so
//     that what lies between is never written;
//   - with AVX-512, the way back through a layer of one output behind the function is left to
//     the function's kernel.
//
// Next to thin layers, to move numbers takes longer than to compute them again.
type activated[T gauss.Float] struct {
	*dense[T] // shapes, tape and tiles are its own: the function has no parameters
	apply     *apply[T]
}

// activate returns both units as one; nil where they are not a dense layer and such a function.
func activate[T gauss.Float](first, second Unit[T]) Unit[T] {
	d, ok := first.(*dense[T])
	if !ok || d.apart != nil {
		return nil
	}
	a, ok := second.(*apply[T])
	if !ok || a.cov || a.sense || !a.takesTurns() || a.TapeWidth() > 0 || !moment.InPlace[T](a.f, a.rule) {
		return nil
	}
	return &activated[T]{d, a}
}

func (u *activated[T]) Form() Form { return u.apply.Form() }

func (u *activated[T]) NewRunner(maxRows int, train bool) Runner[T] {
	r := &activatedRunner[T]{
		dense:   u.dense.NewRunner(maxRows, train).(*denseRunner[T]),
		apply:   u.apply.NewRunner(maxRows, train).(*applyRunner[T]),
		maxRows: maxRows,
		train:   train,
	}
	if u.in == Fixed && u.dense.dense.Outer() {
		r.outer = u.apply.leakyPair()
	}
	if train && r.apply.pair != nil {
		r.between = newBatch[T](maxRows, u.dense.dense.Out)
	}
	return r
}

type activatedRunner[T gauss.Float] struct {
	dense   *denseRunner[T]
	apply   *applyRunner[T]
	maxRows int
	train   bool

	between gauss.Batch[T] // the dense layer's outputs; none: they are written over
	room    gauss.Batch[T] // for the gradient by those, where it has no place on the tape
	first   Pass[T]        // of the dense layer
	second  Pass[T]        // of the function

	outer   *kernel.LeakyPair // both layers are one kernel; nil: they are not
	squares []T               // of the outputs of that kernel, where nobody wants them
	reader  *denseRunner[T]   // it wants those squares
	last    *denseRunner[T]   // it has one output and leaves its way back to this runner
}

// link finds out what the layer behind wants, and what it leaves to this one.
func (r *activatedRunner[T]) link(next Runner[T], room gauss.Batch[T]) {
	r.room = room
	if r.outer != nil {
		r.reader = denseOf(next)
		if r.reader == nil || !r.reader.dense.SquaresOnTape() {
			r.reader = nil
			r.squares = compute.Make[T](r.maxRows * r.dense.dense.Out)
			return
		}
		r.reader.squared = true
		r.reader.squares = r.reader.scratch
		return
	}
	if d, ok := next.(*denseRunner[T]); ok && r.apply.pair != nil && d.dense.Fuses() && r.dense.dense.Panels(r.maxRows) {
		d.leavesBackward = true
		r.last = d
	}
}

// denseOf returns the dense layer that a runner begins with; nil if it begins with another one.
func denseOf[T gauss.Float](r Runner[T]) *denseRunner[T] {
	switch r := r.(type) {
	case *denseRunner[T]:
		return r
	case *activatedRunner[T]:
		return r.dense
	}
	return nil
}

func (r *activatedRunner[T]) Prepare(tile int) { r.dense.Prepare(tile) }

func (r *activatedRunner[T]) inputPlace(tape []T, rows int) (mean, variance []T) {
	return r.dense.inputPlace(tape, rows)
}

// gradientPlace: where both layers are one kernel, Gradient takes the way back through the function.
func (r *activatedRunner[T]) gradientPlace(tape []T, rows int) (mean, variance []T) {
	if r.outer == nil {
		return nil, nil
	}
	return r.dense.gradientPlace(tape, rows)
}

func (r *activatedRunner[T]) Forward(p *Pass[T]) {
	rows := p.In.Rows
	if r.outer != nil {
		squares := r.squares
		if r.reader != nil {
			squares = r.reader.squares
		}
		r.dense.dense.ForwardOuter(r.outer, p.Tape, rows, p.In.Mean, p.Out.Mean, p.Out.Var, squares)
		return
	}
	z := p.Out
	if r.between.Mean != nil {
		z = view(r.between, rows, z.Width, Independent)
	}
	r.first = *p
	r.first.Out = z
	r.dense.Forward(&r.first)
	r.second = *p
	r.second.In = z
	r.apply.Forward(&r.second)
}

func (r *activatedRunner[T]) Backward(p *Pass[T]) {
	if r.outer != nil {
		r.backwardOuter(p)
		return
	}
	rows := p.DOut.Rows
	g, panels := r.gradientBetween(p.Tape, rows, p.DOut.Width)
	z := r.second.In
	switch n := rows * p.DOut.Width; {
	case r.last != nil && rows > 0:
		r.last.dense.BackwardPair(r.apply.pair, rows, z.Mean, z.Var, p.Out.Mean, r.last.left.Mean, r.last.left.Var, g.Mean, g.Var)
	case panels:
		kernel.PullPair(r.apply.pair, z.Mean[:n], z.Var[:n], p.DOut.Mean[:n], p.DOut.Var[:n], g.Mean[:n], g.Var[:n], rows)
	default:
		r.second.DOut = p.DOut
		r.second.DIn = g
		r.apply.Backward(&r.second)
	}
	r.first.DOut = g
	r.first.DIn = p.DIn
	r.dense.Backward(&r.first)
}

// gradientBetween is where the gradient by the dense layer's outputs goes: onto its tape, perhaps
// in panels, or to the room.
func (r *activatedRunner[T]) gradientBetween(tape []T, rows, width int) (to gauss.Batch[T], panels bool) {
	to = view(r.room, rows, width, Independent)
	g, h := r.dense.gradientPlace(tape, rows)
	if g == nil && r.apply.pair != nil && rows > 0 {
		g, h = r.dense.dense.TapePanels(tape, rows)
		panels = g != nil
	}
	return placed(to, g, h), panels
}

// backwardOuter leaves the gradients by the outputs on the tape, where Gradient goes on. If
// somebody wants the gradient by the input, what lies between is computed after all.
func (r *activatedRunner[T]) backwardOuter(p *Pass[T]) {
	d := r.dense.dense
	rows := p.DOut.Rows
	d.RecordGradient(p.Tape, rows, p.DOut.Mean, p.DOut.Var)
	if p.DIn.Mean == nil {
		return
	}
	z := view(r.between, rows, p.DOut.Width, Independent)
	d.Forward(rows, p.In.Mean, nil, z.Mean, z.Var, r.dense.scratch)
	g := view(r.room, rows, p.DOut.Width, Independent)
	r.second = Pass[T]{In: z, DOut: p.DOut, DIn: g}
	r.apply.Backward(&r.second)
	d.Backward(rows, p.In.Mean, g.Mean, g.Var, p.DIn.Mean, p.DIn.Var, r.dense.scratch)
}

func (r *activatedRunner[T]) Gradient(tile int, blocks []Block[T]) {
	if r.outer == nil {
		r.dense.Gradient(tile, blocks)
		return
	}
	if tile == 0 { // the kernel goes through whole rows: one tile sums all outputs, the others none
		d := r.dense
		d.dense.GradientOuter(r.outer, d.tapes(blocks), d.gradients(), d.grad)
	}
}

func (r *activatedRunner[T]) share(pool *compute.Pool) { r.dense.share(pool) }
