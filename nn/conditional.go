package nn

import (
	"errors"
	"fmt"
	"slices"

	"utvi/gauss"
	"utvi/moment"
)

// Conditional turns the unit Target into l + c·target, where the location l and the
// scale c are functions of other units of the row: for example, a count of photons
// depends on the place of the emitter. The other units pass unchanged.
//
// Without Joint, l and c are evaluated at the means of the given units: mean l + c·m,
// variance c²·v. With Joint they vary with the given units: a rule over target and
// given units together carries their variances, and their covariances if the layer
// before provides them. In both cases the result is taken as independent of the units
// it depends on.
type Conditional struct {
	Target int   `json:"target"`
	Given  []int `json:"given"`
	// Location maps the given units to (l, c).
	Location *moment.Map `json:"-"`
	Joint    bool        `json:"joint,omitempty"`
	// Rule is used with Joint; nil means moment.DefaultJoint.
	Rule moment.JointRule `json:"-"`
}

// Kind is "conditional", as model files and the names of parameters have it.
func (Conditional) Kind() string { return "conditional" }

// Bind32 checks the units and the Location; it declares nothing.
func (l Conditional) Bind32(b *Binder[float32]) (Unit[float32], error) { return bindConditional(l, b) }

// Bind64 is Bind32 in float64, in which gradients are checked.
func (l Conditional) Bind64(b *Binder[float64]) (Unit[float64], error) { return bindConditional(l, b) }

// RuleOrDefault is the Rule, or the default for the target and its given units where it is
// nil.
func (l Conditional) RuleOrDefault() moment.JointRule {
	if l.Rule == nil {
		return moment.DefaultJoint(nil, 1+len(l.Given))
	}
	return l.Rule
}

// TakesCovariances implements CovarianceTaker: only with Joint.
func (l Conditional) TakesCovariances() bool { return l.Joint }

func (l Conditional) check(n int) error {
	if l.Location == nil {
		return errors.New("no Location; set nn.Conditional.Location")
	}
	if len(l.Given) == 0 {
		return errors.New("no Given units; name at least one unit that the target depends on")
	}
	if err := l.Location.Check(len(l.Given)); err != nil {
		return err
	}
	if k := l.Location.Outputs(len(l.Given)); k != 2 {
		return fmt.Errorf("the Location returns %d numbers; it must return 2, a location and a scale", k)
	}
	seen := []int{l.Target}
	for _, g := range append(seen, l.Given...) {
		if g < 0 || g >= n {
			return fmt.Errorf("there is no unit %d; the input has units 0 to %d", g, n-1)
		}
	}
	for _, g := range l.Given {
		if slices.Contains(seen, g) {
			return fmt.Errorf("unit %d is used twice; the target and the given units must all be different", g)
		}
		seen = append(seen, g)
	}
	return nil
}

type conditional[T gauss.Float] struct {
	Stateless
	Conditional
	shape Shape
	index uint32
	cov   bool // the inputs have covariances
}

func bindConditional[T gauss.Float](l Conditional, b *Binder[T]) (Unit[T], error) {
	if err := l.check(b.In.Size()); err != nil {
		return nil, err
	}
	l.Given = slices.Clone(l.Given)
	if l.Joint {
		m := shifted(l.Location)
		m.In = 1 + len(l.Given)
		l.Rule = l.RuleOrDefault()
		if err := l.Rule.Check(m, m.In); err != nil {
			return nil, err
		}
	}
	return &conditional[T]{Stateless: Stateless(b.Form.apart()), Conditional: l, shape: b.In, index: b.Index(), cov: b.Form == Covariant}, nil
}

// shifted is (t, g…) ↦ l(g) + c(g)·t. It has scratch: one per goroutine.
func shifted(location *moment.Map) *moment.Map {
	var y, dy [2]float64
	m := &moment.Map{Name: location.Name, Out: 1, F: func(x, out []float64) {
		location.F(x[1:], y[:])
		out[0] = y[0] + y[1]*x[0]
	}}
	if location.VJP != nil {
		m.VJP = func(x, dout, dx []float64) {
			location.F(x[1:], y[:])
			dx[0] = dout[0] * y[1]
			dy[0], dy[1] = dout[0], dout[0]*x[0]
			location.VJP(x[1:], dy[:], dx[1:])
		}
	}
	return m
}

func (u *conditional[T]) Out() Shape { return u.shape }

func (u *conditional[T]) NewRunner(int, bool) Runner[T] {
	n := len(u.Given)
	r := &conditionalRunner[T]{conditional: u, x: newRow(1 + n), dx: newRow(1 + n)}
	// The rule does not matter: this tile only evaluates.
	r.location = moment.NewJointTile(u.Location, moment.JointUTGauss(), n)
	switch {
	case u.cov:
		r.full = newCovRow(shifted(u.Location), u.Rule, 1+n)
		r.joint = r.full.tile.JointTile
	case u.Joint:
		r.joint = moment.NewJointTile(shifted(u.Location), u.Rule, 1+n)
	}
	return r
}

