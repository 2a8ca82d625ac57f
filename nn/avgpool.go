package nn

import (
	"utvi/gauss"
	"utvi/internal/compute/kernel"
)

// AvgPool2D averages each channel over windows of an image. A window of n independent
// cells has
//
//	m' = Σ m / n          v' = Σ v / n²
//
// Cells at the border that fill no window are dropped. With Pad, windows reach over the
// border: n counts the cells inside the image only, unless CountPad is set. Windows that
// overlap share cells; the correlation of their averages is carried only inside
// Correlated.
type AvgPool2D struct {
	Size     [2]int `json:"size"`                // height and width of a window
	Stride   int    `json:"stride,omitempty"`    // 0 means windows side by side
	Pad      [4]int `json:"pad,omitzero"`        // cells above, left, below and right of the image
	CountPad bool   `json:"count_pad,omitempty"` // those are zeros that the average counts
}

// Kind is "avgpool2d", as model files and the names of parameters have it.
func (AvgPool2D) Kind() string { return "avgpool2d" }

// Bind32 fits the windows into the image; it declares nothing.
func (l AvgPool2D) Bind32(b *Binder[float32]) (Unit[float32], error) { return bindAvgPool(l, b) }

// Bind64 is Bind32 in float64, in which gradients are checked.
func (l AvgPool2D) Bind64(b *Binder[float64]) (Unit[float64], error) { return bindAvgPool(l, b) }

// avgPool carries means and variances by the same sum, with its own weight.
type avgPool[T gauss.Float] struct {
	pool
	inside bool // padding does not count
}

func bindAvgPool[T gauss.Float](l AvgPool2D, b *Binder[T]) (Unit[T], error) {
	p, err := newPool(b.In, b.Form, l.Size, l.Stride, l.Pad)
	return &avgPool[T]{p, p.padded && !l.CountPad}, err
}

func (u *avgPool[T]) NewRunner(int, bool) Runner[T] {
	r := avgPoolRunner[T]{avgPool: u, index: u.places()}
	if u.inside {
		r.more = make([]T, u.out.H*u.out.W)
		r.scratch = make([]T, u.out.Size())
		for i := range r.more {
			n := u.cells
			for r.index[i*u.cells+n-1] < 0 {
				n--
			}
			r.more[i] = T(u.cells) / T(n)
		}
	}
	return r
}

type avgPoolRunner[T gauss.Float] struct {
	*avgPool[T]
	Weightless[T]
	index   []int
	more    []T // what each average is larger by, because padding does not count; nil means 1
	scratch []T
}

func (r avgPoolRunner[T]) Forward(p *Pass[T]) {
	for i := range p.In.Rows {
		in, out := p.In.Slice(i, i+1), p.Out.Slice(i, i+1)
		r.sum(out.Mean, in.Mean, 1)
		if r.Form() != Fixed {
			r.sum(out.Var, in.Var, 2)
		}
	}
}

func (r avgPoolRunner[T]) Backward(p *Pass[T]) {
	if p.DIn.Mean == nil {
		return
	}
	for i := range p.DOut.Rows {
		in, out := p.DIn.Slice(i, i+1), p.DOut.Slice(i, i+1)
		r.spread(in.Mean, out.Mean, 1)
		if r.Form() != Fixed {
			r.spread(in.Var, out.Var, 2)
		}
	}
}

func (u *avgPool[T]) Follow(int) {}

func (r avgPoolRunner[T]) Sense(s *Sense[T]) {
	in, out := len(s.In)/(s.Rows*s.K), r.out.Size()
	for i := range s.Rows * s.K {
		r.spread(s.In[i*in:][:in], s.Out[i*out:][:out], 1)
	}
}

func (r avgPoolRunner[T]) SenseBack(s *Sense[T]) {
	in, out := len(s.In)/(s.Rows*s.K), r.out.Size()
	for i := range s.Rows * s.K {
		r.sum(s.BOut[i*out:][:out], s.BIn[i*in:][:in], 1)
	}
}

// sum sets dst to the sums over the windows of src, times the share of a cell to the power
// p: 1 for means, 2 for variances.
func (r avgPoolRunner[T]) sum(dst, src []T, p int) {
	c := r.out.C
	clear(dst)
	for i, at := range r.index {
		if at >= 0 {
			kernel.Add(dst[i/r.cells*c:][:c], src[at:][:c])
		}
	}
	scale := r.share(p)
	for i := range dst {
		dst[i] *= scale
	}
	r.enlarge(dst, dst, p)
}

// spread is the reverse of sum.
func (r avgPoolRunner[T]) spread(dst, src []T, p int) {
	c := r.out.C
	if r.inside {
		r.enlarge(r.scratch, src, p)
		src = r.scratch
	}
	clear(dst)
	for i, at := range r.index {
		if at >= 0 {
			kernel.Add(dst[at:][:c], src[i/r.cells*c:][:c])
		}
	}
	scale := r.share(p)
	for i := range dst {
		dst[i] *= scale
	}
}

// share is the share of a cell in the average of a window, to the power p.
func (r avgPoolRunner[T]) share(p int) T {
	n := T(r.cells)
	if p == 1 {
		return 1 / n
	}
	return 1 / (n * n)
}

// enlarge multiplies src by what averages are larger by, to the power p.
func (r avgPoolRunner[T]) enlarge(dst, src []T, p int) {
	for i, by := range r.more {
		if p == 2 {
			by *= by
		}
		for c := i * r.out.C; c < (i+1)*r.out.C; c++ {
			dst[c] = by * src[c]
		}
	}
}
