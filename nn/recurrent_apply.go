package nn

import (
	"utvi/gauss"
	"utvi/internal/compute/kernel"
)

// apply pushes slots through a function.
func (r *recurrentRunner[T]) apply(i, t int) {
	s := &r.recurrent.steps[i]
	x, y := r.read(s.from, t, s.n), r.read(at(s.to), t, s.n)
	a := &r.applied[i]
	n := len(x.Mean)
	kept := t % r.levels * n
	if r.draws && r.form != Fixed {
		a.tile.Key = r.pass.Seed.Sub(r.pass.Step, r.index)
		for row := range x.Rows {
			a.tile.Row = r.pass.Row + uint64(row%r.rows)
			unit := ((t*r.slots + s.to) + row/r.rows) * r.units
			for u := 0; u < r.units; u += a.tile.Cap() {
				a.tile.Unit = unit + u
				lo, hi := row*r.units+u, row*r.units+min(r.units, u+a.tile.Cap())
				a.push(x, y, lo, hi, kept)
			}
		}
		return
	}
	for lo := 0; lo < n; lo += a.tile.Cap() {
		a.push(x, y, lo, min(n, lo+a.tile.Cap()), kept)
	}
	if a.e != nil {
		kernel.Rest(a.e[kept:kept+n], y.Var, a.slope[kept:kept+n], x.Var)
	}
}

// push pushes elements [lo, hi) of a time whose derivatives are kept from kept on.
func (a *applied[T]) push(x, y gauss.Batch[T], lo, hi, kept int) {
	t := a.tile
	t.Mean = x.Mean[lo:hi]
	t.Out.Mean = y.Mean[lo:hi]
	from, to := kept+lo, kept+hi
	if a.jac.MM != nil {
		t.Out.MM = a.jac.MM[from:to]
		t.Out.MV = a.jac.MV[from:to]
		t.Out.VM = a.jac.VM[from:to]
		t.Out.VV = a.jac.VV[from:to]
	}
	if x.Var == nil {
		t.EvalFixed()
		return
	}
	t.Var = x.Var[lo:hi]
	t.Out.Var = y.Var[lo:hi]
	if a.slope != nil {
		t.Slope = a.slope[from:to]
	}
	if a.slopeM != nil {
		t.SlopeM = a.slopeM[from:to]
		t.SlopeV = a.slopeV[from:to]
	}
	t.Push()
}
