package nn

import (
	"utvi/gauss"
	"utvi/internal/compute/affine"
)

// A projection is a product with weights that are used at every time, of the inputs or of a slot.
//
// Where weights are taken as drawn anew each time, it is a dense layer whose rows are
// the times of all rows. Where correlations are carried, it is a convolution over time with
// a window of one place, whose weights are shared by all places.
type projection[T gauss.Float] struct {
	linear *linear[T]
	dense  *dense[T]             // weights drawn anew each time
	conv   *conv[T]              // weights drawn once
	places *affine.Conv[T]       // of conv
	step   *affine.DenseApart[T] // beside conv: one time alone, where the input of the next one is not known yet
	times  int
}

// bindProjection declares the weights from features to gates. With stepped, the product is that
// of one time after the other.
func bindProjection[T gauss.Float](c *recurrentCell, b *Binder[T], form Form, features, gates int, stepped bool) (projection[T], error) {
	outer := b.Form
	b.Form = form
	lin, err := declare(b, c.fixed, c.noBias, features, gates*c.units, features)
	b.Form = outer
	p := projection[T]{times: b.In.W}
	if err != nil {
		return p, err
	}
	out := gates * c.units
	if !b.Sense || lin.Form() == Fixed {
		p.dense = &dense[T]{linear: lin, dense: affine.NewDense[T](features, out, lin.weight.Random, b.Train)}
		p.dense.product = p.dense.dense
		p.linear = &p.dense.linear
		return p, nil
	}
	shape := Shape{1, p.times, features}
	w := affine.Window{H: 1, W: p.times, C: features, KH: 1, KW: 1, Down: 1, Across: 1, Rise: 1, Run: 1, OH: 1, OW: p.times, Groups: 1}
	p.conv = &conv[T]{linear: lin, shape: shape, out: Shape{1, p.times, out}, apart: true}
	p.places = affine.NewConvApart[T](w, out, lin.weight.Random)
	p.conv.conv = p.places
	p.conv.product = p.places
	p.linear = &p.conv.linear
	if stepped {
		p.step = affine.NewDenseApart[T](features, out, lin.weight.Random, true)
	}
	return p, nil
}

func (p *projection[T]) tapeWidth() int {
	if p.dense != nil {
		return p.times * p.dense.TapeWidth()
	}
	return p.conv.TapeWidth()
}

func (p *projection[T]) gradTiles() int { return p.linear.GradTiles() }

func (p *projection[T]) prepareTiles() int {
	n := p.linear.PrepareTiles()
	if p.step != nil {
		n += p.step.PrepareTiles()
	}
	return n
}

// projectionRunner is the part of a runner for one projection.
type projectionRunner[T gauss.Float] struct {
	*projection[T]
	runner   Runner[T]
	dense    *denseRunner[T] // one of the two
	conv     *convSenser[T]
	pass     Pass[T] // of conv, for a matrix
	scratch  []T
	injected []T // what the weights of step add
	blocks   []Block[T]
	in       gauss.Batch[T] // of all rows and times, for the gradients; rows × times·features
	grad     gauss.Batch[T] // by the outputs, likewise
	tape     []T            // of the block at work

	sensed[T]
}

func (p *projection[T]) newRunner(maxRows int, train bool) projectionRunner[T] {
	r := projectionRunner[T]{projection: p}
	if p.dense != nil {
		r.dense = p.dense.NewRunner(maxRows*p.times, train).(*denseRunner[T])
		r.runner = r.dense
		r.scratch = r.dense.scratch
		return r
	}
	r.conv = p.conv.NewRunner(maxRows, train).(*convSenser[T])
	r.runner = r.conv
	if p.step != nil {
		r.injected = make([]T, maxRows*p.step.Out)
		r.scratch = make([]T, max(p.step.Scratch(maxRows), p.step.PrepareScratch(), maxRows*p.step.In))
	}
	return r
}

// Prepare prepares a tile of the weights.
func (r *projectionRunner[T]) Prepare(tile int) {
	n := r.linear.PrepareTiles()
	if tile < n {
		r.runner.Prepare(tile)
		return
	}
	r.step.Prepare(tile-n, r.linear.weight.Mean, r.linear.weight.Rho, r.scratch)
	if bias := r.linear.bias; tile == n && bias != nil {
		r.step.PrepareBias(bias.Mean, bias.Rho)
	}
}

// Gradient computes a tile of the gradients; before is the width of the tapes before this one.
func (r *projectionRunner[T]) Gradient(tile int, blocks []Block[T], before int) {
	times := 1
	if r.dense != nil {
		times = r.times
	}
	r.blocks = r.blocks[:0]
	for _, b := range blocks {
		r.blocks = append(r.blocks, Block[T]{Rows: b.Rows * times, Tape: b.Tape[b.Rows*before:][:b.Rows*r.tapeWidth()]})
	}
	r.runner.Gradient(tile, r.blocks)
}

// virtual is a batch of rows × times·width as its runner takes it.
func (r *projectionRunner[T]) virtual(b gauss.Batch[T]) gauss.Batch[T] {
	if r.dense != nil {
		b.Rows *= r.times
		b.Width /= r.times
	}
	return b
}
