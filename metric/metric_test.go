package metric

import (
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"utvi/dist"
	"utvi/rng"
)

func near(t *testing.T, what string, got, want, bound float64) {
	t.Helper()
	if !(math.Abs(got-want) <= bound) {
		t.Errorf("%s: %.12g, want %.12g ± %.2g", what, got, want, bound)
	}
}

func TestMean(t *testing.T) {
	x := []float64{1e6 + 1, 1e6 + 2.5, 1e6 - 4, 1e6 + 7, 1e6 + 0.25}
	w := []float64{1, 0.5, 2, 1.5, 0.1}
	var all, a, b mean
	var sw, sx, sw2 float64
	for i := range x {
		all.add(x[i], w[i])
		sw += w[i]
		sw2 += w[i] * w[i]
		sx += w[i] * x[i]
		if i < 2 {
			a.add(x[i], w[i])
		} else {
			b.add(x[i], w[i])
		}
	}
	m, v := sx/sw, 0.0
	for i := range x {
		v += w[i] * w[i] * (x[i] - m) * (x[i] - m)
	}
	near(t, "mean", all.value(), m, 1e-9)
	near(t, "standard error", all.se(), math.Sqrt(v*5/4)/sw, 1e-9)
	near(t, "rows", all.rows(), sw*sw/sw2, 1e-12)
	a.merge(&b)
	near(t, "merged mean", a.value(), all.value(), 1e-9)
	near(t, "merged standard error", a.se(), all.se(), 1e-9)
	var none mean
	none.merge(&all)
	if !reflect.DeepEqual(none, all) {
		t.Error("merging into nothing")
	}
}

func TestWilson(t *testing.T) {
	// Solve the defining equation (share − p)² = z²·p(1−p)/n at both ends.
	const z = 1.959963984540054
	for _, c := range [][2]float64{{0.9, 306}, {0, 10}, {1, 25}, {0.37, 7.5}} {
		low, high := Wilson(c[0], c[1])
		for _, p := range []float64{low, high} {
			near(t, "Wilson", (c[0]-p)*(c[0]-p), z*z*p*(1-p)/c[1], 1e-12)
		}
		if low > c[0] || high < c[0] {
			t.Errorf("share %g outside %g … %g", c[0], low, high)
		}
	}
	for n := range 5000 { // despite rounding
		if _, high := Wilson(1, float64(n)); high > 1 {
			t.Errorf("of %d sure trials the interval ends at %v", n, high)
		}
		if low, _ := Wilson(0, float64(n)); low < 0 {
			t.Errorf("of %d vain trials the interval begins at %v", n, low)
		}
	}
}

// simulate scores n rows whose truth is N(μ, 1) and whose prediction is N(μ, sd).
func simulate(n int, sd float64, weight func(i int) float64) *Regression {
	r, d := new(Regression), new(dist.Normal)
	key := rng.New(7)
	for i := range n {
		mu := 3 * math.Sin(float64(i))
		*d = dist.Normal{Mu: mu, Sigma: sd}
		r.Add(mu+rng.Normal(key, uint64(i)), d, weight(i))
	}
	return r
}

func one(int) float64 { return 1 }

