package moment

import (
	"fmt"
	"math"

	"utvi/internal/compute"
	"utvi/internal/compute/kernel"
	"utvi/rng"
)

// At pushes one Gaussian through f by rule, in float64; a nil rule means Default. key
// seeds rules that draw; other rules ignore it.
func At(f *Func, rule Rule, mean, variance float64, key rng.Key) (Jet, error) {
	if rule == nil {
		rule = Default(f)
	}
	if err := rule.Check(f); err != nil {
		return Jet{}, err
	}
	if !compute.Finite(mean) {
		return Jet{}, fmt.Errorf("the mean is %v; it must be a finite number", mean)
	}
	if !(variance >= 0) || !compute.Finite(variance) {
		return Jet{}, fmt.Errorf("the variance is %v; it must be a finite number ≥ 0", variance)
	}
	t := NewTile[float64](f, rule)
	o := newMoments[float64](1)
	t.Mean = []float64{mean}
	t.Var = []float64{variance}
	t.Out = o
	t.Key = key
	j := Jet{}
	if l, ok := rule.(learnedUT); ok {
		t.Kappa = l.kappa
		t.MK = make([]float64, 1)
		t.VK = make([]float64, 1)
	}
	t.Push()
	if t.MK != nil {
		j.MeanByKappa, j.VarByKappa = t.MK[0], t.VK[0]
	}
	j.Mean, j.Var = o.Mean[0], o.Var[0]
	j.MeanByMean = o.MM[0]
	j.MeanByVar = o.MV[0]
	j.VarByMean = o.VM[0]
	j.VarByVar = o.VV[0]
	return j, nil
}

// PointsAt returns the points and weights that a rule uses for N(mean, variance). The
// exact rule has no points.
func PointsAt(rule Rule, mean, variance float64, key rng.Key) (x, w []float64) {
	n := rule.Nodes()
	xi, w := n.Xi, n.W
	if n.draws() {
		z := make([]float32, n.Samples)
		kernel.Normals(z, key, 0, 0, 1, n.Samples)
		for _, z := range z {
			xi, w = append(xi, float64(z)), append(w, 1/float64(n.Samples))
		}
	}
	s := math.Sqrt(variance)
	for _, xi := range xi {
		x = append(x, mean+xi*s)
	}
	return x, w
}