type conditionalRunner[T gauss.Float] struct {
	*conditional[T]
	Weightless[T]
	location *moment.JointTile
	joint    *moment.JointTile // nil without Joint
	full     *covRow           // nil without covariances
	x, dx    row               // target, given …
	y, dy    [2]float64        // location and scale
	out      [2]float64        // moments of the target, or their gradients
}

// pick copies the target and the given units of row i.
func (r *conditionalRunner[T]) pick(b gauss.Batch[T], i int) {
	for k := range r.x.m {
		at := i*b.Width + r.unit(k)
		r.x.m[k] = float64(b.Mean[at])
		if r.Form() != Fixed {
			r.x.v[k] = float64(b.Var[at])
		}
	}
	if r.cov {
		r.full.each(i, b.Width, r.unit, func(at, k int) { r.full.c[k] = float64(b.Cov[at]) })
	}
}

func (r *conditionalRunner[T]) unit(k int) int {
	if k == 0 {
		return r.Target
	}
	return r.Given[k-1]
}

func (r *conditionalRunner[T]) Forward(p *Pass[T]) {
	copy(p.Out.Mean, p.In.Mean)
	copy(p.Out.Var, p.In.Var)
	random := r.Form() != Fixed
	for i := range p.In.Rows {
		r.pick(p.In, i)
		if random && r.joint != nil {
			r.joint.Key, r.joint.Row = p.Seed.Sub(p.Step, r.index), p.Row+uint64(i)
			if r.cov {
				r.full.tile.Push(r.x.m, r.full.c, r.out[:1], r.out[1:])
			} else {
				r.joint.Push(r.x.m, r.x.v, r.out[:1], r.out[1:])
			}
		} else {
			r.location.Fixed(r.x.m[1:], r.y[:], nil, nil)
			r.out[0], r.out[1] = r.y[0]+r.y[1]*r.x.m[0], r.y[1]*r.y[1]*r.x.v[0]
		}
		at := i*p.In.Width + r.Target
		p.Out.Mean[at] = T(r.out[0])
		if random {
			p.Out.Var[at] = T(r.out[1])
		}
	}
}

func (r *conditionalRunner[T]) Backward(p *Pass[T]) {
	if p.DIn.Mean == nil {
		return
	}
	copy(p.DIn.Mean, p.DOut.Mean)
	copy(p.DIn.Var, p.DOut.Var)
	clear(p.DIn.Cov)
	random := r.Form() != Fixed
	for i := range p.In.Rows {
		r.pick(p.In, i)
		at := i*p.In.Width + r.Target
		r.out[0], r.out[1] = float64(p.DOut.Mean[at]), 0
		if random {
			r.out[1] = float64(p.DOut.Var[at])
		}
		if random && r.joint != nil {
			r.joint.Key, r.joint.Row = p.Seed.Sub(p.Step, r.index), p.Row+uint64(i)
			r.pull(p.DIn, i)
		} else {
			r.plain()
		}
		p.DIn.Mean[at] = 0
		if random {
			p.DIn.Var[at] = 0
		}
		for k := range r.dx.m {
			at := i*p.In.Width + r.unit(k)
			p.DIn.Mean[at] += T(r.dx.m[k])
			if random {
				p.DIn.Var[at] += T(r.dx.v[k])
			}
		}
	}
}

// pull writes the gradients of the rule over target and given units.
func (r *conditionalRunner[T]) pull(din gauss.Batch[T], i int) {
	if !r.cov {
		r.joint.Pull(r.x.m, r.x.v, r.out[:1], r.out[1:], r.dx.m, r.dx.v)
		return
	}
	r.full.pull(r.x.m, r.out[:1], r.out[1:], r.dx)
	r.full.each(i, din.Width, r.unit, func(at, k int) { din.Cov[at] = T(r.full.dc[k]) })
}

// plain writes the gradients of l + c·m and c²·v: l and c depend on the means.
func (r *conditionalRunner[T]) plain() {
	g, h := r.out[0], r.out[1]
	m, v := r.x.m[0], r.x.v[0]
	r.location.Fixed(r.x.m[1:], r.y[:], nil, nil)
	c := r.y[1]
	r.dy[0], r.dy[1] = g, g*m+2*c*v*h
	r.location.Fixed(r.x.m[1:], r.y[:], r.dy[:], r.dx.m[1:])
	clear(r.dx.v)
	r.dx.m[0], r.dx.v[0] = c*g, c*c*h
}