func TestRegressionAgainstTheory(t *testing.T) {
	for _, sd := range []float64{1, 0.5, 1.6} {
		s := simulate(20000, sd, one).Scores()
		four := func(x Score, want float64) {
			t.Helper()
			near(t, "score", x.Value, want, 4*x.SE)
		}
		four(s.LL, -0.5*math.Log(2*math.Pi*sd*sd)-0.5/sd/sd)
		four(s.RMSE, 1)
		four(s.MAE, math.Sqrt(2/math.Pi))
		// E|X−y| − ½E|X−X′|, X − y ~ N(0, 1+sd²)
		four(s.CRPS, math.Sqrt(2/math.Pi*(1+sd*sd))-sd/math.Sqrt(math.Pi))
		near(t, "sharpness", s.Sharpness, sd, 1e-12)
		near(t, "mean sd", s.MeanSD, sd, 1e-12)
		near(t, "se of RMSE", s.RMSE.SE, 1/math.Sqrt(2*20000), 3e-4)
		for i, want := range []float64{0.6744897501960817, 1.6448536269514722, 1.959963984540054} {
			c := s.Intervals[i]
			p := math.Erf(want * sd / math.Sqrt2)
			near(t, "coverage", c.Coverage, p, 4*math.Sqrt(p*(1-p)/20000))
			near(t, "width", c.Width, 2*want*sd, 1e-9)
			if sd != 1 && c.Within() {
				t.Errorf("standard deviation %g: coverage %g … %g of level %g passes", sd, c.Low, c.High, c.Level)
			}
		}
		if sd == 1 {
			near(t, "calibration error", s.CalibrationError, s.CalibrationChance, s.CalibrationChance)
			near(t, "chance", s.CalibrationChance, 0.3133/math.Sqrt(20000), 1e-5)
		} else {
			// E|F(p) − p| with F(p) = Φ(sd·Φ⁻¹(p)), over the same levels.
			var want float64
			for i := 1; i < 1000; i++ {
				p := float64(i) / 1000
				want += math.Abs(dist.Normal{Sigma: 1}.CDF(sd*dist.Normal{Sigma: 1}.Quantile(p))-p) / 999
			}
			near(t, "calibration error", s.CalibrationError, want, 0.006)
		}
	}
}

// The chance is the mean of the error over many small sets.
func TestCalibrationByChance(t *testing.T) {
	const n, sets = 100, 400
	var m mean
	key := rng.New(3)
	for k := range sets {
		var r Regression
		d := &dist.Normal{Sigma: 1}
		for i := range n {
			r.Add(rng.Normal(key, uint64(k*n+i)), d, 1)
		}
		m.add(r.Scores().CalibrationError/r.Scores().CalibrationChance, 1)
	}
	near(t, "error over chance", m.value(), 1, 4*m.se()+0.01)
}

// A weight of 2 is the row twice, weights of a half change nothing but the count,
// and merging is adding.
func TestWeightsAndMerging(t *testing.T) {
	a := simulate(200, 0.8, func(i int) float64 { return float64(i % 3) })
	b, d := new(Regression), new(dist.Normal)
	key := rng.New(7)
	for i := range 200 {
		for range i % 3 {
			mu := 3 * math.Sin(float64(i))
			*d = dist.Normal{Mu: mu, Sigma: 0.8}
			b.Add(mu+rng.Normal(key, uint64(i)), d, 1)
		}
	}
	sa, sb := a.Scores(), b.Scores()
	near(t, "ll", sa.LL.Value, sb.LL.Value, 1e-12)
	near(t, "rmse", sa.RMSE.Value, sb.RMSE.Value, 1e-12)
	near(t, "coverage", sa.Intervals[1].Coverage, sb.Intervals[1].Coverage, 1e-12)
	near(t, "calibration", sa.CalibrationError, sb.CalibrationError, 1e-12)
	if !slices.EqualFunc(a.PIT(20), b.PIT(20), func(x, y float64) bool { return math.Abs(x-y) < 1e-12 }) {
		t.Error("PIT histograms differ")
	}

	m := new(Regression)
	m.Merge(simulate(200, 0.8, func(i int) float64 { return float64(i % 3 * (i % 2)) }))
	m.Merge(simulate(200, 0.8, func(i int) float64 { return float64(i % 3 * (1 - i%2)) }))
	sm := m.Scores()
	near(t, "merged crps", sm.CRPS.Value, sa.CRPS.Value, 1e-12)
	near(t, "merged se", sm.CRPS.SE, sa.CRPS.SE, 1e-12)
	near(t, "merged width", sm.Intervals[2].Width, sa.Intervals[2].Width, 1e-12)
	near(t, "merged calibration", sm.CalibrationError, sa.CalibrationError, 1e-12)
}

