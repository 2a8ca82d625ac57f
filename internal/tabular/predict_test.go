package tabular_test

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"utvi/data"
	"utvi/dist"
	"utvi/gauss"
	"utvi/internal/compute"
	"utvi/internal/tabular"
	"utvi/model"
	"utvi/nn"
	"utvi/rng"
)

// two targets, the second with twice the noise, and inputs with variances.
func pair(seed uint64, rows int) tabular.Data {
	d := wave(seed, rows, 0.1)
	e := wave(seed+100, rows, 0.2)
	y := make([]float32, 0, 2*rows)
	for i := range rows {
		x := d.X.Mean[2*i : 2*i+2]
		y = append(y, d.Y[i], x[1]-x[0]/2+(e.Y[i]-float32(math.Sin(2*float64(e.X.Mean[2*i])))-e.X.Mean[2*i+1]/2))
	}
	d.Y, d.Targets = y, 2
	d.X.Var = make([]float32, 2*rows)
	for i := range d.X.Var {
		d.X.Var[i] = 0.01
	}
	return d
}

func TestSeveralTargetsAndInputVariances(t *testing.T) {
	for _, noise := range []string{tabular.Learned, tabular.Heteroscedastic} {
		d := pair(1, 400)
		c := quick
		c.Noise, c.Steps = noise, 1000
		f := fit(t, c, d)
		v := predictor(f, 400).Predict(d.X)
		var sum [2][3]float64
		for i := range v.Mean {
			s := &sum[i%2]
			s[0] += float64(v.Noise[i])
			s[1] += float64(v.Inputs[i])
			s[2] += float64(v.Weights[i])
			if math.Abs(float64(v.Noise[i]+v.Inputs[i]+v.Weights[i]-v.Var[i])) > 1e-5 {
				t.Fatal("the parts do not sum to the variance")
			}
		}
		if !(sum[1][0] > 1.5*sum[0][0]) {
			t.Errorf("%s: noise of %g and %g; the second target has more", noise, sum[0][0], sum[1][0])
		}
		if sum[0][1] == 0 || sum[1][1] == 0 {
			t.Errorf("%s: the inputs' variances do not show", noise)
		}
		d.X.Var = nil
		for i, x := range predictor(f, 400).Predict(d.X).Inputs {
			if x != 0 {
				t.Fatalf("%s: exact inputs of target %d have a variance of %g", noise, i, x)
			}
		}
	}
}

