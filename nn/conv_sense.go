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
	Spread(tape []T) []T
	Seen(x *affine.ConvSense[T], tape, a, q, sums, kept []T)
	SeesTogether() bool
	SeenTogether(x *affine.ConvSense[T], tape, a, seen []T, k int)
	SeenBack(x *affine.ConvSense[T], h, q, spread []T)
	SenseBack(x *affine.ConvSense[T], a, in []T)
	Shared(q, sums, q2, sums2 []T) float64
	SharedBack(x *affine.ConvSense[T], tape, m, e, eb, da []T)
	MeansBack(x *affine.ConvSense[T], a, e, dm []T)
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
	unit     *conv[T]
	sense    *affine.ConvSense[T]
	kept     []T  // the tape of every image in prediction
	j, dj    []T  // v·s of every output, and the gradient by it
	q        []T  // what each quantity sees of the weights and biases, then the gradients by it; in training of every image
	h        []T  // gradients by the covariances of an image
	together bool // what the quantities see is one product
	a        []T  // the sensitivities that Sense saw last
	xm       []T  // gradients by the images' means, that Backward adds
}

func newConvSenser[T gauss.Float](r convRunner[T], u *conv[T], maxRows int, train bool) *convSenser[T] {
	c := u.conv
	s := &convSenser[T]{convRunner: r, unit: u, sense: c.NewSense(), j: make([]T, maxRows*u.out.Size())}
	s.together = u.k > 1 && c.SeesTogether() && (!train || u.in == Fixed) // else the gradients need each sensitivity packed
	if train {
		s.dj, s.xm = make([]T, len(s.j)), make([]T, maxRows*u.shape.Size())
		s.h = make([]T, u.k*u.k)
		s.q = make([]T, maxRows*u.k*s.seenWidth())
	} else {
		s.kept = make([]T, maxRows*c.Kept())
		s.q = make([]T, u.k*s.seenWidth())
	}
	return s
}

// seenWidth is how many weights and biases a quantity sees.
func (r *convSenser[T]) seenWidth() int { return r.conv.Weights() + r.conv.Biases() }

// tapeOf is the tape of an image, or what takes its place in prediction.
func (r *convSenser[T]) tapeOf(p *Pass[T], i int) []T {
	if r.train {
		return p.Tape[i*r.conv.TapeWidth():]
	}
	return r.kept[i*r.conv.Kept():][:r.conv.Kept()]
}

// keptOf is where the tape has the sensitivities of quantity k, if the gradients need them.
func (r *convSenser[T]) keptOf(tape []T, k int) []T {
	if !r.train {
		return nil
	}
	return r.conv.Followed(tape, k).A
}

// seen is what the quantities see of the weights and biases in image i.
func (r *convSenser[T]) seen(i int) []T {
	n := r.unit.k * r.seenWidth()
	if !r.train {
		i = 0
	}
	return r.q[i*n:][:n]
}

// cut is the part of quantity k of what is seen: of the weights and of the biases.
func (r *convSenser[T]) cut(seen []T, k int) (q, sums []T) {
	n, weights := r.seenWidth(), r.conv.Weights()
	seen = seen[k*n:][:n]
	return seen[:weights], seen[weights:]
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
		seen := r.seen(i)
		if r.together {
			r.conv.SeenTogether(r.sense, tape, s.Out[i*s.K*out:][:s.K*out], seen, s.K)
		}
		for k := range s.K {
			a := s.Out[(i*s.K+k)*out:][:out]
			q, sums := r.cut(seen, k)
			if !r.together {
				r.conv.Seen(r.sense, tape, a, q, sums, r.keptOf(tape, k))
			}
			r.weigh(s, i, k, q, sums)
			if s.In != nil {
				r.conv.SenseBack(r.sense, a, s.In[(i*s.K+k)*in:][:in])
			}
			for l := s.from(k); l <= k; l++ {
				q2, sums2 := r.cut(seen, l)
				s.add(i, k, l, r.conv.Shared(q, sums, q2, sums2))
			}
		}
	}
	if r.in != Fixed {
		s.AddVariances(r.j, out)
	}
	r.a = s.Out
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
	for i := range s.Rows {
		tape := r.tapeOf(s.Pass, i)
		for at := range r.h {
			r.h[at] = 0
			if at/s.K == at%s.K || !s.Diagonal {
				r.h[at] = T(s.DCov[i*s.K*s.K+at])
			}
		}
		seen := r.seen(i)
		r.conv.SeenBack(r.sense, r.h, seen, r.conv.Spread(tape))
		m := s.Pass.In.Mean[i*in:][:in]
		for k := range s.K {
			at := i*s.K + k
			b := s.BOut[at*out:][:out]
			e, eb := r.cut(seen, k)
			r.conv.SharedBack(r.sense, tape, m, e, eb, b)
			if s.BIn != nil {
				r.conv.SenseForward(r.sense, r.conv.Followed(tape, k).B, s.BIn[at*in:][:in], b)
			}
		}
	}
}

// byMeans writes the gradients by the images' means that come from what quantities see of the
// weights, behind SenseBack.
func (r *convSenser[T]) byMeans(rows int) {
	out, in := r.unit.out.Size(), r.unit.shape.Size()
	for i := range rows {
		xm := r.xm[i*in:][:in]
		clear(xm)
		for k := range r.unit.k {
			e, _ := r.cut(r.seen(i), k)
			r.conv.MeansBack(r.sense, r.a[(i*r.unit.k+k)*out:][:out], e, xm)
		}
	}
}

func (r *convSenser[T]) Backward(p *Pass[T]) {
	if p.DIn.Mean != nil {
		r.byMeans(p.DOut.Rows)
	}
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
