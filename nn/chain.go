package nn

import (
	"errors"
	"fmt"

	"utvi/gauss"
	"utvi/internal/compute"
)

// Chain runs layers one after the other; a network is a chain.
type Chain []Layer

// Kind is "chain", as model files and the names of parameters have it.
func (Chain) Kind() string { return "chain" }

// Bind32 binds the layers in order, each to the output of the one before, and lets neighbours be computed together.
func (l Chain) Bind32(b *Binder[float32]) (Unit[float32], error) { return bindChain(l, b) }

// Bind64 is Bind32 in float64, in which gradients are checked.
func (l Chain) Bind64(b *Binder[float64]) (Unit[float64], error) { return bindChain(l, b) }

// Children returns the layers in the order in which they run.
func (l Chain) Children() []Layer { return l }

// WithChildren returns a chain of other layers.
func (l Chain) WithChildren(layers []Layer) Layer { return Chain(layers) }

type chain[T gauss.Float] struct {
	units[T]
	cov  []bool // the next unit takes the covariances of a unit's output
	in   Shape
	form Form // of the input
	k    int  // quantities that are followed; see chain_sense.go
}

func bindChain[T gauss.Float](l Chain, b *Binder[T]) (Unit[T], error) {
	if len(l) == 0 {
		return nil, errors.New("no layers; a chain needs at least 1")
	}
	c := &chain[T]{in: b.In, form: b.Form}
	defer func() { b.In, b.Form = c.in, c.form }()
	for i, layer := range l {
		if layer == nil {
			return nil, fmt.Errorf("layer %d is nil", i)
		}
		name := fmt.Sprintf("%d.%s", i, layer.Kind())
		u, err := BindChild(layer, b, name)
		if err != nil {
			if b.Name != "" {
				name = b.Name + "." + name
			}
			return nil, fmt.Errorf("layer %s (input %v): %w", name, b.In, err)
		}
		if i > 0 {
			c.cov[i-1] = b.Form == Covariant && takesCovariances(layer)
		}
		c.units, c.cov = append(c.units, u), append(c.cov, false)
		b.In, b.Form = u.Out(), u.Form()
	}
	if b.Sense {
		if err := c.checkSense(l); err != nil {
			return nil, err
		}
	}
	return c, nil
}

func (c *chain[T]) Out() Shape { return c.units[len(c.units)-1].Out() }
func (c *chain[T]) Form() Form { return c.units[len(c.units)-1].Form() }

func (c *chain[T]) NewRunner(maxRows int, train bool) Runner[T] {
	r := &chainRunner[T]{chain: c, train: train}
	r.runners = make([]Runner[T], len(c.units))
	r.passes = make([]Pass[T], len(c.units))
	r.acts = make([]gauss.Batch[T], len(c.units)-1)
	widest := c.in.Size()
	for i, u := range c.units {
		r.runners[i] = u.NewRunner(maxRows, train)
		widest = max(widest, u.Out().Size())
	}
	var spare gauss.Batch[T] // prediction needs only the last activations
	for i := range r.acts {
		switch {
		case i > 0 && inPlace(r.runners[i-1], r.runners[i]):
			r.acts[i] = r.acts[i-1]
			continue
		case train:
			r.acts[i] = newBatch[T](maxRows, c.units[i].Out().Size())
		case spare.Mean != nil:
			r.acts[i] = spare
		default:
			r.acts[i] = newBatch[T](maxRows, widest)
		}
		if i > 0 && !train {
			spare = r.acts[i-1]
		}
	}
	r.findPairs(maxRows)
	if c.k > 0 {
		r.sense = c.newSense(r.runners, maxRows, train)
	}
	r.covs, r.dcovs = make([][]T, len(c.units)), make([][]T, len(c.units))
	for i, u := range c.units {
		if n := u.Out().Size(); c.cov[i] {
			r.covs[i] = make([]T, maxRows*n*n)
			if train {
				r.dcovs[i] = make([]T, maxRows*n*n)
			}
		}
	}
	if train {
		r.grads[0], r.grads[1] = newBatch[T](maxRows, widest), newBatch[T](maxRows, widest)
	}
	return r
}

// newBatch is gauss.New in memory for what is read again and again.
func newBatch[T gauss.Float](rows, width int) gauss.Batch[T] {
	n := rows * width
	return gauss.Batch[T]{Rows: rows, Width: width, Mean: compute.Make[T](n), Var: compute.Make[T](n)}
}

type chainRunner[T gauss.Float] struct {
	*chain[T]
	train   bool
	runners []Runner[T]
	passes  []Pass[T] // of the block Forward saw last
	acts    []gauss.Batch[T]
	grads   [2]gauss.Batch[T]
	covs    [][]T // covariances of the units' outputs, where they are taken
	dcovs   [][]T // their gradients
	outer   bool  // the first two units are computed together; see chain_pair.go
	one     int   // a unit that leaves Backward to the one before; 0: none
	sense   *chainSense[T]
	blocks  []Block[T]
}

