package nn

import (
	"utvi/fn"
	"utvi/gauss"
	"utvi/internal/compute/kernel"
	"utvi/moment"
)

// MaxPool2D takes the maximum of each channel over windows of an image, cell by
// cell in reading order: after each cell, the maximum so far is taken as Normal
// with its exact mean and variance (Clark 1961).
//
// The larger of two is one of them plus the ReLU of their difference. For
// independent N(m₁, v₁) and N(m₂, v₂), m₂ ≥ m₁, let D = m₁ − m₂, θ² = v₁ + v₂,
// and μ, u the mean and variance of the ReLU of N(D, θ²). Then
//
//	m' = m₂ + μ          v' = v₁ u/θ² + v₂ (1 − (u + 2μ(μ−D))/θ²)
//
// where the factors of v₁ and v₂ are the variances of the positive and of the
// negative part of N(D/θ, 1): nothing cancels, and v' ≥ 0. It follows from writing
// both as a common part, independent of their difference, plus v₁/θ² and −v₂/θ²
// times the difference. Without variance it is the plain maximum, whose gradient
// goes to the first of equal cells.
//
// Two cells are exact. With more cells, the maximum so far is skewed and not Normal.
// For four equal cells the mean is 0.002 standard deviations too large and the variance
// 4 % too small; for nine equal cells, 0.002 and 11 %. The worst case is a
// wide cell before narrow ones of the same mean (σ 1, then three of 0.1): 0.15 and 47 %;
// with the wide cell last: 0.0001 and 0.04 %.
//
// Cells at the border that fill no window are dropped. With Pad, windows reach over the
// border; the cells outside of the image do not take part. Windows that overlap
// share cells; the correlation of their maxima is carried only inside Correlated. The
// cells of one window are always taken as independent of each other.
type MaxPool2D struct {
	Size   [2]int `json:"size"`             // height and width of a window
	Stride int    `json:"stride,omitempty"` // 0 means windows side by side
	Pad    [4]int `json:"pad,omitzero"`     // cells above, left, below and right of the image
}

// Kind is "maxpool2d", as model files and the names of parameters have it.
func (MaxPool2D) Kind() string { return "maxpool2d" }

// Bind32 fits the windows into the image; it declares nothing.
func (l MaxPool2D) Bind32(b *Binder[float32]) (Unit[float32], error) { return bindMaxPool(l, b) }

// Bind64 is Bind32 in float64, in which gradients are checked.
func (l MaxPool2D) Bind64(b *Binder[float64]) (Unit[float64], error) { return bindMaxPool(l, b) }

// A larger is the maximum of two Normals and its derivatives.
type larger[T gauss.Float] struct {
	m, v         T
	mm1, mm2, mv T // ∂m/∂m₁, ∂m/∂m₂ and ∂m/∂v₁ = ∂m/∂v₂
	vm, vv1, vv2 T // ∂v/∂m₁ = −∂v/∂m₂, ∂v/∂v₁ and ∂v/∂v₂
}

// difference returns the Normal whose ReLU largerOf needs.
func difference[T gauss.Float](m1, v1, m2, v2 T) (mean, variance T) {
	return min(m1-m2, m2-m1), v1 + v2
}

// set makes l the larger of N(m1, v1) and N(m2, v2) from the moments mu and u of
// the ReLU of their difference, ∂mu/∂mean, the chance that the smaller one wins,
// and ∂mu/∂variance.
func (l *larger[T]) set(m1, v1, m2, v2, mu, u, chance, mv T) {
	d, s := difference(m1, v1, m2, v2)
	if s == 0 {
		s = 1 // mu and u are zero
	}
	a, b := v1/s, v2/s
	low, high := u/s, 1-(u+2*mu*(mu-d))/s
	l.mv = mv
	if m1 >= m2 {
		vm := 2 * (a*(mu-d)*chance - b*mu*(1-chance))
		along := vm * d / (2 * s)
		l.m, l.v = m1+mu, v1*high+v2*low
		l.mm1, l.mm2 = 1-chance, chance
		l.vm = vm
		l.vv1 = high + along
		l.vv2 = low + along
		return
	}
	vm := 2 * (a*mu*(1-chance) - b*(mu-d)*chance)
	along := vm * d / (2 * s)
	l.m, l.v = m2+mu, v1*low+v2*high
	l.mm1, l.mm2 = chance, 1-chance
	l.vm = vm
	l.vv1 = low - along
	l.vv2 = high - along
}

type maxPool[T gauss.Float] struct {
	pool
	k int // quantities that are followed; see maxpool_sense.go
}

func bindMaxPool[T gauss.Float](l MaxPool2D, b *Binder[T]) (Unit[T], error) {
	p, err := newPool(b.In, b.Form, l.Size, l.Stride, l.Pad)
	return &maxPool[T]{pool: p}, err
}

func (u *maxPool[T]) NewRunner(maxRows int, train bool) Runner[T] {
	n := u.out.Size()
	r := &maxPoolRunner[T]{maxPool: u, index: u.places(), tile: moment.NewTile[T](fn.ReLU(), moment.Exact())}
	r.next, r.last = gauss.New[T](1, n), gauss.New[T](1, n)
	for i := range r.planes {
		r.planes[i] = make([]T, min(n, r.tile.Cap()))
	}
	if train || u.k > 0 {
		r.folds = make([]larger[T], maxRows*n*(u.cells-1))
	}
	if u.k > 0 {
		return newMaxPoolSenser(r, train)
	}
	return r
}

