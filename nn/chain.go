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
	parts := b.Parts // the first layer joins them
	defer func() { b.In, b.Form = c.in, c.form }()
	for i, layer := range l {
		if layer == nil {
			return nil, fmt.Errorf("layer %d is nil", i)
		}
		name := fmt.Sprintf("%d.%s", i, layer.Kind())
		u, err := bindReader(layer, b, name, parts)
		parts = nil
		if err != nil {
			if b.Name != "" {
				name = b.Name + "." + name
			}
			return nil, fmt.Errorf("layer %s (input %v): %w", name, b.In, err)
		}
		if i > 0 {
			c.cov[i-1] = b.Form == Covariant && takesCovariances(layer)
		}
		c.units = append(c.units, u)
		c.cov = append(c.cov, false)
		b.In, b.Form = u.Out(), u.Form()
	}
	if b.Sense {
		if err := c.checkSense(l); err != nil {
			return nil, err
		}
		return c, nil
	}
	units, ends := fuse(c.units)
	for i, end := range ends {
		c.cov[i] = c.cov[end]
	}
	c.units = units
	c.cov = c.cov[:len(units)]
	return c, nil
}

func (c *chain[T]) Out() Shape { return c.units[len(c.units)-1].Out() }
func (c *chain[T]) Form() Form { return c.units[len(c.units)-1].Form() }

func (c *chain[T]) NewRunner(maxRows int, train bool) Runner[T] {
	r := &chainRunner[T]{chain: c, train: train}
	r.runners = make([]Runner[T], len(c.units))
	r.passes = make([]Pass[T], len(c.units))
	widest := c.in.Size()
	for i, u := range c.units {
		r.runners[i] = u.NewRunner(maxRows, train)
		widest = max(widest, u.Out().Size())
	}
	buffer := func() gauss.Batch[T] { return newBatch[T](maxRows, widest) }
	linkAll(r.runners, buffer)
	r.signals = c.newSignals(r.runners, maxRows, train, buffer)
	if c.k > 0 {
		r.sense = c.newSense(r.runners, maxRows, train)
	}
	if train {
		r.grads[0] = buffer()
		r.grads[1] = buffer()
	}
	return r
}

// newBatch is gauss.New in memory for what is read again and again.
func newBatch[T gauss.Float](rows, width int) gauss.Batch[T] {
	n := rows * width
	return gauss.Batch[T]{Rows: rows, Width: width, Mean: compute.Make[T](n), Var: compute.Make[T](n)}
}

// A signal is what goes from one unit to the next.
type signal[T gauss.Float] struct {
	buffer    gauss.Batch[T]
	width     int
	form      Form
	cov, dcov []T               // covariances and their gradients, where they are taken
	behind    inputPlacer[T]    // the runner that reads it, if it may have a place for it; nil in prediction
	before    gradientPlacer[T] // the runner that made it, if it may have a place for the gradient
}

// newSignals returns the signals between the units. Prediction needs only the last: two buffers
// are used in turn.
func (c *chain[T]) newSignals(runners []Runner[T], maxRows int, train bool, buffer func() gauss.Batch[T]) []signal[T] {
	signals := make([]signal[T], len(c.units)-1)
	for i := range signals {
		u := c.units[i]
		s := &signals[i]
		s.width = u.Out().Size()
		s.form = u.Form()
		switch {
		case train:
			s.buffer = newBatch[T](maxRows, s.width)
			s.behind, _ = runners[i+1].(inputPlacer[T])
			s.before, _ = runners[i].(gradientPlacer[T])
		case i < 2:
			s.buffer = buffer()
		default:
			s.buffer = signals[i-2].buffer
		}
		if !c.cov[i] {
			continue
		}
		s.cov = make([]T, maxRows*s.width*s.width)
		if train {
			s.dcov = make([]T, maxRows*s.width*s.width)
		}
	}
	return signals
}

// moments is the signal of a block of rows; tape is that of the unit behind.
func (s *signal[T]) moments(rows int, tape []T) gauss.Batch[T] {
	b := view(s.buffer, rows, s.width, s.form)
	if s.behind != nil {
		mean, variance := s.behind.inputPlace(tape, rows)
		b = placed(b, mean, variance)
	}
	if s.cov != nil {
		b.Cov = s.cov[:rows*s.width*s.width]
	}
	return b
}

// gradient is the gradient by the signal, in a buffer or at a place on the tape of the unit
// before.
func (s *signal[T]) gradient(buffer gauss.Batch[T], rows int, tape []T) gauss.Batch[T] {
	b := view(buffer, rows, s.width, s.form)
	if s.before != nil {
		mean, variance := s.before.gradientPlace(tape, rows)
		b = placed(b, mean, variance)
	}
	if s.dcov != nil {
		b.Cov = s.dcov[:rows*s.width*s.width]
	}
	return b
}

// view returns the first rows of a buffer, as a batch of the given width and form.
func view[T gauss.Float](b gauss.Batch[T], rows, width int, form Form) gauss.Batch[T] {
	v := gauss.Batch[T]{Rows: rows, Width: width, Mean: b.Mean[:rows*width]}
	if form != Fixed {
		v.Var = b.Var[:rows*width]
	}
	return v
}

type chainRunner[T gauss.Float] struct {
	*chain[T]
	train   bool
	runners []Runner[T]
	passes  []Pass[T]   // of the block Forward saw last
	signals []signal[T] // behind every unit but the last
	grads   [2]gauss.Batch[T]
	sense   *chainSense[T]
	blocks  []Block[T]
}

func (r *chainRunner[T]) Forward(p *Pass[T]) {
	rows, tape := p.In.Rows, p.Tape
	for i, u := range r.units {
		q := &r.passes[i]
		q.Seed = p.Seed
		q.Step = p.Step
		q.Row = p.Row
		if r.train {
			n := rows * u.TapeWidth()
			q.Tape, tape = tape[:n], tape[n:]
		}
	}
	for i := range r.signals {
		r.passes[i].Out = r.signals[i].moments(rows, r.passes[i+1].Tape)
	}
	r.passes[len(r.signals)].Out = p.Out
	in := p.In
	for i, runner := range r.runners {
		q := &r.passes[i]
		q.In = in
		runner.Forward(q)
		in = q.Out
	}
}

func (r *chainRunner[T]) Backward(p *Pass[T]) {
	out := p.DOut
	for i := len(r.units) - 1; i >= 0; i-- {
		q := &r.passes[i]
		q.DOut = out
		q.DIn = p.DIn
		if i > 0 {
			q.DIn = r.signals[i-1].gradient(r.grads[i%2], out.Rows, r.passes[i-1].Tape)
		}
		r.runners[i].Backward(q)
		out = q.DIn
	}
}

func (r *chainRunner[T]) Prepare(tile int) { r.prepare(r.runners, tile) }

func (r *chainRunner[T]) Gradient(tile int, blocks []Block[T]) {
	r.blocks = r.gradient(r.runners, tile, blocks, r.blocks)
}
