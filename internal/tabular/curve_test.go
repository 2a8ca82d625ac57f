package tabular

import (
	"math"
	"testing"

	"utvi/data"
	"utvi/dist"
	"utvi/gauss"
	"utvi/internal/special"
	"utvi/rng"
)

// bentRows are n rows with ln v from N(−3, 1) and means from N(0, 1), whose errors have the
// variance v·e^bump, where bump depends on ln v and the mean.
func bentRows(seed uint64, n int, bump func(logv, mean float64) float64) (f fold, truth float64) {
	d := Data{Set: data.Set{X: gauss.Fixed(1, make([]float32, n)), Y: make([]float32, n)}}
	h := heldOutPredictions{Mean: make([]float32, n), Var: make([]float32, n)}
	key := rng.New(seed)
	for i := range n {
		z := func(k int) float64 { return rng.Normal(key, uint64(3*i+k)) }
		mean, log := z(0), -3+z(1)
		h.Mean[i], h.Var[i] = float32(mean), float32(math.Exp(log))
		log += bump(log, mean)
		d.Y[i] = float32(mean + math.Exp(log/2)*z(2))
		truth += (-halfLog2Pi - log/2 - z(2)*z(2)/2) / float64(n)
	}
	return fold{held: d, by: [][]*result{{{log: record{Held: []heldOutPredictions{h}}}}}}, truth
}

// middle is a bump between −4 and −2, that no power and no tilt can follow.
func middle(x float64) float64 { return 1.2 * math.Exp(-2*(x+3)*(x+3)) }

// Where errors are too large in the middle of the variances, held-out rows show it, and
// other rows are covered alike at all variances.
func TestCurve(t *testing.T) {
	bump := func(logv, _ float64) float64 { return middle(logv) }
	f, _ := bentRows(11, 1500, bump)
	s := fitShape([]fold{f}, only, 0, nil)
	if s.Level == nil || s.Level.Curve == nil {
		t.Fatalf("the level is %+v", s.Level)
	}
	others, truth := bentRows(12, 6000, bump)
	cover := func(s ResidualMixture) (c [3]float64) { // below, in and above the bump
		h := only(others)[0]
		var n [3]float64
		for i, y := range others.held.Y {
			m, v := float64(h.Mean[i]), float64(h.Var[i])
			at := 1 + min(1, max(-1, int(math.Floor((math.Log(v)+3)/1.2+0.5))))
			v *= s.Level.Factor(m, v)
			var below float64
			for j, w := range s.W {
				below += w * special.CDF((float64(y)-m)/math.Sqrt(s.R[j]*v))
			}
			if n[at]++; below > 0.05 && below < 0.95 {
				c[at]++
			}
		}
		for i := range c {
			c[i] /= n[i]
		}
		return c
	}
	got, _ := mixtureScore([]fold{others}, only, []ResidualMixture{s})
	plain := fitResiduals([]fold{f}, only, 0)
	was, _ := mixtureScore([]fold{others}, only, []ResidualMixture{plain})
	if got < truth-0.01 || was > truth-0.03 {
		t.Errorf("ln p of other rows is %v, %v without a curve, and %v by the truth", got, was, truth)
	}
	for i, c := range cover(s) {
		if math.Abs(c-0.9) > 0.02 {
			t.Errorf("part %d: the intervals hold %v of the rows, %v without a curve, want 0.9", i, c, cover(plain)[i])
		}
	}
}

// A curve is over the variance of the target, not over that of what networks predict.
func TestCurveOfTransformedTarget(t *testing.T) {
	w := &dist.Warp{Low: 1e-3, Top: 1e3, SD: 1} // the logarithm
	if a := along(w); math.Abs(a-2) > 1e-9 {
		t.Fatalf("a mean counts for %v, want 2", a)
	}
	if along(nil) != 0 {
		t.Error("a mean counts without a transform")
	}
	f, truth := bentRows(11, 4000, func(logv, mean float64) float64 { return middle(logv + 2*mean) })
	s := fitShape([]fold{f}, only, 0, w)
	if got, _ := mixtureScore([]fold{f}, only, []ResidualMixture{s}); got < truth-0.01 {
		t.Errorf("ln p is %v, by the truth %v", got, truth)
	}
}

