package nn

import (
	"fmt"

	"utvi/gauss"
	"utvi/moment"
)

// Joint applies a map that couples the units of a row, such as fn.Softmax(). After a
// layer that provides the covariances of its outputs, such as Correlated, it uses them:
// by points m + L·z, with L the Cholesky factor of the row's covariance, or, for the
// closed form of a map that is ShiftInvariant, by the independent units whose differences
// have the most similar variances. Otherwise the units are taken as independent. The
// outputs are always taken as independent, although those of a softmax sum to one.
//
// Softmax of d logits of variances within ±50 % of v: the root mean square error of the
// variances of the classes, in per cent of that of the true values, with independent
// logits → with their covariances, by the closed form | by moment.JointFifth. The truth
// is 200,000 draws for each of four rows of means N(0, 1.5²); all logits are correlated
// alike, by ρ, or share one cause by factors between −1 and 1.
//
//	 d   v     ρ = 0.3            ρ = 0.6            one cause
//	 2  0.1    41 → 0.6 |  0.7    138 → 0.6 |  0.6    30 →  0.5 |  0.6
//	 2   4     18 → 0.7 |  7.8     57 → 0.4 | 10.8     9 →  1.1 | 12.6
//	 3   1     39 → 2.0 |  1.7    128 → 1.6 |  1.0    15 →  2.4 |  1.8
//	10  0.1    40 → 0.8 |  0.4    138 → 2.3 |  0.4    28 → 18   |  0.5
//	10   1     31 → 1.2 |  2.8    107 → 2.5 |  1.8    21 → 19   |  5.6
//	10   4     19 → 1.4 | 14.6     64 → 2.2 | 10.8    17 → 19   | 30
//
// (go test ./nn -run xxx -bench SoftmaxCovariance -benchtime 1x)
type Joint struct {
	Map  *moment.Map      `json:"-"`
	Rule moment.JointRule `json:"-"` // nil means moment.DefaultJoint
}

// Kind is "joint", as model files and the names of parameters have it.
func (Joint) Kind() string { return "joint" }

// Bind32 checks that the rule can push the Map over so many units; it declares nothing.
func (l Joint) Bind32(b *Binder[float32]) (Unit[float32], error) { return bindJoint(l, b) }

// Bind64 is Bind32 in float64, in which gradients are checked.
func (l Joint) Bind64(b *Binder[float64]) (Unit[float64], error) { return bindJoint(l, b) }

type joint[T gauss.Float] struct {
	Stateless
	m       *moment.Map
	rule    moment.JointRule
	in, out Shape
	index   uint32
	cov     bool // the inputs have covariances
}

// TakesCovariances implements CovarianceTaker.
func (l Joint) TakesCovariances() bool {
	if l.Map == nil {
		return false
	}
	rule := l.Rule
	if rule == nil {
		rule = moment.DefaultJoint(l.Map, l.Map.In)
	}
	return moment.TakesCovariances(l.Map, rule)
}

func bindJoint[T gauss.Float](l Joint, b *Binder[T]) (Unit[T], error) {
	u := &joint[T]{Stateless: Stateless(b.Form.apart()), cov: b.Form == Covariant, m: l.Map, rule: l.Rule, in: b.In, out: b.In, index: b.Index()}
	d := b.In.Size()
	if l.Map != nil && l.Map.ShiftInvariant && b.In.H*b.In.W > 1 {
		return nil, fmt.Errorf("%s takes all units of the input %v together, over places and channels; use nn.Softmax or nn.PerPlace for one of each place, or nn.Flatten before it", l.Map.Name, b.In)
	}
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
	d, k := u.in.Size(), u.out.Size()
	r := &jointRunner[T]{joint: u, x: newRow(d), dx: newRow(d), y: newRow(k), dy: newRow(k)}
	if u.cov {
		r.full = newCovRow(u.m, u.rule, d)
		r.tile = r.full.tile.JointTile
	} else {
		r.tile = moment.NewJointTile(u.m, u.rule, d)
	}
	return r
}

type jointRunner[T gauss.Float] struct {
	*joint[T]
	Weightless[T]
	tile         *moment.JointTile
	full         *covRow // nil without covariances
	x, y, dx, dy row
}

func (r *jointRunner[T]) Forward(p *Pass[T]) {
	r.tile.Key = p.Seed.Sub(p.Step, r.index)
	for i := range p.In.Rows {
		r.tile.Row = p.Row + uint64(i)
		load(r.x, p.In, i)
		switch {
		case r.Form() == Fixed:
			r.tile.Fixed(r.x.m, r.y.m, nil, nil)
			clear(r.y.v)
		case r.cov:
			loadCov(r.full, p.In, i)
			r.full.tile.Push(r.x.m, r.full.c, r.y.m, r.y.v)
		default:
			r.tile.Push(r.x.m, r.x.v, r.y.m, r.y.v)
		}
		store(r.y, p.Out, i)
	}
}

// Backward evaluates the points again: storing their values would take points ×
// outputs numbers for each row.
func (r *jointRunner[T]) Backward(p *Pass[T]) {
	if p.DIn.Mean == nil {
		return
	}
	for i := range p.In.Rows {
		r.tile.Row = p.Row + uint64(i)
		load(r.x, p.In, i)
		load(r.dy, p.DOut, i)
		switch {
		case r.Form() == Fixed:
			r.tile.Fixed(r.x.m, r.y.m, r.dy.m, r.dx.m)
		case r.cov:
			loadCov(r.full, p.In, i)
			r.full.pull(r.x.m, r.dy.m, r.dy.v, r.dx)
			storeCov(r.full, p.DIn, i)
		default:
			r.tile.Pull(r.x.m, r.x.v, r.dy.m, r.dy.v, r.dx.m, r.dx.v)
		}
		store(r.dx, p.DIn, i)
	}
}
