package kernel

import (
	"math"

	"utvi/internal/compute"
	"utvi/internal/compute/internal/cpu"
)

// Panel is how many columns lie together in a panel of a product's right operand. It is
// known here because some kernels write or read panels.
const Panel = 16

// A LeakyPair is a leaky ReLU by a rule of three points whose outer two lie on either side of the
// middle one alike, for the kernels of AVX-512. They take gradients back without a Jacobian, which
// is computed again: to write its four planes and to read them would take longer.
type LeakyPair struct{ k [9]float32 } // its order is that of gen/elem

// NewLeakyPair returns the pair of slope a and a rule, or nil where there are no kernels for it.
func NewLeakyPair(a float32, xi, w []float32) *LeakyPair {
	if p, ok := leakyPair(a, xi, w); ok {
		return &p
	}
	return nil
}

func leakyPair(a float32, xi, w []float32) (p LeakyPair, ok bool) {
	if !cpu.Wide || !(a <= 1) || len(xi) != 3 || xi[0] != 0 || xi[1] != -xi[2] || w[1] != w[2] || math.Abs(float64(w[0]+2*w[1]-1)) > 1e-6 {
		return p, false
	}
	x := max(xi[1], xi[2])
	o := w[1]
	c := 1 - a
	return LeakyPair{[...]float32{a, -a, c, -c, x, o, 2 * o, o * (1 - o), x / 2}}, true
}

// PullPair pulls gradients gm, gv with respect to the moments that a pair makes of m and v back to
// these. dm and dv may be gm and gv. If rows is not 0, dm and dv get so many rows in panels of Panel
// columns; see Dense.TapePanels.
func PullPair[T compute.Float](p *LeakyPair, m, v, gm, gv, dm, dv []T, rows int) {
	n := len(m)
	if len(v) != n || len(gm) != n || len(gv) != n || len(dm) != n || len(dv) != n || rows > 0 && n%(rows*Panel) > 0 {
		panic("compute: PullPair lengths differ")
	}
	if n > 0 {
		p.pull(cpu.As32(m), cpu.As32(v), cpu.As32(gm), cpu.As32(gv), cpu.As32(dm), cpu.As32(dv), rows)
	}
}

// A OneOutput is a layer of one output behind a pair, with rows of what it saw: M and V are the moments
// before the pair, Mean what the pair made of them, the layer's input; G and H the gradients by
// its outputs. Columns are w̄, s and w̄²+s, one after the other.
type OneOutput struct{ M, V, Mean, Columns, G, H []float32 }

// A OneInput is a layer of one input before a pair: rows of that input, the weights' means and
// variances and those of the biases.
type OneInput struct{ X, W, S, BiasMean, BiasVar []float32 }

// check looks at the far corner of what the kernels read: they do not look.
func (l *OneInput) check(rows int) {
	n := len(l.BiasMean)
	_ = l.X[rows-1]
	_ = l.W[n-1]
	_ = l.S[n-1]
	_ = l.BiasVar[n-1]
}

// OneInputGradients are those of a layer of one input, by means and variances.
type OneInputGradients struct{ W, S, BiasMean, BiasVar []float32 }
