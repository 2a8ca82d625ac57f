package moment

import "utvi/internal/compute/kernel"

// A Rule approximates the moments of a function of a Gaussian. Rules are immutable
// values.
//
// A rule of fixed points is made by [Points]. To write any other, implement this
// interface: say where to look in Push, evaluate there with Tile.Eval, and combine.
// Tile.Scratch has room for points, values and slopes. Both Push methods are one line
// over the same generic body.
//
// The rule itself takes the limit of tiny variances, down to v = 0. There differences
// of nearby values are rounding only, so it writes the limit in place of them: with the
// slope f' and the curvature f" at m (Func.Slope, Func.Curvature),
//
//	∂mean/∂m = f'    ∂mean/∂v = f"/2 (0 at v = 0)    ∂var/∂m = 2f'f"v    ∂var/∂v = f'²
type Rule interface {
	// String returns the name of the rule with its parameters, as Parse reads it.
	String() string

	// Check is called when a network is built; it reports whether the rule works for
	// f.
	Check(f *Func) error

	// Nodes returns where the rule evaluates the function.
	Nodes() Nodes

	// Learns reports whether the rule has a κ that training learns.
	Learns() bool

	// Vector reports whether Push32 works for f. If not, float32 elements are pushed
	// in float64.
	Vector(f *Func) bool

	// Push fills t.Out from t.Mean and t.Var.
	Push32(t *Tile[float32])
	Push64(t *Tile[float64])
}

// A Method is a way of evaluating a function.
type Method uint8

const (
	// ByPoints evaluates the function at fixed standardised points.
	ByPoints Method = iota
	// InClosedForm uses Func.Exact and has no points.
	InClosedForm
	// BySampling evaluates the function at random points.
	BySampling
	// ByTangent uses value and slope at the mean.
	ByTangent
	// ByOwnFormula looks in a way of its own, none of the above; Xi, W and Samples are
	// not used. An exporter cannot write such a rule out.
	ByOwnFormula
)

// Nodes say where a rule evaluates a function of N(m, σ²), so that an exporter can
// write the rule or another engine can run it.
type Nodes struct {
	Method Method
	// Xi and W are the standardised points and their weights, for ByPoints: the
	// function is evaluated at m + ξσ. A rule that learns κ returns the points of its
	// starting κ; SigmaPoints returns them for any κ.
	Xi, W []float64
	// Samples is the number of random points, for BySampling.
	Samples int
}

// count is the number of evaluations an element needs.
func (n Nodes) count() int { return max(1, len(n.Xi), n.Samples) }

func (n Nodes) draws() bool { return n.Method == BySampling }

// Default returns the default rule for f: the closed form if a kernel computes it, else
// nine Gauss–Hermite points. Closed forms in scalar code, such as that of GELU, make a
// training fifty times slower; name Exact where they are wanted.
//
// Few points have a blind spot: where |m| > √3·σ, all three of UT(2) lie on one side of a
// kink at 0, and see no variance or all of it. Training rewards large weight variances and
// punishes large output variances, so it moves units there, and the predicted variance
// becomes smaller than that of the networks it describes. Five points end at 2.9·σ, which
// a long training still reaches at times; nine end at 4.5·σ.
func Default(f *Func) Rule {
	if f != nil && f.Exact != nil && Exact().Vector(f) {
		return Exact()
	}
	return ninePoints
}

var ninePoints = GaussHermite(9)

// Draws reports whether a rule uses random points.
func Draws(r Rule) bool { return r.Nodes().draws() }

// Points returns the rule with the given standardised points ξ and weights w. They
// must have the first moments of the standard Normal: Σw = 1, Σwξ = 0, Σwξ² = 1.
// Values are measured from the value at the first point; rounding errors are smallest
// if that is the innermost point.
func Points(name string, xi, w []float64) Rule {
	r := nodes{name: name, xi: xi, w: w}
	r.err = checkPoints(name, xi, w)
	return r
}

// vectorised reports whether float32 has a vector evaluation of f.
func vectorised(f *Func) bool { return f.Op != kernel.OpUser || f.Formula != nil }
