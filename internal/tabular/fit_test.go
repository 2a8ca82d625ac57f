package tabular_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"utvi/data"
	"utvi/dist"
	"utvi/gauss"
	"utvi/internal/compute"
	"utvi/internal/tabular"
	"utvi/rng"
)

// wave is y = sin(2x₀) + x₁/2 with noise of the given standard deviation.
func wave(seed uint64, rows int, noise float64) tabular.Data {
	key := rng.New(seed)
	x, y := make([]float32, 2*rows), make([]float32, rows)
	for i := range rows {
		a, b := rng.Normal(key, uint64(3*i)), rng.Normal(key, uint64(3*i+1))
		x[2*i], x[2*i+1] = float32(a), float32(b)
		y[i] = float32(math.Sin(2*a) + b/2 + noise*rng.Normal(key, uint64(3*i+2)))
	}
	return tabular.Data{Set: data.Set{X: gauss.Fixed(2, x), Y: y}}
}

// quick is a configuration of one candidate and few steps.
var quick = tabular.Config{Ensemble: 2, Noise: tabular.Heteroscedastic, KL: 0.3, Activation: "leaky-relu", Width: 20, Depth: 1, Steps: 400, Seed: 3}

func fit(t *testing.T, c tabular.Config, d tabular.Data) *tabular.Fitted {
	t.Helper()
	f, err := tabular.Fit(t.Context(), c, d, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func predictor(f *tabular.Fitted, rows int) *tabular.Predictor {
	return f.NewPredictor(compute.NewPool(1), rows)
}

// Every model of the noise finds the noise and covers what it says.
func TestRecoversNoise(t *testing.T) {
	train, test := wave(1, 400, 0.3), wave(2, 1000, 0.3)
	for _, noise := range []string{tabular.Embedded, tabular.Learned, tabular.Heteroscedastic} {
		c := quick
		c.Noise, c.Steps = noise, 1500
		f := fit(t, c, train)
		v := predictor(f, test.X.Rows).Predict(test.X)
		var m dist.Mixture
		var covered int
		var spread float64
		for i := range v.Rows {
			v.Dist(i, 0, &m)
			if lo, hi := dist.Interval(&m, 0.9); lo < float64(test.Y[i]) && float64(test.Y[i]) < hi {
				covered++
			}
			if d := math.Abs(m.SD()/math.Sqrt(float64(v.Var[i])) - 1); d > 1e-4 {
				t.Fatalf("%s: row %d: the distribution's variance is %g, the sum of the parts %g", noise, i, m.SD()*m.SD(), v.Var[i])
			}
			spread += math.Sqrt(float64(v.Noise[i])) / float64(v.Rows)
			if noise == tabular.Embedded {
				spread += math.Sqrt(float64(v.Weights[i])) / float64(v.Rows)
			}
		}
		most, widest := 955, 0.42
		if noise == tabular.Embedded { // the weights cannot be so wide in one place alone
			most, widest = 985, 0.65
		}
		if covered < 860 || covered > most {
			t.Errorf("%s: 90 %% intervals cover %d of 1000", noise, covered)
		}
		if spread < 0.24 || spread > widest {
			t.Errorf("%s: noise of 0.3 was found as %.3f", noise, spread)
		}
	}
}

// The choice among candidates is made on held-out rows, and told.
func TestChooses(t *testing.T) {
	d := wave(1, 120, 0.1)
	f := fit(t, tabular.Config{Steps: 300, Seed: 1}, d)
	r := f.Report
	if len(r.Trials) < 5 || len(r.Members) < 5 || len(r.Members) > 10 || r.Held != 60 || r.Rows != 120 {
		t.Fatalf("%d trials, %d members, %d of %d rows held out", len(r.Trials), len(r.Members), r.Held, r.Rows)
	}
	best := math.Inf(-1)
	for _, x := range r.Trials {
		if x.Failed == "" {
			best = max(best, x.Score)
		}
	}
	for _, x := range r.Trials {
		if x.Candidate == r.Members[0].Candidate && x.Score != best {
			t.Errorf("%v was chosen for a score of %g, where the best is %g", x.Candidate, x.Score, best)
		}
	}
	for _, m := range r.Members {
		if m.Noise != r.Members[0].Noise {
			t.Errorf("members have noise %s and %s", r.Members[0].Noise, m.Noise)
		}
	}
	if r.Score < best-0.1 {
		t.Errorf("the mixture scores %g, its best member %g", r.Score, best)
	}
}

// The best candidate is trained from further seeds on every fold, even if it is the
// first or the only one.
func TestRepeatsTheBest(t *testing.T) {
	c := quick
	c.Steps = 40
	most := 0
	var first, last tabular.Progress
	_, err := tabular.Fit(t.Context(), c, wave(1, 60, 0.1), "", func(p tabular.Progress) {
		if p.Stage == "choosing" {
			most = max(most, p.Jobs)
		}
		if first.Total == 0 {
			first = p
		}
		if p.Done < last.Done || p.Done > p.Total*(1+1e-9) {
			t.Errorf("%+v comes after %+v", p, last)
		}
		last = p
	})
	// All was foreseen; trainings on half of the rows have smaller batches.
	if last.Stage != "training" || math.Abs(last.Done/last.Total-1) > 1e-9 || first.Total < last.Total || first.Total > 1.15*last.Total {
		t.Errorf("%v of work was foreseen, %v of %v done", first.Total, last.Done, last.Total)
	}
	if err != nil || most != 10 { // one more seed and half of the rows on each of five folds; before, one candidate on one fold at a time
		t.Errorf("%d trainings at a time to choose by, want 10; %v", most, err)
	}
}

// The same seed gives the same bits whatever the cores; another seed does not.
func TestSameBits(t *testing.T) {
	d := wave(5, 100, 0.2)
	many := quick
	many.Parallel = 3
	one := fit(t, quick, d)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(3))
	same(t, one, fit(t, many, d), d, true)
	other := quick
	other.Seed = 4
	same(t, one, fit(t, other, d), d, false)
}

func same(t *testing.T, f, g *tabular.Fitted, d tabular.Data, want bool) {
	t.Helper()
	a, b := predictor(f, d.X.Rows).Predict(d.X), predictor(g, d.X.Rows).Predict(d.X)
	equal := reflect.DeepEqual(a.Mean, b.Mean) && reflect.DeepEqual(a.Var, b.Var) && reflect.DeepEqual(a.OOD, b.OOD)
	if equal != want {
		t.Errorf("predictions agree: %v, want %v", equal, want)
	}
	if want {
		x, _ := json.Marshal(f.Report)
		y, _ := json.Marshal(g.Report)
		if string(x) != string(y) {
			t.Errorf("the reports differ:\n%s\n%s", x, y)
		}
	}
}

// A fit that is broken off again and again ends as one that was not.
func TestResume(t *testing.T) {
	d := wave(6, 100, 0.2)
	c := quick
	c.Parallel, c.Steps = 1, 300
	whole := fit(t, c, d)
	dir := filepath.Join(t.TempDir(), "fit")
	var f *tabular.Fitted
	for i := 0; ; i++ {
		ctx, cancel := context.WithCancel(t.Context())
		told := 0
		var err error
		f, err = tabular.Fit(ctx, c, d, dir, func(p tabular.Progress) {
			if (p.Found > 0) != (i > 0) && p.Done > 0 || p.Found > p.Done {
				t.Errorf("round %d: %v of %v done was found", i, p.Found, p.Done)
			}
			if told++; told > 90 {
				cancel()
			}
		})
		cancel()
		if err == nil {
			break
		}
		if !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		if f == nil || !f.Report.Partial {
			t.Fatalf("round %d: the best model so far was not kept", i)
		}
		predictor(f, 100).Predict(d.X)
		if i > 30 {
			t.Fatal("the fit does not come to an end")
		}
	}
	same(t, whole, f, d, true)
	c.KL = 0.5
	if _, err := tabular.Fit(t.Context(), c, d, dir, nil); err == nil || !strings.Contains(err.Error(), "other rows or settings") {
		t.Errorf("another fit continued there: %v", err)
	}
}

// A row of weight 0 teaches nothing, wherever it lies; a heavy one counts.
func TestWeights(t *testing.T) {
	d := wave(7, 300, 0.1)
	d.Weights = make([]float32, 300)
	for i := range d.Weights {
		if i%3 == 0 {
			d.Y[i] += 3 // as if of another world
			continue
		}
		d.Weights[i] = 2
	}
	off := func(d tabular.Data) (sum float64) {
		c := quick
		c.Steps = 800
		f := fit(t, c, d)
		test := wave(8, 400, 0)
		v := predictor(f, 400).Predict(test.X)
		for i, m := range v.Mean {
			sum += float64(m-test.Y[i]) / 400
		}
		return sum
	}
	if x := off(d); math.Abs(x) > 0.15 {
		t.Errorf("rows of weight 0 moved the predictions by %g", x)
	}
	d.Weights = nil
	if x := off(d); x < 0.6 {
		t.Errorf("without weights the predictions moved by %g; they should by 1", x)
	}
}

func TestClasses(t *testing.T) {
	three := func(seed uint64, n int) tabular.Data {
		d := wave(seed, n, 0.1)
		for i, y := range d.Y {
			d.Y[i] = 0
			if y > -0.4 {
				d.Y[i]++
			}
			if y > 0.4 {
				d.Y[i]++
			}
		}
		d.Classes = 3
		return d
	}
	c := tabular.Config{Ensemble: 2, Width: 20, KL: 0.3, Activation: "leaky-relu", Steps: 800, Seed: 2}
	f := fit(t, c, three(1, 400))
	test := three(2, 500)
	v := predictor(f, 500).Predict(test.X)
	right := 0
	for i := range v.Rows {
		p := v.Mean[3*i : 3*i+3]
		if s := p[0] + p[1] + p[2]; math.Abs(float64(s)-1) > 1e-3 {
			t.Fatalf("the probabilities %v sum to %g", p, s)
		}
		k := int(test.Y[i])
		if p[k] >= p[0] && p[k] >= p[1] && p[k] >= p[2] {
			right++
		}
	}
	if right < 425 {
		t.Errorf("%d of 500 rows are classified right", right)
	}
}