type maxPoolRunner[T gauss.Float] struct {
	*maxPool[T]
	Weightless[T]
	index      []int
	tile       *moment.Tile[T] // for the ReLU of differences
	planes     [8][]T          // of the tile
	next, last gauss.Batch[T]  // one cell of every window of an image, the maximum so far
	folds      []larger[T]     // of the block Forward saw last: by row, cell and output
}

func (r *maxPoolRunner[T]) Forward(p *Pass[T]) {
	n := r.out.Size()
	for i := range p.In.Rows {
		in, out := p.In.Slice(i, i+1), p.Out.Slice(i, i+1)
		r.pick(r.last, in, 0)
		for k := 1; k < r.cells; k++ {
			r.pick(r.next, in, k)
			var folds []larger[T]
			if r.folds != nil {
				folds = r.folds[(i*(r.cells-1)+k-1)*n:][:n]
			}
			for lo := 0; lo < n; lo += r.tile.Cap() {
				r.fold(k, lo, min(n, lo+r.tile.Cap()), r.Form() != Fixed, folds)
			}
		}
		copy(out.Mean, r.last.Mean)
		copy(out.Var, r.last.Var)
	}
}

// pick sets dst to cell k of every window; to 0 where the window has no such cell.
func (r *maxPoolRunner[T]) pick(dst, in gauss.Batch[T], k int) {
	c := r.out.C
	if r.Form() == Fixed {
		clear(dst.Var)
	}
	for i, place := k, 0; i < len(r.index); i, place = i+r.cells, place+c {
		if r.index[i] < 0 {
			clear(dst.Mean[place:][:c])
			clear(dst.Var[place:][:c])
			continue
		}
		copy(dst.Mean[place:][:c], in.Mean[r.index[i]:])
		if r.Form() != Fixed {
			copy(dst.Var[place:][:c], in.Var[r.index[i]:])
		}
	}
}

// fold takes outputs lo … hi of next, cell k, into last.
func (r *maxPoolRunner[T]) fold(k, lo, hi int, random bool, folds []larger[T]) {
	t, n := r.tile, hi-lo
	m1 := r.last.Mean[lo:hi]
	v1 := r.last.Var[lo:hi]
	m2 := r.next.Mean[lo:hi]
	v2 := r.next.Var[lo:hi]
	cut := func(i int) []T { return r.planes[i][:n] }
	t.Mean = cut(0)
	t.Var = cut(1)
	t.Out = kernel.Moments[T]{Mean: cut(2), Var: cut(3)}
	chance, mv := cut(4), cut(5)
	if folds != nil {
		t.Out.MM = chance
		t.Out.MV = mv
		t.Out.VM = cut(6)
		t.Out.VV = cut(7)
	}
	if random {
		for i := range n {
			t.Mean[i], t.Var[i] = difference(m1[i], v1[i], m2[i], v2[i])
		}
		t.Push()
	} else {
		clear(t.Out.Mean) // differences of numbers are negative: the ReLU is 0
		clear(t.Out.Var)
		clear(chance)
		clear(mv)
	}
	var unwanted larger[T]
	l := &unwanted
	for i := range n {
		if folds != nil {
			l = &folds[lo+i]
		}
		if r.padded && r.index[(lo+i)/r.out.C*r.cells+k] < 0 {
			*l = larger[T]{m: m1[i], v: v1[i], mm1: 1, vv1: 1}
			continue
		}
		l.set(m1[i], v1[i], m2[i], v2[i], t.Out.Mean[i], t.Out.Var[i], chance[i], mv[i])
		m1[i], v1[i] = l.m, l.v
	}
}

func (r *maxPoolRunner[T]) Backward(p *Pass[T]) { r.unwind(p, nil) }

// unwind is Backward, the last cell first, with additional gradients for each fold.
func (r *maxPoolRunner[T]) unwind(p *Pass[T], more []extra[T]) {
	if p.DIn.Mean == nil {
		return
	}
	n, c := r.out.Size(), r.out.C
	for i := range p.DOut.Rows {
		in, out := p.DIn.Slice(i, i+1), p.DOut.Slice(i, i+1)
		clear(in.Mean)
		clear(in.Var)
		folds := r.folds[i*(r.cells-1)*n:]
		for o := range n {
			cells, channel := r.index[o/c*r.cells:][:r.cells], o%c
			g, h := out.Mean[o], T(0)
			if r.Form() != Fixed {
				h = out.Var[o]
			}
			for k := r.cells - 1; k > 0; k-- {
				if cells[k] < 0 {
					continue
				}
				f := &folds[(k-1)*n+o]
				in.Mean[cells[k]+channel] += g*f.mm2 - h*f.vm
				if r.Form() != Fixed {
					in.Var[cells[k]+channel] += g*f.mv + h*f.vv2
				}
				g, h = g*f.mm1+h*f.vm, g*f.mv+h*f.vv1
				if more != nil {
					x := &more[r.of(i, k)+o]
					in.Mean[cells[k]+channel] -= x.m
					in.Var[cells[k]+channel] += x.v2
					g, h = g+x.m, h+x.v1
				}
			}
			in.Mean[cells[0]+channel] += g
			if r.Form() != Fixed {
				in.Var[cells[0]+channel] += h
			}
		}
	}
}