func TestCoverage(t *testing.T) {
	var c Coverage
	c.Add(1, 0, 2, 1)
	c.Add(3, 0, 2.5, 1)
	c.Add(1, math.Inf(-1), math.Inf(1), 2)
	s := c.Score(0.8)
	near(t, "coverage", s.Coverage, 0.75, 1e-15)
	if s.Unbounded != 1 || !math.IsInf(s.Width, 1) {
		t.Errorf("%d unbounded, mean width %g", s.Unbounded, s.Width)
	}
}

func TestClassification(t *testing.T) {
	var c, a, b Classification
	rows := []struct {
		class int
		p     dist.Categorical
	}{{0, dist.Categorical{0.81, 0.19}}, {1, dist.Categorical{0.6, 0.4}}, {1, dist.Categorical{0.3, 0.7}}, {0, dist.Categorical{0.62, 0.38}}, {0, dist.Categorical{0.05, 0.95}}}
	for i, r := range rows {
		c.Add(r.class, r.p, 1)
		if i < 3 {
			a.Add(r.class, r.p, 1)
		} else {
			b.Add(r.class, r.p, 1)
		}
	}
	a.Merge(&b)
	var empty Classification
	empty.Merge(&c)
	for _, s := range []ClassificationScores{c.Scores(), a.Scores(), empty.Scores()} {
		near(t, "accuracy", s.Accuracy.Value, 0.6, 1e-12)
		near(t, "ll", s.LL.Value, math.Log(0.81*0.4*0.7*0.62*0.05)/5, 1e-12)
		near(t, "brier", s.Brier.Value, 2*(0.19*0.19+0.6*0.6+0.3*0.3+0.38*0.38+0.95*0.95)/5, 1e-12)
		// Bins: 0.81 | 0.6 and 0.62 together | 0.7 | 0.95
		near(t, "ece", s.ECE, (0.19+2*math.Abs(0.5-0.61)+0.3+0.95)/5, 1e-12)
		// Pairs (1, 0): 0.4 and 0.7 against 0.19, 0.38, 0.95.
		near(t, "auroc", *s.AUROC, 4.0/6, 1e-12)
	}
	var three Classification
	three.Add(2, dist.Categorical{0.5, 0.5, 0}, 1)
	if s := three.Scores(); s.AUROC != nil || s.LL.Value != math.Log(1e-30) {
		t.Errorf("%+v", s)
	}
}

// Equal odds count half: nobody gains by saying nothing.
func TestAUROCOfTies(t *testing.T) {
	var c Classification
	for i := range 10 {
		c.Add(i%2, dist.Categorical{0.5, 0.5}, 1+float64(i))
	}
	near(t, "auroc", *c.Scores().AUROC, 0.5, 1e-12)
}

// A row of weight 0 does not count, wherever it comes.
func TestWeightZero(t *testing.T) {
	var c, d Coverage
	var a, b Classification
	for i, w := range []float64{0, 1, 0, 2, 0} {
		y := float64(i)
		p := dist.Categorical{0.1 * y, 1 - 0.1*y}
		c.Add(y, 0, 2, w)
		a.Add(i%2, p, w)
		if w > 0 {
			d.Add(y, 0, 2, w)
			b.Add(i%2, p, w)
		}
	}
	c.Add(1, 0, math.Inf(1), 0)
	if c.Score(0.9) != d.Score(0.9) || math.Abs(c.Score(0.9).Coverage-1.0/3) > 1e-12 {
		t.Errorf("%+v, want %+v", c.Score(0.9), d.Score(0.9))
	}
	if x, y := a.Scores(), b.Scores(); !reflect.DeepEqual(x, y) || x.Rows != 2 {
		t.Errorf("%+v, want %+v", x, y)
	}
}