func TestSaveAndLoad(t *testing.T) {
	d := wave(9, 80, 0.2)
	c := quick
	c.Steps = 100
	f := fit(t, c, d)
	path := filepath.Join(t.TempDir(), "y.utvi")
	if err := f.Save(path); err != nil {
		t.Fatal(err)
	}
	g, err := tabular.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	same(t, f, g, d, true)
	m, err := model.New(model.Config{Input: nn.Vec(2), Layers: nn.Chain{nn.Dense{Out: 1}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Save(path); err != nil {
		t.Fatal(err)
	}
	if _, err := tabular.Load(path); err == nil || !strings.Contains(err.Error(), "not a tabular model") {
		t.Errorf("a bare network was loaded: %v", err)
	}
	if _, err := tabular.Load(path + "x"); err == nil {
		t.Error("a file that is not there was loaded")
	}
}

// Rows from elsewhere have a larger ood than rows from here: far away in a
// column, or in none by itself but against the correlation of two.
func TestOOD(t *testing.T) {
	key := rng.New(11)
	make2 := func(from uint64, n int, place func(a, b float64) (float64, float64)) tabular.Data {
		d := tabular.Data{Set: data.Set{X: gauss.Fixed(2, make([]float32, 2*n)), Y: make([]float32, n)}}
		for i := range n {
			a, b := rng.Normal(key, from+uint64(2*i)), rng.Normal(key, from+uint64(2*i+1))
			x, y := place(a, b)
			d.X.Mean[2*i], d.X.Mean[2*i+1] = float32(x), float32(y)
			d.Y[i] = float32(math.Sin(x) + y/2 + 0.1*a)
		}
		return d
	}
	along := func(a, b float64) (float64, float64) { return a, a + 0.2*b }
	c := quick
	c.Steps = 600
	f := fit(t, c, make2(0, 300, along))
	score := func(d tabular.Data) []float32 {
		return append([]float32(nil), predictor(f, d.X.Rows).Predict(d.X).OOD...)
	}
	usual := score(make2(10_000, 500, along))
	for name, place := range map[string]func(a, b float64) (float64, float64){
		"far":    func(a, b float64) (float64, float64) { return 4 + a/2, 4 + a/2 + 0.2*b },
		"across": func(a, b float64) (float64, float64) { return a, 2 - a + 0.2*b },
	} {
		odd := score(make2(20_000, 500, place))
		if x := auroc(usual, odd); x < 0.9 {
			t.Errorf("%s: a shifted row has the larger ood with probability %.3f", name, x)
		}
	}
	over := 0
	for _, x := range usual {
		if x > 1 {
			over++
		}
	}
	if over > 30 { // 2 of 100 training rows are above 1 in one of two respects
		t.Errorf("%d of 500 usual rows have an ood above 1", over)
	}
}

// The distance from the training rows is Mahalanobis': the root A that is kept makes
// their covariance, with its ridge, the identity.
func TestUsualRoot(t *testing.T) {
	const n, w = 200, 4
	key := rng.New(12)
	d := tabular.Data{Set: data.Set{X: gauss.Fixed(w, make([]float32, n*w)), Y: make([]float32, n)}}
	for i := range n {
		z := func(j int) float64 { return rng.Normal(key, uint64(w*i+j)) }
		for j, x := range []float64{1 + 2*z(0), z(0) - 0.5*z(1), 3*z(1) + z(2), 0.3*z(3) - z(0) + z(2)} {
			d.X.Mean[w*i+j] = float32(x)
		}
		d.Y[i] = float32(z(0))
	}
	c := quick
	c.Steps = 50
	root := fit(t, c, d).InputStats.Root

	var mean [w]float64
	var cov [w][w]float64
	for i, x := range d.X.Mean {
		mean[i%w] += float64(x) / n
	}
	var trace float64
	for i := range n {
		for j := range w {
			for k := range w {
				cov[j][k] += (float64(d.X.Mean[w*i+j]) - mean[j]) * (float64(d.X.Mean[w*i+k]) - mean[k]) / n
			}
		}
	}
	for j := range w {
		trace += cov[j][j]
	}
	for j := range w {
		cov[j][j] += 0.01 * trace / w
	}
	for j := range w {
		for k := range w {
			var sum, want float64
			for a := range w {
				for b := range w {
					sum += float64(root[j*w+a]) * cov[a][b] * float64(root[k*w+b])
				}
			}
			if j == k {
				want = 1
			}
			if math.Abs(sum-want) > 1e-5 {
				t.Errorf("entry (%d, %d) of A·C·Aᵀ is %g, want %g", j, k, sum, want)
			}
			if k > j && root[j*w+k] != 0 {
				t.Errorf("A is not lower triangular: entry (%d, %d) is %g", j, k, root[j*w+k])
			}
		}
	}
}

// auroc is the probability that one of b is above one of a.
func auroc(a, b []float32) (p float64) {
	for _, x := range a {
		for _, y := range b {
			switch {
			case y > x:
				p++
			case y == x:
				p += 0.5
			}
		}
	}
	return p / float64(len(a)*len(b))
}

func TestPredictAllocatesNothing(t *testing.T) {
	d := pair(3, 60)
	c := quick
	c.Steps = 20
	p := predictor(fit(t, c, d), 60)
	var m dist.Mixture
	p.Predict(d.X).Dist(0, 0, &m)
	if n := testing.AllocsPerRun(10, func() { p.Predict(d.X).Dist(7, 1, &m) }); n != 0 {
		t.Errorf("%g allocations", n)
	}
}

func TestBadInput(t *testing.T) {
	nan := float32(math.NaN())
	for want, change := range map[string]func(c *tabular.Config, d *tabular.Data){
		"there are 0 rows to learn from":                       func(_ *tabular.Config, d *tabular.Data) { *d = tabular.Data{} },
		"target 0 of row 3 is NaN":                             func(_ *tabular.Config, d *tabular.Data) { d.Y[3] = nan },
		"input 1 of row":                                       func(_ *tabular.Config, d *tabular.Data) { d.X.Mean[5] = nan },
		"the weight of row 2 is -1":                            func(_ *tabular.Config, d *tabular.Data) { d.Weights = make([]float32, 20); d.Weights[2] = -1 },
		"all weights are 0":                                    func(_ *tabular.Config, d *tabular.Data) { d.Weights = make([]float32, 20) },
		"20 rows need 20 weights or none, not 3":               func(_ *tabular.Config, d *tabular.Data) { d.Weights = make([]float32, 3) },
		"in one group":                                         func(_ *tabular.Config, d *tabular.Data) { d.Groups = make([]int32, 20) },
		"the class of row 0":                                   func(c *tabular.Config, d *tabular.Data) { d.Classes = 2; c.Noise = "" },
		"noise \"heteroscedastic\" applies to regression only": func(_ *tabular.Config, d *tabular.Data) { d.Classes = 2; clear(d.Y) },
		"need 40 numbers, not 20":                              func(_ *tabular.Config, d *tabular.Data) { d.Targets = 2 },
		"unknown noise \"loud\"":                               func(c *tabular.Config, _ *tabular.Data) { c.Noise = "loud" },
		"unknown function \"rely\"":                            func(c *tabular.Config, _ *tabular.Data) { c.Activation = "rely" },
		"unknown rule \"utt\"":                                 func(c *tabular.Config, _ *tabular.Data) { c.Rule = "utt" },
		"the learning rate is -1":                              func(c *tabular.Config, _ *tabular.Data) { c.Rate = -1 },
		"the width is -3":                                      func(c *tabular.Config, _ *tabular.Data) { c.Width = -3 },
		"the share of rows held out is 0.9":                    func(c *tabular.Config, _ *tabular.Data) { c.Validation = 0.9 },
	} {
		c, d := quick, wave(1, 20, 0.1)
		change(&c, &d)
		if _, err := tabular.Fit(t.Context(), c, d, "", nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want …%s…", err, want)
		}
	}
}

// Few rows, one column, groups, time: none needs a special configuration.
func TestSmallTables(t *testing.T) {
	for name, change := range map[string]func(d *tabular.Data){
		"few":     func(*tabular.Data) {},
		"ordered": func(d *tabular.Data) { d.Ordered = true },
		"groups": func(d *tabular.Data) {
			d.Groups = make([]int32, d.X.Rows)
			for i := range d.Groups {
				d.Groups[i] = int32(i / 4)
			}
		},
		"constant": func(d *tabular.Data) { clear(d.X.Mean) },
	} {
		d := wave(1, 12, 0.1)
		change(&d)
		c := quick
		c.Steps = 50
		f := fit(t, c, d)
		v := predictor(f, 12).Predict(d.X)
		if !compute.Finite(v.Mean...) || !compute.Finite(v.Var...) || !compute.Finite(v.OOD...) {
			t.Errorf("%s: %v ± %v, %v", name, v.Mean, v.Var, v.OOD)
		}
	}
}

func ExampleFit() {
	x, y := make([]float32, 200), make([]float32, 200)
	for i := range x {
		x[i] = float32(i)/50 - 2
		y[i] = x[i]*x[i]/2 - 1 + 0.1*float32(rng.Normal(rng.New(1), uint64(i)))
	}
	d := tabular.Data{Set: data.Set{X: gauss.Fixed(1, x), Y: y}}
	f, err := tabular.Fit(context.Background(), tabular.Config{Ensemble: 1, Noise: tabular.Learned, KL: 0.3, Steps: 1000}, d, "", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	p := f.NewPredictor(compute.NewPool(1), 1)
	v := p.Predict(gauss.Fixed(1, []float32{1.2}))
	fmt.Printf("%.1f ± %.1f\n", v.Mean[0], math.Sqrt(float64(v.Var[0])))
	// Output: -0.3 ± 0.1
}

func BenchmarkPredict(b *testing.B) {
	d := tabular.Data{Set: data.Set{X: gauss.Fixed(50, make([]float32, 50*9600)), Y: make([]float32, 9600)}}
	for i := range d.X.Mean {
		d.X.Mean[i] = float32(rng.Normal(rng.New(1), uint64(i)))
	}
	for i := range d.Y {
		d.Y[i] = d.X.Mean[50*i]
	}
	c := tabular.Config{Ensemble: 1, Noise: tabular.Heteroscedastic, KL: 0.3, Activation: "leaky-relu", Width: 64, Depth: 2, Steps: 10}
	f, err := tabular.Fit(b.Context(), c, d, "", nil)
	if err != nil {
		b.Fatal(err)
	}
	p := f.NewPredictor(compute.NewPool(2), 9600)
	for b.Loop() {
		p.Predict(d.X)
	}
	b.ReportMetric(float64(b.N*9600)/b.Elapsed().Seconds(), "rows/s")
}

// Far outside the training rows neither the mean nor the interval leaves what targets support: a fitted
// line would go on for ever, and its doubt with it.
func TestFarRowsStayWithinReason(t *testing.T) {
	d := wave(3, 60, 0.2)
	c := quick
	c.Steps = 300
	f := fit(t, c, d)
	x := gauss.Fixed(2, []float32{0, 0, 1e3, -1e3, 1e6, 1e6})
	v := predictor(f, 3).Predict(x)
	for i := range 3 {
		if sd := math.Sqrt(float64(v.Var[i])); math.Abs(float64(v.Mean[i])) > 10 || sd > 4 {
			t.Errorf("row %d: %v ± %v, of targets of variance 1", i, v.Mean[i], sd)
		}
	}
	if v.OOD[1] < 2 || v.OOD[2] < 2 {
		t.Errorf("ood is %v", v.OOD)
	}
}
