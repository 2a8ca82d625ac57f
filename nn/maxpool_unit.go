package nn

import "utvi/compute"

type maxPool[T compute.Float] struct{ pool }

func bindMaxPool[T compute.Float](l MaxPool2D, b *Binder[T]) (Unit[T], error) {
	p, err := newPool(b.In, l.Size, l.Stride)
	return &maxPool[T]{p}, err
}

func (u *maxPool[T]) NewRunner(maxRows int, train bool) Runner[T] {
	r := &maxPoolRunner[T]{maxPool: u}
	if train {
		r.folds = make([]fold[T], maxRows*u.out.Size()*(u.cells-1))
	}
	return r
}

// A fold holds the derivatives of one step of a maximum, as [larger] does: with
// respect to the maximum so far and to the next cell.
type fold[T compute.Float] struct {
	mm1, mm2, mv, vm, vv1, vv2 T
}

type maxPoolRunner[T compute.Float] struct {
	*maxPool[T]
	weightless[T]
	folds []fold[T] // of the block Forward saw last: cells − 1 for each output
}

func (r *maxPoolRunner[T]) Forward(p *Pass[T]) {
	size, c := r.out.Size(), r.out.C
	for i := range p.In.Rows {
		in, out := p.In.Slice(i, i+1), p.Out.Slice(i, i+1)
		for o := range size {
			cells := r.index[o/c*r.cells:][:r.cells]
			m, v := r.fold(in.Mean, in.Var, o%c, cells, (i*size+o)*(r.cells-1))
			out.Mean[o] = T(m)
			if out.Var != nil {
				out.Var[o] = T(v)
			}
		}
	}
}

// fold takes the maximum over cells of one channel; the derivatives of its steps
// go to folds from at on.
func (r *maxPoolRunner[T]) fold(mean, vari []T, channel int, cells []int, at int) (m, v float64) {
	for k, cell := range cells {
		m2, v2 := float64(mean[cell+channel]), 0.0
		if vari != nil {
			v2 = float64(vari[cell+channel])
		}
		if k == 0 {
			m, v = m2, v2
			continue
		}
		l := maxOfTwo(m, v, m2, v2)
		m, v = l.m, l.v
		if r.folds != nil {
			r.folds[at+k-1] = fold[T]{T(l.mm1), T(l.mm2), T(l.mv), T(l.vm), T(l.vv1), T(l.vv2)}
		}
	}
	return m, v
}

// Backward unwinds the folds, the last cell first.
func (r *maxPoolRunner[T]) Backward(p *Pass[T]) {
	if p.DIn.Mean == nil {
		return
	}
	size, c := r.out.Size(), r.out.C
	for i := range p.DOut.Rows {
		in, out := p.DIn.Slice(i, i+1), p.DOut.Slice(i, i+1)
		clear(in.Mean)
		clear(in.Var)
		for o := range size {
			cells := r.index[o/c*r.cells:][:r.cells]
			folds := r.folds[(i*size+o)*(r.cells-1):]
			g, h := out.Mean[o], T(0)
			if out.Var != nil {
				h = out.Var[o]
			}
			for k := r.cells - 1; k > 0; k-- {
				f := &folds[k-1]
				at := cells[k] + o%c
				in.Mean[at] += g*f.mm2 - h*f.vm
				if in.Var != nil {
					in.Var[at] += g*f.mv + h*f.vv2
				}
				g, h = g*f.mm1+h*f.vm, g*f.mv+h*f.vv1
			}
			in.Mean[cells[0]+o%c] += g
			if in.Var != nil {
				in.Var[cells[0]+o%c] += h
			}
		}
	}
}