// inPlace reports whether a runner may write its output over its input, the output of the
// runner before: neither of them needs that in Backward. Networks whose activations take
// less room stay in a nearer cache.
func inPlace[T gauss.Float](before, r Runner[T]) bool {
	_, dense := before.(*denseRunner[T])
	a, apply := r.(*applyRunner[T])
	return dense && apply && a.inPlace()
}

// view returns the first rows of a buffer, as a batch of the given width and form.
func view[T gauss.Float](b gauss.Batch[T], rows, width int, form Form) gauss.Batch[T] {
	v := gauss.Batch[T]{Rows: rows, Width: width, Mean: b.Mean[:rows*width]}
	if form != Fixed {
		v.Var = b.Var[:rows*width]
	}
	return v
}

func (r *chainRunner[T]) Forward(p *Pass[T]) {
	rows, tape := p.In.Rows, p.Tape
	for i, u := range r.units {
		q := &r.passes[i]
		q.Seed = p.Seed
		q.Step = p.Step
		q.Row = p.Row
		q.Out = p.Out
		if i < len(r.acts) {
			q.Out = view(r.acts[i], rows, u.Out().Size(), u.Form())
			if r.cov[i] {
				q.Out.Cov = r.covs[i][:rows*q.Out.Width*q.Out.Width]
			}
		}
		if r.train {
			n := rows * u.TapeWidth()
			q.Tape, tape = tape[:n], tape[n:]
		}
	}
	r.outOnTape(rows)
	if r.outer {
		r.forwardOuter(p)
	}
	for i := range r.units {
		if r.outer && i < 2 {
			continue
		}
		q := &r.passes[i]
		q.In = p.In
		if i > 0 {
			q.In = r.passes[i-1].Out
		}
		r.runners[i].Forward(q)
	}
}

// outOnTape lets units write their outputs onto the tape of the dense layer behind them, where
// that needs them.
func (r *chainRunner[T]) outOnTape(rows int) {
	for i := range r.acts {
		d, dense := r.runners[i+1].(*denseRunner[T])
		if !r.train || !dense {
			continue
		}
		out := &r.passes[i].Out
		m, v := d.dense.TapeInput(r.passes[i+1].Tape, rows)
		if m == nil {
			continue
		}
		place := func(b *gauss.Batch[T]) {
			b.Mean = m
			if b.Var != nil {
				b.Var = v
			}
		}
		place(out)
		if i > 0 && inPlace(r.runners[i-1], r.runners[i]) {
			place(&r.passes[i-1].Out)
		}
	}
}

// gradOnTape is where the gradient by the output of a unit goes: onto the tape of a dense layer,
// where that needs it, or to a buffer. It may be wanted in panels there, if the unit behind is a
// nonlinearity.
func (r *chainRunner[T]) gradOnTape(i, rows, width int) (to gauss.Batch[T], panels bool) {
	to = view(r.grads[(i+1)%2], rows, width, r.units[i].Form())
	if i == 1 && r.outer {
		to.Mean, to.Var = r.outerGradient(rows)
		return to, false
	}
	d, dense := r.runners[i].(*denseRunner[T])
	if !dense {
		return to, false
	}
	g, h := d.dense.TapeGradient(r.passes[i].Tape, rows)
	if a, apply := r.runners[i+1].(*applyRunner[T]); g == nil && apply && a.pair != nil && rows > 0 {
		g, h = d.dense.TapePanels(r.passes[i].Tape, rows)
		panels = g != nil
	}
	if g != nil {
		to.Mean = g
		if to.Var != nil {
			to.Var = h
		}
	}
	return to, panels
}

func (r *chainRunner[T]) Backward(p *Pass[T]) {
	rows, out := p.DOut.Rows, p.DOut
	r.passes[0].DIn = p.DIn
	for i := len(r.units) - 1; i >= 0; i-- {
		q := &r.passes[i]
		q.DOut, q.DIn = out, p.DIn
		if i > 0 {
			q.DIn, q.panels = r.gradOnTape(i-1, rows, q.In.Width)
			if r.cov[i-1] {
				q.DIn.Cov = r.dcovs[i-1][:rows*q.In.Width*q.In.Width]
			}
		}
		if !r.backwardPair(q, i, rows) {
			r.runners[i].Backward(q)
		}
		out = q.DIn
	}
}

func (r *chainRunner[T]) Prepare(tile int) { r.prepare(r.runners, tile) }

func (r *chainRunner[T]) Gradient(tile int, blocks []Block[T]) {
	r.blocks = r.gradient(r.runners, tile, blocks, r.blocks)
}
