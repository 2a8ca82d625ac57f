package nn

import (
	"utvi/gauss"
	"utvi/moment"
)

// Joint pushes each row through a map that couples its units, such as
// fn.Softmax(). The units are taken for independent, before and after; a
// softmax's outputs are not, they sum to one.
type Joint struct {
	Map  *moment.Map      `json:"-"`
	Rule moment.JointRule `json:"-"` // nil stands for moment.DefaultJoint
}

func (Joint) Kind() string { return "joint" }

func (l Joint) Bind32(b *Binder[float32]) (Unit[float32], error) { return bindJoint(l, b) }
func (l Joint) Bind64(b *Binder[float64]) (Unit[float64], error) { return bindJoint(l, b) }

type joint[T gauss.Float] struct {
	stateless
	m       *moment.Map
	rule    moment.JointRule
	in, out Shape
	index   uint32
}

func bindJoint[T gauss.Float](l Joint, b *Binder[T]) (Unit[T], error) {
	u := &joint[T]{stateless: stateless{b.Form}, m: l.Map, rule: l.Rule, in: b.In, out: b.In, index: b.Index()}
	d := b.In.Size()
	if u.rule == nil {
		u.rule = moment.DefaultJoint(l.Map, d)
	}
	if err := u.rule.Check(l.Map, d); err != nil {
		return nil, err
	}
	if k := l.Map.Outputs(d); k != d {
		u.out = Vec(k)
	}
	return u, nil
}

func (u *joint[T]) Out() Shape { return u.out }

func (u *joint[T]) NewRunner(int, bool) Runner[T] {
	return &jointRunner[T]{joint: u, tile: moment.NewJointTile(u.m, u.rule, u.in.Size()),
		x: newRow(u.in.Size()), dx: newRow(u.in.Size()), y: newRow(u.out.Size()), dy: newRow(u.out.Size())}
}

type jointRunner[T gauss.Float] struct {
	*joint[T]
	weightless[T]
	tile         *moment.JointTile
	x, y, dx, dy row
}

func (r *jointRunner[T]) Forward(p *Pass[T]) {
	r.tile.Key = p.Seed.Sub(p.Step, r.index)
	for i := range p.In.Rows {
		r.tile.Row = p.Row + uint64(i)
		load(r.x, p.In, i)
		if r.form == Fixed {
			r.tile.Fixed(r.x.m, r.y.m, nil, nil)
			clear(r.y.v)
		} else {
			r.tile.Push(r.x.m, r.x.v, r.y.m, r.y.v)
		}
		store(r.y, p.Out, i)
	}
}

// Backward looks at the points once more: keeping what was seen there would
// take points × outputs numbers a row.
func (r *jointRunner[T]) Backward(p *Pass[T]) {
	if p.DIn.Mean == nil {
		return
	}
	for i := range p.In.Rows {
		r.tile.Row = p.Row + uint64(i)
		load(r.x, p.In, i)
		load(r.dy, p.DOut, i)
		if r.form == Fixed {
			r.tile.Fixed(r.x.m, r.y.m, r.dy.m, r.dx.m)
		} else {
			r.tile.Pull(r.x.m, r.x.v, r.dy.m, r.dy.v, r.dx.m, r.dx.v)
		}
		store(r.dx, p.DIn, i)
	}
}
