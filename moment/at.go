package moment

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"utvi/compute"
	"utvi/rng"
)

// At pushes one Gaussian through f by rule, in float64; a nil rule stands for
// UT(2). key seeds the rules that draw, any key serves the others.
func At(f *Func, rule Rule, mean, variance float64, key rng.Key) (Jet, error) {
	if rule == nil {
		rule = UT(2)
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
	t.Mean, t.Var, t.Out, t.Key = []float64{mean}, []float64{variance}, o, key
	j := Jet{}
	if l, ok := rule.(learnedUT); ok {
		t.Kappa, t.MK, t.VK = l.kappa, make([]float64, 1), make([]float64, 1)
	}
	t.Push()
	if t.MK != nil {
		j.MeanByKappa, j.VarByKappa = t.MK[0], t.VK[0]
	}
	j.Mean, j.Var = o.Mean[0], o.Var[0]
	j.MeanByMean, j.MeanByVar, j.VarByMean, j.VarByVar = o.MM[0], o.MV[0], o.VM[0], o.VV[0]
	return j, nil
}

// PointsAt returns where a rule looks for N(mean, variance), and with which
// weights. The exact rule looks nowhere.
func PointsAt(rule Rule, mean, variance float64, key rng.Key) (x, w []float64) {
	s := math.Sqrt(variance)
	add := func(xi, wk float64) { x, w = append(x, mean+xi*s), append(w, wk) }
	switch r := rule.(type) {
	case nodes:
		for k, xi := range r.xi {
			add(xi, r.w[k])
		}
	case learnedUT:
		xi, wk := sigmaPoints(r.kappa)
		for k := range xi {
			add(xi[k], wk[k])
		}
	case monteCarlo:
		z := make([]float32, r.n)
		compute.Normals(z, key, 0, 0, 1, r.n)
		for _, z := range z {
			add(float64(z), 1/float64(r.n))
		}
	case linear:
		add(0, 1)
	}
	return x, w
}

// Parse returns the rule of a name such as "ut(2)", "gh(5)", "genut(0,3)",
// "mc(10)", "linear", "exact" or "learned-ut(2)": what Rule.String gives.
func Parse(name string) (Rule, error) {
	kind, args, err := splitCall(name)
	if err != nil {
		return nil, fmt.Errorf("rule %q: %w", name, err)
	}
	want := map[string]int{"ut": 1, "learned-ut": 1, "gh": 1, "mc": 1, "genut": 2, "linear": 0, "exact": 0}
	n, ok := want[kind]
	if !ok {
		return nil, fmt.Errorf("there is no rule %q; there are ut(κ), learned-ut(κ), gh(order), genut(skewness,kurtosis), mc(samples), linear, exact", name)
	}
	if len(args) != n {
		return nil, fmt.Errorf("rule %q takes %d parameters, not %d", kind, n, len(args))
	}
	if (kind == "gh" || kind == "mc") && !(args[0] == math.Trunc(args[0]) && math.Abs(args[0]) <= 1e9) {
		return nil, fmt.Errorf("rule %q: the number of points must be a whole number up to 1e9", name)
	}
	switch kind {
	case "ut":
		return UT(args[0]), nil
	case "learned-ut":
		return LearnedUT(args[0]), nil
	case "gh":
		return GaussHermite(int(args[0])), nil
	case "mc":
		return MonteCarlo(int(args[0])), nil
	case "genut":
		return GenUT(args[0], args[1]), nil
	case "linear":
		return Linear(), nil
	}
	return Exact(), nil
}

// splitCall splits "name(1,2)" into its name and numbers.
func splitCall(s string) (string, []float64, error) {
	name, rest, ok := strings.Cut(s, "(")
	if !ok {
		return name, nil, nil
	}
	inner, ok := strings.CutSuffix(rest, ")")
	if !ok {
		return "", nil, errors.New("a parenthesis is not closed")
	}
	var args []float64
	for _, a := range strings.Split(inner, ",") {
		x, err := strconv.ParseFloat(strings.TrimSpace(a), 64)
		if err != nil {
			return "", nil, fmt.Errorf("%q is not a number", a)
		}
		args = append(args, x)
	}
	return name, args, nil
}
