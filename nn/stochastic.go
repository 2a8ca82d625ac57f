package nn

import (
	"errors"
	"fmt"

	"utvi/gauss"
	"utvi/internal/compute"
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
