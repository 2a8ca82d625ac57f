package moment

import (
	"fmt"
	"math"
)

// The slopes of a map of independent Gaussians, as a rule sees them, are those of the
// linear map that fits best: g_ji = Cov(F_j(x), x_i)/v_i = Σ w z_i F_j / σ_i. What is
// left of an output's variance beyond Σ_i g_ji² v_i is independent of the inputs to
// first order.

// CheckJointSlope reports whether a joint rule can compute the slopes of a map.
func CheckJointSlope(r JointRule) error {
	if _, own := r.(jointOwn); own || r.Draws() {
		return fmt.Errorf("the rule %v cannot carry correlations; use a joint rule with fixed points, such as joint-gh(3)", r)
	}
	return nil
}

// Slopes writes the slopes of the outputs with respect to the inputs, outputs ×
// inputs. A σ below 1e-5·(1+|m|) is raised to that size.
func (t *JointTile) Slopes(mean, variance, g []float64) {
	t.spread(mean, variance)
	t.look(mean)
	clear(g)
	for p, w := range t.w {
		e, _ := t.row(p)
		t.stand(p)
		for j, e := range e {
			for i, z := range t.z {
				g[j*t.in+i] += w * z * e / t.sigma[i]
			}
		}
	}
}

// PullSlopes adds to dm and dv the gradients of a loss with respect to the input
// moments, given its gradients dg with respect to the slopes g.
func (t *JointTile) PullSlopes(mean, variance, g, dg, dm, dv []float64) {
	t.spread(mean, variance)
	clear(t.dsig)
	for j := range t.out {
		for i, s := range t.sigma {
			t.dsig[i] -= dg[j*t.in+i] * g[j*t.in+i] / s
		}
	}
	for p, w := range t.w {
		t.place(p, mean)
		for j := range t.df {
			t.df[j] = 0
			for i, z := range t.z {
				t.df[j] += w * z * dg[j*t.in+i] / t.sigma[i]
			}
		}
		t.slopes.pull(t.x, t.df, t.dx)
		for i, d := range t.dx {
			dm[i] += d
			t.dsig[i] += d * t.z[i]
		}
	}
	for i, s := range t.sigma {
		dv[i] += t.dsig[i] / (2 * s)
	}
}

// spread computes the σ of the inputs, none smaller than what differences of values
// resolve.
func (t *JointTile) spread(mean, variance []float64) {
	least := t.slopes.resolves()
	for i, v := range variance {
		t.sigma[i] = max(math.Sqrt(v), least*(1+math.Abs(mean[i])))
	}
}
