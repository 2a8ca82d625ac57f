package moment

import (
	"fmt"
	"math"
)

// mostPoints bounds the points of a joint rule for one row.
const mostPoints = 100_000

// points is the part that joint rules share.
type points struct {
	name   string
	groups func(d int) int // nil: one
	count  func(d int) int
	node   func(d, p int, z []float64) float64
	err    error // of the parameters; Check returns it
}

func (r points) String() string                     { return r.name }
func (r points) Draws() bool                        { return false }
func (r points) Points(d int) int                   { return r.count(d) }
func (r points) Node(d, p int, z []float64) float64 { return r.node(d, p, z) }

func (r points) Groups(d int) int {
	if r.groups == nil {
		return 1
	}
	return r.groups(d)
}

func (r points) Check(m *Map, d int) error {
	if r.err != nil {
		return r.err
	}
	if err := m.Check(d); err != nil {
		return err
	}
	if n := r.count(d); n > mostPoints || n < 0 {
		return fmt.Errorf("%s needs more than %d points for %d inputs; use axes(3) or joint-mc(100)", r.name, mostPoints, d)
	}
	return nil
}

// onAxis writes the point ±c on axis p/2.
func onAxis(p int, c float64, z []float64) {
	clear(z)
	if p%2 == 0 {
		c = -c
	}
	z[p/2] = c
}

func twice(d int) int { return 2 * d }

// JointUT returns the unscented transform in d dimensions with spread κ ≥ 0: 2d points
// m ± √(d+κ)·σ on the axes, with weight 1/(2(d+κ)) each, and the mean with weight
// κ/(d+κ). The more inputs there are, the farther out its points lie.
func JointUT(kappa float64) JointRule {
	r := points{name: fmt.Sprintf("joint-ut(%v)", kappa), count: twice}
	if !(kappa >= 0) || math.IsInf(kappa, 0) {
		r.err = fmt.Errorf("joint-ut: κ is %v; it must be a number ≥ 0 (joint-ut(3-d) places its points at √3·σ)", kappa)
		return r
	}
	r.node = func(d, p int, z []float64) float64 {
		onAxis(p, math.Sqrt(float64(d)+kappa), z)
		return 1 / (2 * (float64(d) + kappa))
	}
	return r
}

// JointUTGauss returns the unscented transform with κ = 3−d, which matches the
// kurtosis of the Normal: points m ± √3·σ with weight 1/6. With more than three inputs
// the weight of the mean is negative, and a variance can be negative; see [JointRule].
func JointUTGauss() JointRule {
	return points{name: "joint-ut(3-d)", count: twice, node: func(_, p int, z []float64) float64 {
		onAxis(p, math.Sqrt(3), z)
		return 1.0 / 6
	}}
}

// JointAxes returns the univariate dimension reduction (Rahman & Xu 2004) by
// Gauss–Hermite quadrature of odd order along each axis: F is approximated by a sum of
// functions of one input each, whose means and variances add. Order 3 has the points
// and the mean of JointUTGauss; its variance is never negative.
func JointAxes(order int) JointRule {
	r := points{name: fmt.Sprintf("axes(%d)", order)}
	if order < 3 || order > 31 || order%2 == 0 {
		r.err = fmt.Errorf("axes: the order is %d; it must be odd, 3 to 31", order)
		return r
	}
	xi, w := hermite(order)
	xi, w = xi[1:], w[1:] // all but the mean
	r.groups = func(d int) int { return d }
	r.count = func(d int) int { return d * len(xi) }
	r.node = func(_, p int, z []float64) float64 {
		clear(z)
		z[p/len(xi)] = xi[p%len(xi)]
		return w[p%len(xi)]
	}
	return r
}

// JointGH returns the product of Gauss–Hermite quadratures: order^d points, for
// few inputs.
func JointGH(order int) JointRule {
	r := points{name: fmt.Sprintf("joint-gh(%d)", order)}
	if order < 2 || order > 32 {
		r.err = fmt.Errorf("joint-gh: the order is %d; it must be 2 to 32", order)
		return r
	}
	xi, w := hermite(order)
	r.count = func(d int) int {
		return int(min(math.Pow(float64(order), float64(d)), mostPoints+1))
	}
	r.node = func(_, p int, z []float64) float64 {
		weight := 1.0
		for i := range z {
			z[i] = xi[p%order]
			weight *= w[p%order]
			p /= order
		}
		return weight
	}
	return r
}

// JointFifth returns the cubature of degree five (McNamee & Stenger 1967): 2d² points
// m ± √3·σ on the axes and on the diagonals of each pair, with weights (4−d)/18 and
// 1/36. Unlike rules on the axes, it sees what two inputs do together, for example the
// variance of a product. In one and two dimensions it is Gauss–Hermite; with more than
// four inputs some weights are negative, see [JointRule].
func JointFifth() JointRule {
	return points{name: "fifth", count: func(d int) int { return 2 * d * d }, node: fifthNode}
}

func fifthNode(d, p int, z []float64) float64 {
	c := math.Sqrt(3)
	if p < 2*d {
		onAxis(p, c, z)
		return float64(4-d) / 18
	}
	clear(z)
	p -= 2 * d
	pair, i := p/4, 1
	for pair >= i { // pairs (1,0), (2,0), (2,1), (3,0) …
		pair -= i
		i++
	}
	z[i], z[pair] = c, c
	if p&1 != 0 {
		z[i] = -c
	}
	if p&2 != 0 {
		z[pair] = -c
	}
	return 1.0 / 36
}

// JointMC returns the sampling rule: n ≥ 2 joint draws, their mean and their n−1
// variance. The draws are those of the units of the row, as in MonteCarlo.
func JointMC(n int) JointRule { return jointMC{n} }

type jointMC struct{ n int }

func (r jointMC) String() string                     { return fmt.Sprintf("joint-mc(%d)", r.n) }
func (r jointMC) Points(int) int                     { return r.n }
func (r jointMC) Groups(int) int                     { return 1 }
func (r jointMC) Draws() bool                        { return true }
func (r jointMC) Node(_, _ int, _ []float64) float64 { return 1 / float64(r.n) }

func (r jointMC) Check(m *Map, d int) error {
	if r.n < 2 {
		return fmt.Errorf("joint-mc: %d samples; a variance needs at least 2", r.n)
	}
	return m.Check(d)
}

// JointOwn returns the rule that uses Map.ClosedForm.
func JointOwn() JointRule { return jointOwn{} }

type jointOwn struct{}

func (jointOwn) String() string                     { return "own" }
func (jointOwn) Points(int) int                     { return 0 }
func (jointOwn) Groups(int) int                     { return 1 }
func (jointOwn) Draws() bool                        { return false }
func (jointOwn) Node(_, _ int, _ []float64) float64 { return 0 }

func (jointOwn) Check(m *Map, d int) error {
	if err := m.Check(d); err != nil {
		return err
	}
	if m.ClosedForm == nil {
		return fmt.Errorf("own: %s has no closed form; use fifth, axes(3) or joint-mc(100)", m.title())
	}
	return nil
}

// DefaultJoint returns the default rule for a map of d inputs: the closed form of the
// map if it has one; otherwise JointFifth up to ten inputs, where it was the best of
// the point rules on softmax, and JointAxes beyond, which needs 2d evaluations instead
// of 2d².
func DefaultJoint(m *Map, d int) JointRule {
	switch {
	case m != nil && m.ClosedForm != nil:
		return JointOwn()
	case d <= sizedMost:
		return JointFifth()
	}
	return JointAxes(3)
}
