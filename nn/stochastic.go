package nn

import (
	"errors"
	"fmt"

	"utvi/gauss"
	"utvi/internal/compute"
	"utvi/internal/compute/kernel"
	"utvi/moment"
	"utvi/vi"
)

// Stochastic applies f(x, θ) to every unit: a nonlinearity with a parameter that is itself
// Normal, such as a random slope. The mean and variance of θ are learned, and its KL
// counts like that of a weight. The moments are those of f over both x and θ.
//
// A rule on the axes misses what x and θ do together: θ·x has the variance
// m²s + θ̄²v + vs, and the unscented transform loses the last term. Units that share a θ
// are correlated; inside Correlated this is carried, elsewhere the units are taken as
// independent.
type Stochastic struct {
	// Name identifies f in model files.
	Name string `json:"name"`
	// F is the nonlinearity; FX and FTheta are its slopes, or both nil for finite
	// differences.
	F, FX, FTheta func(x, theta float64) float64 `json:"-"`
	// Mean and Std are the starting values of θ; a Std of 0 means 0.05.
	Mean float64 `json:"mean"`
	Std  float64 `json:"std"`
	// PerUnit gives each unit its own θ.
	PerUnit bool `json:"per_unit,omitempty"`
	// Prior is the prior of θ; the zero value means N(0, 1).
	Prior vi.Prior `json:"prior"`
	// Rule computes the moments over (x, θ); nil means moment.JointGH(3).
	Rule moment.JointRule `json:"-"`
}

// Kind is "stochastic", as model files and the names of parameters have it.
func (Stochastic) Kind() string { return "stochastic" }

// Bind32 declares θ, one or one for each unit, with its prior.
func (l Stochastic) Bind32(b *Binder[float32]) (Unit[float32], error) { return bindStochastic(l, b) }

// Bind64 is Bind32 in float64, in which gradients are checked.
func (l Stochastic) Bind64(b *Binder[float64]) (Unit[float64], error) { return bindStochastic(l, b) }

// pair is f as a map of (x, θ).
func (l Stochastic) pair() *moment.Map {
	m := &moment.Map{Name: l.Name, In: 2, Out: 1, F: func(x, y []float64) { y[0] = l.F(x[0], x[1]) }}
	if l.FX != nil && l.FTheta != nil {
		m.VJP = func(x, dy, dx []float64) {
			dx[0], dx[1] = dy[0]*l.FX(x[0], x[1]), dy[0]*l.FTheta(x[0], x[1])
		}
	}
	return m
}

// RuleOrDefault is the Rule, or the default where it is nil.
func (l Stochastic) RuleOrDefault() moment.JointRule {
	if l.Rule == nil {
		return moment.JointGH(3)
	}
	return l.Rule
}

type stochastic[T gauss.Float] struct {
	in    Form
	shape Shape
	m     *moment.Map
	rule  moment.JointRule
	index uint32
	theta *vi.Tensor[T] // one, or one per unit
	s     []T           // θ's variances, prepared

	perUnit bool
	k       int // quantities that are followed; see stochastic_sense.go
}

func bindStochastic[T gauss.Float](l Stochastic, b *Binder[T]) (Unit[T], error) {
	if l.F == nil {
		return nil, errors.New("no function F(x, θ); set nn.Stochastic.F")
	}
	if (l.FX == nil) != (l.FTheta == nil) {
		return nil, errors.New("only one of the slopes FX and FTheta is set; set both, or none to use finite differences")
	}
	std, prior := l.Std, l.Prior.OrStandard()
	if std == 0 {
		std = 0.05
	}
	if !(std > 0) || !compute.Finite(std, l.Mean) {
		return nil, fmt.Errorf("θ starts at %v ± %v; both must be finite, and the standard deviation > 0", l.Mean, l.Std)
	}
	if err := prior.Check(); err != nil {
		return nil, err
	}
	u := &stochastic[T]{in: b.Form, shape: b.In, m: l.pair(), rule: l.RuleOrDefault(), index: b.Index(), perUnit: l.PerUnit}
	if err := u.rule.Check(u.m, 2); err != nil {
		return nil, err
	}
	if b.Sense {
		if err := moment.CheckJointSlope(u.rule); err != nil {
			return nil, err
		}
	}
	n := 1
	if l.PerUnit {
		n = b.In.Size()
	}
	var err error
	u.theta, err = b.RandomFrom("theta", l.Mean, std, prior, n)
	if err != nil {
		return nil, err
	}
	u.s = make([]T, n)
	return u, nil
}

