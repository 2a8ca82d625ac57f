package moment

import (
	"math"

	"utvi/internal/cholesky"
)

// A CovTile pushes rows of correlated Gaussians through a Map, one row at a time: it
// is a JointTile whose inputs have covariances. Its points are m + L·z, with L the
// lower triangular root of the covariance. A map's closed form needs independent
// inputs: it gets those whose differences have the most similar variances; see alike.
type CovTile struct {
	*JointTile
	lower, dcov [][]float64 // rows of the root, and of the gradient
	least       []float64   // the smallest pivots, as standard deviations
	alike       alike
	v, dv       []float64 // of independent inputs
}

// TakesCovariances reports whether rule can push correlated inputs through m. A rule
// of points can; the closed form of a map can only if the map is ShiftInvariant.
func TakesCovariances(m *Map, rule JointRule) bool {
	_, own := rule.(jointOwn)
	return !own || m.ShiftInvariant
}

// NewCovTile returns a tile for pushing d inputs through m by rule. rule.Check must
// have accepted m and d, and the rule must take covariances.
func NewCovTile(m *Map, rule JointRule, d int) *CovTile {
	t := &CovTile{JointTile: NewJointTile(m, rule, d)}
	if t.own != nil {
		t.alike = alike{r: make([]float64, d), in: make([]bool, d)}
		t.v, t.dv = make([]float64, d), make([]float64, d)
		return t
	}
	t.root, t.least = make([]float64, d*d), make([]float64, d)
	t.lower, t.dcov = make([][]float64, d), make([][]float64, d)
	for i := range t.lower {
		t.lower[i] = t.root[i*d:][:d]
	}
	return t
}

// pivotNoise is the pivot of a covariance, relative to its variance, below which it is
// rounding: it is taken at that size.
const pivotNoise = 1e-6

// Push writes the means and variances of the outputs. cov is symmetric, inputs × inputs.
func (t *CovTile) Push(mean, cov, outMean, outVar []float64) {
	if t.own != nil {
		t.alike.fit(cov, t.v)
		t.own.Push(mean, t.v, outMean, outVar)
		return
	}
	clear(t.least)
	t.factor(cov)
	t.look(mean)
	t.combine(outMean, outVar)
}

// Pull writes the gradients of a loss with respect to the input moments, given its
// gradients gm and gv with respect to the output moments. dcov is symmetric: a change
// dC changes the loss by Σ dcov·dC. Small pivots are treated like small variances in
// JointTile.Pull.
func (t *CovTile) Pull(mean, cov, gm, gv, dm, dcov []float64) {
	d := t.in
	if t.own != nil {
		t.alike.fit(cov, t.v)
		t.own.Pull(mean, t.v, gm, gv, dm, t.dv)
		t.alike.pull(t.dv, dcov)
		return
	}
	resolves := t.slopes.resolves()
	for i, m := range mean {
		t.least[i] = resolves * (1 + math.Abs(m))
		if t.draws != nil {
			t.least[i] = 0
		}
		t.dcov[i] = dcov[i*d:][:d]
	}
	t.factor(cov)
	clear(dcov)
	t.pull(mean, gm, gv, dm, func(dx []float64) {
		for i, g := range dx {
			for j, z := range t.z[:i+1] {
				t.dcov[i][j] += g * z
			}
		}
	})
	cholesky.Pull(t.lower, t.dcov)
}

// factor finds the root of cov, with no pivot smaller than least.
func (t *CovTile) factor(cov []float64) {
	copy(t.root, cov)
	cholesky.Factor(t.lower, func(i int, s float64) float64 {
		return max(t.least[i], math.Sqrt(max(s, pivotNoise*cov[i*(t.in+1)])))
	})
}
