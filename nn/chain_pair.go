package nn

import "utvi/gauss"

// With AVX-512, two pairs of units are computed together, so that what lies between them is never
// written: a dense layer of one fixed input and the leaky ReLU behind it, and the way back through
// a dense layer of one output and the leaky ReLU before it. Next to such thin layers, to move
// numbers takes longer than to compute them again.

// findPairs finds the units that are computed together.
func (r *chainRunner[T]) findPairs(maxRows int) {
	n := len(r.units)
	if n < 3 || r.k > 0 {
		return
	}
	first, dense := r.runners[0].(*denseRunner[T])
	a, apply := r.runners[1].(*applyRunner[T])
	next, tape := r.runners[2].(*denseRunner[T])
	if dense && apply && tape && first.in == Fixed && first.dense.Outer() {
		first.pair = a.leakyPair()
		r.outer = first.pair != nil
		next.squared = r.outer && next.dense.SquaresOnTape()
	}
	if !r.train {
		return
	}
	last, dense := r.runners[n-1].(*denseRunner[T])
	a, apply = r.runners[n-2].(*applyRunner[T])
	before, panels := r.runners[n-3].(*denseRunner[T])
	if dense && apply && panels && last.dense.Fuses() && a.pair != nil && before.dense.Panels(maxRows) {
		r.one = n - 1
	}
}

// forwardOuter runs the first two units forward.
func (r *chainRunner[T]) forwardOuter(p *Pass[T]) {
	d, q := r.runners[0].(*denseRunner[T]), &r.passes[0]
	q.In, r.passes[1].In = p.In, q.Out
	out, rows := r.passes[1].Out, p.In.Rows
	next := r.runners[2].(*denseRunner[T])
	squares := next.scratch // where predictions need them; else nobody reads them
	if r.train && next.squared {
		squares = next.dense.TapeSquares(r.passes[2].Tape, rows)
	}
	d.dense.ForwardOuter(d.pair, q.Tape, rows, p.In.Mean, out.Mean, out.Var, squares)
}

// outerGradient is where the gradient by the output of the first two units goes: Gradient takes
// the way back through the second one.
func (r *chainRunner[T]) outerGradient(rows int) (mean, variance []T) {
	return r.runners[0].(*denseRunner[T]).dense.TapeGradient(r.passes[0].Tape, rows)
}

// backwardPair runs unit i backward if it is computed together with another one, and reports
// whether it is.
func (r *chainRunner[T]) backwardPair(q *Pass[T], i, rows int) bool {
	switch {
	case i == 1 && r.outer:
		if r.passes[0].DIn.Mean == nil {
			return true
		}
		// Somebody wants the gradient by the input: what lies between is needed after all.
		d, z := r.runners[0].(*denseRunner[T]), r.passes[0].Out
		d.dense.Forward(rows, r.passes[0].In.Mean, nil, z.Mean, z.Var, d.scratch)
		q.DIn = view(r.grads[0], rows, q.In.Width, Independent)
		return false
	case i == 0 && r.outer:
		if q.DIn.Mean != nil {
			d := r.runners[0].(*denseRunner[T])
			d.dense.Backward(rows, q.In.Mean, q.DOut.Mean, q.DOut.Var, q.DIn.Mean, q.DIn.Var, d.scratch)
		}
		return true
	case i == r.one && i > 0 && rows > 0:
		q.DIn = gauss.Batch[T]{} // it records its gradients
		return false
	case i == r.one-1 && i > 0 && rows > 0:
		d, back := r.runners[i+1].(*denseRunner[T]), &r.passes[i+1]
		d.dense.BackwardPair(r.runners[i].(*applyRunner[T]).pair, rows, q.In.Mean, q.In.Var, q.Out.Mean,
			back.DOut.Mean, back.DOut.Var, q.DIn.Mean, q.DIn.Var)
		return true
	}
	return false
}