func (u *stochastic[T]) Out() Shape        { return u.shape }
func (u *stochastic[T]) Form() Form        { return u.in.orRandom(u.theta.Random) }
func (u *stochastic[T]) TapeWidth() int    { return 2 * len(u.s) }
func (u *stochastic[T]) GradTiles() int    { return 1 }
func (u *stochastic[T]) PrepareTiles() int { return 1 }

func (u *stochastic[T]) NewRunner(maxRows int, train bool) Runner[T] {
	r := &stochasticRunner[T]{stochastic: u, tile: moment.NewJointTile(u.m, u.rule, 2),
		x: newRow(2), dx: newRow(2), y: newRow(1), dy: newRow(1), sum: newRow(len(u.s))}
	if u.k > 0 {
		return newStochasticSenser(r, maxRows, train)
	}
	return r
}

type stochasticRunner[T gauss.Float] struct {
	*stochastic[T]
	tile         *moment.JointTile
	x, dx, y, dy row
	sum          row // of θ's gradients in a row
}

func (r *stochasticRunner[T]) Prepare(int) {
	if r.theta.Random {
		kernel.Variance(r.s, r.theta.Rho)
	}
}

// place prepares the tile for a unit, and returns the number of its θ.
func (r *stochasticRunner[T]) place(p *Pass[T], i int) int {
	unit := i % p.In.Width
	k := unit % len(r.s)
	r.tile.Row, r.tile.Unit = p.Row+uint64(i/p.In.Width), 2*unit
	r.x.m[0], r.x.m[1] = float64(p.In.Mean[i]), float64(r.theta.Mean[k])
	r.x.v[0], r.x.v[1] = 0, float64(r.s[k])
	if r.in != Fixed {
		r.x.v[0] = float64(p.In.Var[i])
	}
	return k
}

func (r *stochasticRunner[T]) Forward(p *Pass[T]) {
	r.tile.Key = p.Seed.Sub(p.Step, r.index)
	for i := range p.In.Mean {
		r.place(p, i)
		if r.Form() == Fixed {
			r.tile.Fixed(r.x.m, r.y.m, nil, nil)
		} else {
			r.tile.Push(r.x.m, r.x.v, r.y.m, r.y.v)
			p.Out.Var[i] = T(r.y.v[0])
		}
		p.Out.Mean[i] = T(r.y.m[0])
	}
}

// Backward stores the gradients with respect to the means and variances of θ on the tape.
func (r *stochasticRunner[T]) Backward(p *Pass[T]) { r.back(p, nil) }

// back is Backward, with additional gradients.
func (r *stochasticRunner[T]) back(p *Pass[T], more *stochasticMore[T]) {
	n, w := len(r.s), p.In.Width
	for row := range p.In.Rows {
		clear(r.sum.m)
		clear(r.sum.v)
		for i := row * w; i < (row+1)*w; i++ {
			k := r.place(p, i)
			r.dy.m[0] = float64(p.DOut.Mean[i])
			if r.Form() == Fixed {
				r.tile.Fixed(r.x.m, r.y.m, r.dy.m, r.dx.m)
			} else {
				r.dy.v[0] = float64(p.DOut.Var[i])
				if more != nil {
					r.dy.v[0] += float64(more.de[i])
				}
				r.tile.Pull(r.x.m, r.x.v, r.dy.m, r.dy.v, r.dx.m, r.dx.v)
				if more != nil {
					r.tile.PullSlopes(r.x.m, r.x.v, more.slopes[2*i:][:2], more.dslopes[2*i:][:2], r.dx.m, r.dx.v)
					r.dx.v[0] += more.v[i]
				}
				r.sum.v[k] += r.dx.v[1]
			}
			r.sum.m[k] += r.dx.m[1]
			if p.DIn.Mean != nil {
				p.DIn.Mean[i] = T(r.dx.m[0])
			}
			if p.DIn.Mean != nil && r.in != Fixed {
				p.DIn.Var[i] = T(r.dx.v[0])
			}
		}
		if more != nil {
			r.sum.v[0] += more.s[row]
		}
		tape := p.Tape[row*2*n:][:2*n]
		compute.Convert(tape[:n], r.sum.m)
		compute.Convert(tape[n:], r.sum.v)
	}
}

func (r *stochasticRunner[T]) Gradient(_ int, blocks []Block[T]) {
	n := len(r.s)
	columns(blocks, 2*n, func(i int, sum float64) {
		switch {
		case i < n:
			r.theta.GMean[i] = T(sum)
		case r.theta.Random:
			r.theta.GVar[i-n] = T(sum)
		}
	})
}
