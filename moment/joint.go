package moment

import (
	"errors"
	"fmt"
)

// A Map is a nonlinearity that couples its inputs, such as softmax: F writes k outputs
// y for d inputs x. It needs a [JointRule]. The elementwise rules would be wrong for
// it (a softmax does not change at all when all logits move together), and their types
// do not fit.
type Map struct {
	// Name identifies the map in messages and in model files.
	Name string

	// Family is set if Name is this word with numbers behind it, such as "gain" of
	// "gain(2,0.5)", and a program makes such maps from their numbers. A model file then
	// holds the name alone, and the maker is brought when it is loaded (model.WithMaps).
	Family string

	// In and Out are the numbers of inputs and outputs. In = 0 fits any number; Out =
	// 0 means as many outputs as inputs.
	In, Out int

	// F writes F(x) to y. It must not keep or change x.
	F func(x, y []float64)

	// VJP writes dx = dy·∂F/∂x. Nil means central differences.
	VJP func(x, dy, dx []float64)

	// ShiftInvariant says that F does not change when all inputs shift by the same
	// amount, as in a softmax.
	ShiftInvariant bool

	// ClosedForm returns the map's formula for the moments of d independent Gaussians,
	// if one is known that is better than evaluating points. The rule JointOwn uses
	// it. The result must be used by one goroutine at a time.
	ClosedForm func(d int) ClosedForm
}

// A ClosedForm computes the moments of a Map of independent Gaussians by a formula,
// exact or approximate.
type ClosedForm interface {
	// Push writes the means and variances of the outputs.
	Push(mean, variance, outMean, outVar []float64)
	// Pull writes dm and dv, the gradients of a loss with respect to the input
	// moments, given its gradients gm and gv with respect to the output moments.
	Pull(mean, variance, gm, gv, dm, dv []float64)
}

// A JointRule approximates the moments of a [Map] of independent Gaussians. It
// looks at the mean and at points m + σ∘z with weights w. The points fall into
// groups, equal stretches whose variances add; with e = F(x) − F(m) and, in a
// group, M = Σ w e and W = Σ w,
//
//	mean = F(m) + Σ M
//	cov  = c·Σ [ Σ w (e−M)(e−M)ᵀ + (1−W) M Mᵀ ]
//
// summed over the groups; c = 1, or n/(n−1) for n draws. A rule with W > 1 can
// give a negative variance; it counts as 0 and has no gradient.
//
// Gradients go through the points, with two exceptions. A σ below
// 1e-5·(1+|m|) is differentiated at that size, where divided differences still
// resolve the limits ½∂²F and (∂F)². A rule that draws gives an input whose
// variance is exactly zero no variance gradient.
type JointRule interface {
	// String returns the name of the rule with its parameters, as ParseJoint reads it.
	String() string
	// Check reports whether the rule works for m with d inputs.
	Check(m *Map, d int) error
	// Points returns the number of points besides the mean, Groups the number of
	// groups that the points form.
	Points(d int) int
	Groups(d int) int
	// Draws reports whether the points are standard Normals of equal weight.
	Draws() bool
	// Node writes the standardised point p, unless the rule draws, and returns
	// its weight.
	Node(d, p int, z []float64) float64
}

// Outputs returns the number of outputs for d inputs.
func (m *Map) Outputs(d int) int {
	if m.Out == 0 {
		return d
	}
	return m.Out
}

// Check reports whether m can be applied to d inputs.
func (m *Map) Check(d int) error {
	switch {
	case m == nil || m.F == nil:
		return errors.New("the map has no function F; write &moment.Map{F: f}")
	case m.In < 0 || m.Out < 0:
		return fmt.Errorf("%s has %d inputs and %d outputs; both must be ≥ 0; 0 means any number of inputs, or as many outputs as inputs", m.title(), m.In, m.Out)
	case d < 1 || m.In != 0 && m.In != d:
		return fmt.Errorf("%s takes %d inputs, not %d", m.title(), max(1, m.In), d)
	}
	return nil
}

func (m *Map) title() string {
	if m.Name == "" {
		return "the map"
	}
	return m.Name
}

// A jacobian evaluates a map's VJP, by differences where it has none.
type jacobian struct {
	m          *Map
	at, lo, hi []float64
}

func newJacobian(m *Map, in, out int) jacobian {
	j := jacobian{m: m}
	if m.VJP == nil {
		j.at = make([]float64, in)
		j.lo = make([]float64, out)
		j.hi = make([]float64, out)
	}
	return j
}

// pull writes dx = dy·∂F/∂x.
func (j *jacobian) pull(x, dy, dx []float64) {
	if j.m.VJP != nil {
		j.m.VJP(x, dy, dx)
		return
	}
	copy(j.at, x)
	for i, xi := range x {
		a, b := around(xi)
		j.at[i] = a
		j.m.F(j.at, j.lo)
		j.at[i] = b
		j.m.F(j.at, j.hi)
		j.at[i] = xi
		var sum float64
		for k, g := range dy {
			sum += g * (j.hi[k] - j.lo[k])
		}
		dx[i] = sum / (b - a)
	}
}

// resolves is the smallest σ, relative to 1+|m|, whose divided differences are kept:
// the slope's own differences are coarser.
func (j *jacobian) resolves() float64 {
	if j.m.VJP == nil {
		return 1e-4
	}
	return 1e-5
}
