package nn

import (
	"utvi/gauss"
	"utvi/internal/compute"
)

// AvgPool2D averages each channel over windows of an image. A window of n independent
// cells has
//
//	m' = Σ m / n          v' = Σ v / n²
//
// Cells at the border that fill no window are dropped. Windows that overlap
// share cells; their correlation is ignored.
type AvgPool2D struct {
	Size   [2]int `json:"size"`             // height and width of a window
	Stride int    `json:"stride,omitempty"` // 0 means windows side by side
}

func (AvgPool2D) Kind() string { return "avgpool2d" }

func (l AvgPool2D) Bind32(b *Binder[float32]) (Unit[float32], error) { return bindAvgPool(l, b) }
func (l AvgPool2D) Bind64(b *Binder[float64]) (Unit[float64], error) { return bindAvgPool(l, b) }

// avgPool carries means and variances by the same sum, with its own weight.
type avgPool[T gauss.Float] struct{ pool }

func bindAvgPool[T gauss.Float](l AvgPool2D, b *Binder[T]) (Unit[T], error) {
	p, err := newPool(b.In, b.Form, l.Size, l.Stride)
	return &avgPool[T]{p}, err
}

func (u *avgPool[T]) NewRunner(int, bool) Runner[T] {
	return avgPoolRunner[T]{avgPool: u, index: u.places()}
}

type avgPoolRunner[T gauss.Float] struct {
	*avgPool[T]
	weightless[T]
	index []int
}

func (r avgPoolRunner[T]) Forward(p *Pass[T]) {
	n := T(r.cells)
	for i := range p.In.Rows {
		in, out := p.In.Slice(i, i+1), p.Out.Slice(i, i+1)
		r.sum(out.Mean, in.Mean, 1/n)
		if r.form != Fixed {
			r.sum(out.Var, in.Var, 1/(n*n))
		}
	}
}

func (r avgPoolRunner[T]) Backward(p *Pass[T]) {
	if p.DIn.Mean == nil {
		return
	}
	n := T(r.cells)
	for i := range p.DOut.Rows {
		in, out := p.DIn.Slice(i, i+1), p.DOut.Slice(i, i+1)
		r.spread(in.Mean, out.Mean, 1/n)
		if r.form != Fixed {
			r.spread(in.Var, out.Var, 1/(n*n))
		}
	}
}

func (u *avgPool[T]) Follow(int) {}

func (r avgPoolRunner[T]) Sense(s *Sense[T]) {
	in, out := len(s.In)/(s.Rows*s.K), r.out.Size()
	for i := range s.Rows * s.K {
		r.spread(s.In[i*in:][:in], s.Out[i*out:][:out], 1/T(r.cells))
	}
}

func (r avgPoolRunner[T]) SenseBack(s *Sense[T]) {
	in, out := len(s.In)/(s.Rows*s.K), r.out.Size()
	for i := range s.Rows * s.K {
		r.sum(s.BOut[i*out:][:out], s.BIn[i*in:][:in], 1/T(r.cells))
	}
}

// sum sets dst to the sums over the windows of src, times scale.
func (r avgPoolRunner[T]) sum(dst, src []T, scale T) {
	c := r.out.C
	clear(dst)
	for i, at := range r.index {
		compute.Add(dst[i/r.cells*c:][:c], src[at:][:c])
	}
	for i := range dst {
		dst[i] *= scale
	}
}

// spread is the reverse of sum.
func (r avgPoolRunner[T]) spread(dst, src []T, scale T) {
	c := r.out.C
	clear(dst)
	for i, at := range r.index {
		compute.Add(dst[at:][:c], src[i/r.cells*c:][:c])
	}
	for i := range dst {
		dst[i] *= scale
	}
}
