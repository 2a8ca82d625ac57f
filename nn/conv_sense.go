package nn

import (
	"utvi/gauss"
	"utvi/internal/compute/affine"
	"utvi/internal/compute/kernel"
)

// senseSlider is the part of a slider that carries correlations.
type senseSlider[T gauss.Float] interface {
	NewSense() *affine.ConvSense[T]
	Follow(k int, inputs bool)
	Kept() int
	Weights() int
	Biases() int
	ForwardApart(x *affine.ConvSense[T], tape, m, v, mo, vo, j []T)
	Followed(tape []T, k int) affine.FollowTape[T]
	Weighed(tape []T) []T
	Seen(x *affine.ConvSense[T], tape, a, q, sums []T)
	RecordSense(tape []T, k int, a []T)
	SenseBack(x *affine.ConvSense[T], a, in []T)
	Shared(q, sums, q2, sums2 []T) float64
	Variances() (weights, biases []T)
	SharedBack(x *affine.ConvSense[T], tape, m, a, e, eb, da, dm []T)
	SenseForward(x *affine.ConvSense[T], tape, b, out []T)
	RecordApart(tape, g, h, d []T)
	BackwardApart(x *affine.ConvSense[T], tape, m, g, h, d, dm, dv []T)
}

// Follow implements Sensitive.
func (u *conv[T]) Follow(k int) {
	u.k = k
	u.conv.Follow(k, u.in != Fixed)
}

// convSenser is a convolution that carries correlations: its weights are shared by all
// places of an image, so that what they add is not independent from place to place; see
// compute.Conv.
type convSenser[T gauss.Float] struct {
	convRunner[T]
	unit  *conv[T]
	sense *affine.ConvSense[T]
	kept  []T // the tape of every image in prediction
	j, dj []T // v·s of every output, and the gradient by it
	q     []T // what each quantity sees of the weights, where there is no tape
	sums  []T
	e, eb []T // gradients by q and sums
	xm    []T // gradients by the images' means, that Backward adds
}

func newConvSenser[T gauss.Float](r convRunner[T], u *conv[T], maxRows int, train bool) *convSenser[T] {
	c := u.conv
	s := &convSenser[T]{convRunner: r, unit: u, sense: c.NewSense(), j: make([]T, maxRows*u.out.Size())}
	if train {
		s.dj, s.xm = make([]T, len(s.j)), make([]T, maxRows*u.shape.Size())
		s.e, s.eb = make([]T, c.Weights()), make([]T, c.Biases())
	} else {
		s.kept = make([]T, maxRows*c.Kept())
		s.q, s.sums = make([]T, u.k*c.Weights()), make([]T, u.k*c.Biases())
	}
	return s
}

// tapeOf is the tape of an image, or what takes its place in prediction.
func (r *convSenser[T]) tapeOf(p *Pass[T], i int) []T {
	if r.train {
		return p.Tape[i*r.conv.TapeWidth():]
	}
	return r.kept[i*r.conv.Kept():][:r.conv.Kept()]
}

// seen is where q and the sums of quantity k are kept.
func (r *convSenser[T]) seen(tape []T, k int) (q, sums []T) {
	if r.train {
		f := r.conv.Followed(tape, k)
		return f.Q, f.Sums
	}
	n, biases := r.conv.Weights(), r.conv.Biases()
	return r.q[k*n:][:n], r.sums[k*biases:][:biases]
}

func (r *convSenser[T]) Forward(p *Pass[T]) {
	for i := range p.In.Rows {
		in, out := p.In.Slice(i, i+1), p.Out.Slice(i, i+1)
		r.conv.ForwardApart(r.sense, r.tapeOf(p, i), in.Mean, in.Var, out.Mean, out.Var, r.j[i*out.Width:][:out.Width])
	}
}

func (r *convSenser[T]) Sense(s *Sense[T]) {
	out, in := r.unit.out.Size(), r.unit.shape.Size()
	for i := range s.Rows {
		tape := r.tapeOf(s.Pass, i)
		for k := range s.K {
			a := s.Out[(i*s.K+k)*out:][:out]
			q, sums := r.seen(tape, k)
			r.conv.Seen(r.sense, tape, a, q, sums)
			r.weigh(s, i, k, q, sums)
			if r.train {
				r.conv.RecordSense(tape, k, a)
			}
			if s.In != nil {
				r.conv.SenseBack(r.sense, a, s.In[(i*s.K+k)*in:][:in])
			}
			for l := s.from(k); l <= k; l++ {
				q2, sums2 := r.seen(tape, l)
				s.add(i, k, l, r.conv.Shared(q, sums, q2, sums2))
			}
		}
	}
	if r.in != Fixed {
		s.AddVariances(r.j, out)
	}
}

// weigh tells what quantity k of row i sees of the weights.
func (r *convSenser[T]) weigh(s *Sense[T], i, k int, q, sums []T) {
	if s.Weigher == nil || !r.weight.Random {
		return
	}
	s.Weigher.Direct(s, r.weight, i, k, q)
	if r.bias != nil {
		s.Weigher.Direct(s, r.bias, i, k, sums)
	}
}

func (r *convSenser[T]) SenseBack(s *Sense[T]) {
	out, in := r.unit.out.Size(), r.unit.shape.Size()
	clear(s.BOut)
	clear(r.dj)
	if r.in != Fixed {
		s.AddVariancesBack(r.j, r.dj, out)
	}
	variances, biases := r.conv.Variances()
	for i := range s.Rows {
		tape := r.tapeOf(s.Pass, i)
		h := r.conv.Weighed(tape)
		m, xm := s.Pass.In.Mean[i*in:][:in], r.xm[i*in:][:in]
		clear(xm)
		for at := range h {
			h[at] = 0
			if at/s.K == at%s.K || !s.Diagonal {
				h[at] = T(s.DCov[i*s.K*s.K+at])
			}
		}
		for k := range s.K {
			at := i*s.K + k
			clear(r.e)
			clear(r.eb)
			for l := range s.K {
				q, sums := r.seen(tape, l)
				if w := 2 * h[k*s.K+l]; w != 0 {
					weigh(r.e, w, variances, q)
					weigh(r.eb, w, biases, sums)
				}
			}
			a, b := s.Out[at*out:][:out], s.BOut[at*out:][:out]
			r.conv.SharedBack(r.sense, tape, m, a, r.e, r.eb, b, xm)
			if s.BIn != nil {
				r.conv.SenseForward(r.sense, r.conv.Followed(tape, k).B, s.BIn[at*in:][:in], b)
			}
		}
	}
}

// weigh adds w·x∘y.
func weigh[T gauss.Float](dst []T, w T, x, y []T) {
	for i := range dst {
		dst[i] += T(w*x[i]) * y[i]
	}
}

func (r *convSenser[T]) Backward(p *Pass[T]) {
	for i := range p.DOut.Rows {
		out := p.DOut.Slice(i, i+1)
		tape := r.tapeOf(p, i)
		dj := r.dj[i*out.Width:][:out.Width]
		r.conv.RecordApart(tape, out.Mean, out.Var, dj)
		if p.DIn.Mean == nil {
			continue
		}
		in, d := p.In.Slice(i, i+1), p.DIn.Slice(i, i+1)
		r.conv.BackwardApart(r.sense, tape, in.Mean, out.Mean, out.Var, dj, d.Mean, d.Var)
		kernel.Add(d.Mean, r.xm[i*in.Width:][:in.Width])
	}
}