// Rows that do not ask for a curve, and rows that are too few, get none.
func TestNoCurve(t *testing.T) {
	right := func(_, _ float64) float64 { return 0 }
	for _, n := range []int{curveFewest, 300, 3000} {
		f, _ := bentRows(11, n, right)
		if s := fitShape([]fold{f}, only, 0, nil); s.Level != nil && s.Level.Curve != nil {
			t.Errorf("%d rows: the curve is %+v", n, s.Level.Curve)
		}
	}
	bump := func(logv, _ float64) float64 { return 3 * middle(logv) }
	few, _ := bentRows(11, curveFewest-1, bump)
	few.train.X.Rows = tinyRows // of a table in order, whose last rows are held out
	if s := fitShape([]fold{few}, only, 0, nil); s.Level != nil && s.Level.Curve != nil {
		t.Errorf("few rows have the curve %+v", s.Level.Curve)
	}
	tiny, _ := bentRows(11, tinyRows-1, bump)
	if s := fitShape([]fold{tiny}, only, 0, nil); s.Level != nil && s.Level.Curve != nil {
		t.Errorf("a tiny table has the curve %+v", s.Level.Curve)
	}
	tiny.train.X.Rows = 1
	if s := fitShape([]fold{tiny}, only, 0, nil); s.Level == nil || s.Level.Curve == nil {
		t.Error("the rows of a larger table have no curve")
	}
	alike := make([][]residual, 300)
	for i := range alike {
		alike[i] = []residual{{z2: float64(i % 3), log: 1e-3 * float64(i%2)}}
	}
	if f := newCurveFit(alike, make([]float64, 300), 0); f != nil {
		t.Errorf("variances that are alike have knots at %v", f.curve.At)
	}
}

// Grades get no curve; the same values in fine steps do.
func TestCurveOfGrades(t *testing.T) {
	for _, step := range []float64{0.01, 0.4} {
		f, _ := bentRows(11, 1500, func(logv, _ float64) float64 { return middle(logv) })
		for i, y := range f.held.Y {
			f.held.Y[i] = float32(step * math.Round(float64(y)/step))
		}
		s := fitShape([]fold{f}, only, 0, nil)
		if got, want := s.Level != nil && s.Level.Curve != nil, step < 0.1; got != want {
			t.Errorf("steps of %v: there is a curve: %v, want %v", step, got, want)
		}
	}
}

// A step leads to the top of ln p: there its slope is that of the prior.
func TestCurveStep(t *testing.T) {
	f, _ := bentRows(11, 200, func(logv, _ float64) float64 { return middle(logv) })
	rows, counts := residuals([]fold{f}, only, 0)
	for i := range counts {
		counts[i] = 1 + float64(i%3)
	}
	s, _ := fitMixture(rows, counts)
	c := newCurveFit(rows, counts, 0)
	all := func(int) bool { return true }
	c.fit(s, 1, all)
	u := append([]float64(nil), c.curve.Log...) // of ln factor = root·u
	for i := range u {
		for k := range i {
			u[i] -= c.root[i][k] * u[k]
		}
		u[i] /= c.root[i][i]
	}
	value := func(k int, by float64) float64 {
		v := append([]float64(nil), u...)
		v[k] += by
		var prior float64
		for i := range v {
			prior -= v[i] * v[i] / 2
			c.curve.Log[i] = 0
			for j := range i + 1 {
				c.curve.Log[i] += c.root[i][j] * v[j]
			}
		}
		return prior + c.logp(s, all)
	}
	for k := range u {
		const d = 1e-3
		if slope := (value(k, d) - value(k, -d)) / (2 * d); math.Abs(slope) > 0.1 {
			t.Errorf("the slope of ln p is %v at number %d", slope, k)
		}
		if value(k, 0.3) > value(k, 0) || value(k, -0.3) > value(k, 0) {
			t.Errorf("ln p is not largest at number %d", k)
		}
	}
}

// Beyond the variances of held-out rows, a curve that narrows the largest ones returns to 1.
func TestCurveFades(t *testing.T) {
	f, _ := bentRows(13, 1500, func(logv, _ float64) float64 { return middle(logv) - 1.5*special.CDF(4*(logv+1.5)) })
	l := fitShape([]fold{f}, only, 0, nil).Level
	if l == nil || l.Curve == nil {
		t.Fatalf("the level is %+v", l)
	}
	factor := func(logv float64) float64 { // of the curve alone
		c := *l
		c.Curve = nil
		v := math.Exp(logv)
		return l.Factor(0, v) / c.Factor(0, v)
	}
	if seen, far := factor(-0.5), factor(8); !(seen < 0.7 && math.Abs(far-1) < 1e-9) {
		t.Errorf("the factor is %.3f where rows were held out, and %.3f beyond", seen, far)
	}
}