func TestNothing(t *testing.T) {
	for _, s := range []any{new(Regression).Scores(), new(Classification).Scores()} {
		if data, err := json.Marshal(s); err != nil || !strings.Contains(string(data), `"rows":0`) {
			t.Errorf("%s, %v", data, err)
		}
	}
}

func TestNoAllocation(t *testing.T) {
	r, d := new(Regression), &dist.Normal{Mu: 1, Sigma: 2}
	if n := testing.AllocsPerRun(100, func() { r.Add(1.5, d, 1) }); n != 0 {
		t.Errorf("%g allocations a row", n)
	}
}

func TestMisusePanics(t *testing.T) {
	for name, f := range map[string]func(){
		"weight": func() { new(Regression).Add(0, dist.Normal{Sigma: 1}, -1) },
		"cover":  func() { new(Coverage).Add(0, 0, 1, math.Inf(1)) },
		"NaN":    func() { new(Classification).Add(0, dist.Categorical{1}, math.NaN()) },
		"bins":   func() { new(Regression).PIT(7) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("the disk is full") }

func TestTables(t *testing.T) {
	var b strings.Builder
	if err := simulate(300, 1, one).Scores().WriteTable(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"90 % intervals", "log-likelihood     -1.", "rows               300\n"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
	if strings.Contains(b.String(), "%!") {
		t.Errorf("%s", b.String())
	}
	if new(Regression).Scores().WriteTable(full{}) == nil || new(Classification).Scores().WriteTable(full{}) == nil {
		t.Error("a full disk goes unnoticed")
	}
}

// What one row, or no bound, does not tell is null in JSON and has no number in text.
func TestNotKnown(t *testing.T) {
	var r Regression
	r.Add(1, dist.Normal{Mu: 0, Sigma: 1}, 1)
	s := r.Scores()
	var c Coverage
	c.Add(0, math.Inf(-1), math.Inf(1), 1)
	c.Add(0, -1, 1, 1)
	s.Intervals[2] = c.Score(0.95)
	var text strings.Builder
	if err := s.WriteTable(&text); err != nil || strings.Contains(text.String(), "±") || !strings.Contains(text.String(), "mean width infinite: 1 have no bounds") {
		t.Errorf("%v\n%s", err, text.String())
	}
	written, err := json.Marshal(s)
	if err != nil || !strings.Contains(string(written), `"se":null`) || !strings.Contains(string(written), `"width":null,"unbounded":1`) {
		t.Fatalf("%v\n%s", err, written)
	}
	var back RegressionScores
	if err := json.Unmarshal(written, &back); err != nil || !math.IsNaN(back.RMSE.SE) || !math.IsInf(back.Intervals[2].Width, 1) || back.Intervals[0] != s.Intervals[0] {
		t.Errorf("%v: %+v", err, back)
	}
}

// AUROC against all pairs, ties among them.
func TestAUROC(t *testing.T) {
	low, high := []float64{1, 2, 2, 3, -1, math.Inf(-1)}, []float64{2, 5, 0, 3, math.Inf(1)}
	var want float64
	for _, x := range low {
		for _, y := range high {
			switch {
			case y > x:
				want++
			case y == x:
				want += 0.5
			}
		}
	}
	near(t, "auroc", AUROC(low, high), want/30, 1e-12)
	near(t, "the other way", AUROC(high, low), 1-want/30, 1e-12)
	if !math.IsNaN(AUROC(nil, high)) {
		t.Error("nothing was told apart")
	}
}

// The standard error of an area follows from the pairs, and is not 0 where all are ordered rightly.
func TestAUROCError(t *testing.T) {
	near(t, "se", aurocError(0.8, 60, 40), 0.04743, 1e-5)
	if se := aurocError(1, 74, 1); !(se > 0.01) {
		t.Errorf("one row of a class, above all others: ± %v", se)
	}
}
