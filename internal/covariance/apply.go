package covariance

import (
	"errors"
	"fmt"
	"math"

	"utvi/gauss"
	"utvi/internal/compute/kernel"
	"utvi/internal/quad"
	"utvi/internal/special"
	"utvi/moment"
	"utvi/nn"
	"utvi/rng"
)

// apply carries the live units through a nonlinearity, or through that plus the
// identity: then c₁ grows by σ and the variance by v + 2σc₁.
func apply[T gauss.Float](s *state, l nn.Apply, node *nn.Node[T], plusIdentity bool) error {
	if f := l.F.Formula; f != nil && len(f.Inputs) > 0 {
		return fmt.Errorf("layer %s: full covariances are not known for a formula with parameters", node.Name)
	}
	rule := l.Rule
	if rule == nil {
		rule = moment.Default(l.F)
	}
	if rule.Learns() {
		rule = moment.UT(special.Softplus(float64(node.Tensors[0].Mean[0])))
	}
	c, err := newCoefficients(rule, l.F, s.order)
	if err != nil {
		return fmt.Errorf("layer %s: %w", node.Name, err)
	}
	n := s.live()
	p := step{mean: make([]float64, n), add: make([]float64, n*n)}
	variance := make([]float64, n)
	series := make([][]float64, n)
	slope := make([]float64, n)
	for i := range n {
		m, v := s.mean[s.waiting+i], max(0, s.at(i, i))
		jet, err := moment.At(l.F, rule, m, v, rng.Key{})
		if err != nil {
			return fmt.Errorf("layer %s: %w", node.Name, err)
		}
		p.mean[i] = jet.Mean
		variance[i] = jet.Var
		series[i] = c.at(m, v, jet)
		sd := math.Sqrt(v)
		if plusIdentity {
			p.mean[i] += m
			variance[i] += v + 2*sd*series[i][0]
			series[i][0] += sd
		}
		if v > 0 {
			slope[i] = series[i][0] / sd
		}
	}
	p.pass = func(x, y []float64) { kernel.MulTo(y, x, slope) }
	for i := range n {
		for j := range i {
			sd := math.Sqrt(s.at(i, i) * s.at(j, j))
			if !(sd > 0) {
				continue
			}
			rho := min(1, max(-1, s.at(i, j)/sd))
			sum, power := 0.0, rho
			for k := 1; k < len(series[i]); k++ {
				power *= rho
				sum += series[i][k] * series[j][k] * power
			}
			p.add[i*n+j], p.add[j*n+i] = sum, sum
		}
		p.add[i*n+i] = variance[i] - slope[i]*slope[i]*s.at(i, i)
	}
	s.take(p)
	return nil
}

// coefficients are where c_k of a function comes from.
type coefficients struct {
	f     *moment.Func
	order int
	rule  moment.Nodes
	// basis are the polynomials of degree 1, 2, … at the points, orthonormal over the
	// rule's own weights. For Gauss–Hermite points they are Hermite's; for others, such
	// as UT(κ), they leave nothing of the rule's variance out.
	basis [][]float64
}

func newCoefficients(rule moment.Rule, f *moment.Func, order int) (*coefficients, error) {
	c := &coefficients{f: f, order: order, rule: rule.Nodes()}
	switch c.rule.Method {
	case moment.BySampling:
		return nil, fmt.Errorf("the rule %v draws its points: take a rule of fixed points, exact or linear", rule)
	case moment.ByPoints:
		for _, w := range c.rule.W {
			if w < 0 {
				return nil, errors.New("the rule has a negative weight: take one without")
			}
		}
		c.basis = orthonormal(c.rule.Xi, c.rule.W, order)
	}
	return c, nil
}

// orthonormal returns polynomials of degree 1 to degree at the points, as many as they
// can tell apart (Gram–Schmidt, twice, since once loses digits).
func orthonormal(xi, w []float64, degree int) (basis [][]float64) {
	one := make([]float64, len(xi))
	for i := range one {
		one[i] = 1
	}
	all := [][]float64{one}
	dot := func(a, b []float64) (sum float64) {
		for i, w := range w {
			sum += w * a[i] * b[i]
		}
		return sum
	}
	for range degree {
		p := make([]float64, len(xi))
		for i, x := range xi {
			p[i] = x * all[len(all)-1][i]
		}
		before := dot(p, p)
		for range 2 {
			for _, q := range all {
				d := dot(p, q)
				for i := range p {
					p[i] -= d * q[i]
				}
			}
		}
		norm := dot(p, p)
		if norm <= 1e-12*before {
			break
		}
		for i := range p {
			p[i] /= math.Sqrt(norm)
		}
		all = append(all, p)
	}
	return all[1:]
}

// at returns c₁, c₂, … over N(m, v), of which jet holds the moments.
func (c *coefficients) at(m, v float64, jet moment.Jet) []float64 {
	sd := math.Sqrt(v)
	switch c.rule.Method {
	case moment.ByTangent:
		return []float64{sd * c.f.Slope(m)}
	case moment.InClosedForm:
		x := make([]float64, c.order)
		if c.order > 2 {
			quad.Hermite(c.f, m, v, x)
		}
		x[0] = sd * jet.MeanByMean // Stein: c_k·√k! = σᵏ ∂ᵏE f/∂mᵏ
		if c.order > 1 {
			x[1] = math.Sqrt2 * v * jet.MeanByVar // E_mm = 2E_v
		}
		return x
	}
	f0 := c.f.F(m + sd*c.rule.Xi[0])
	x := make([]float64, len(c.basis))
	for i, xi := range c.rule.Xi {
		d := c.rule.W[i] * (c.f.F(m+sd*xi) - f0)
		for k, p := range c.basis {
			x[k] += d * p[i]
		}
	}
	return x
}
