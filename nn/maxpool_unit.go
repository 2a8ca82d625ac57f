package nn

import (
	"utvi/fn"
	"utvi/gauss"
	"utvi/internal/compute/kernel"
	"utvi/moment"
)

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
