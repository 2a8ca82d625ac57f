package tabular

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"utvi/data"
	"utvi/dist"
	"utvi/gauss"
	"utvi/internal/special"
	"utvi/rng"
)

// counted are rows whose target draw makes of its mean and a number between 0 and 1.
func counted(n int, key uint64, draw func(mean, u, z float64) float64) Data {
	x, y := make([]float32, 2*n), make([]float64, n)
	k := rng.New(key)
	var mean, square float64
	for i := range n {
		x[2*i], x[2*i+1] = float32(rng.Normal(k, uint64(4*i))), float32(rng.Normal(k, uint64(4*i+1)))
		mu := math.Exp(0.8 + 0.7*math.Sin(2*float64(x[2*i])) + 0.4*float64(x[2*i+1]))
		y[i] = draw(mu, rng.Uniform(k, uint64(4*i+2)), rng.Normal(k, uint64(4*i+3)))
		mean += y[i] / float64(n)
		square += y[i] * y[i] / float64(n)
	}
	sd := math.Sqrt(square - mean*mean)
	d := Data{Set: data.Set{X: gauss.Fixed(2, x), Y: make([]float32, n)}, Zero: []float64{-mean / sd}, Step: []float64{1 / sd}}
	for i, y := range y {
		d.Y[i] = float32((y - mean) / sd)
	}
	return d
}

func drawn(dispersion float64) func(mean, u, z float64) float64 {
	return func(mean, u, _ float64) float64 {
		var c dist.Counts
		c.Add(1, mean, mean+dispersion*mean*mean)
		return dist.Whole{Dist: &c}.Quantile(u)
	}
}

func halves(all Data) (train, test Data) {
	var rows [2][]int
	for i := range all.X.Rows {
		rows[min(1, 2*i/all.X.Rows)] = append(rows[min(1, 2*i/all.X.Rows)], i)
	}
	return all.pick(rows[0]), all.pick(rows[1])
}

// massOf is the mean ln P(count) of rows, and the share of 90 % intervals that hold.
func massOf(f *Fitted, d Data) (ll, cover float64) {
	p := f.NewPredictor(nil, d.X.Rows).Predict(d.X)
	n := float64(d.X.Rows)
	var m dist.Mixture
	var c dist.Counts
	for i, y := range d.Y {
		if f.Counts() {
			p.Counts(i, 0, &c)
			k := math.Round(d.count(0, float64(y)))
			w := dist.Whole{Dist: &c}
			lo, hi := dist.Interval(w, 0.9)
			ll += w.LogPDF(k) / n
			if lo <= k && k <= hi {
				cover += 1 / n
			}
			continue
		}
		p.Dist(i, 0, &m)
		half := d.Step[0] / 2
		ll += math.Log(max(1e-30, m.CDF(float64(y)+half)-m.CDF(float64(y)-half))) / n
	}
	return ll, cover
}

// openNoise leaves the noise open.
var openNoise = Config{Ensemble: 2, KL: 0.3, Activation: "leaky-relu", Width: 16, Depth: 1, Steps: 500}

// Counts get a likelihood of counts, which is more probable than a Normal's mass, with
// intervals of whole numbers that hold as often as they should.
func TestCounts(t *testing.T) {
	for name, dispersion := range map[string]float64{"poisson": 0, "dispersed": 0.7} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			train, test := halves(counted(1600, 11, drawn(dispersion)))
			f, err := Fit(t.Context(), openNoise, train, "", nil)
			if err != nil {
				t.Fatal(err)
			}
			if !f.Counts() || f.Warps != nil {
				t.Fatalf("the members are %v", f.Report.Members[0].Candidate)
			}
			normal := openNoise
			normal.Noise = Heteroscedastic
			g, err := Fit(t.Context(), normal, train, "", nil)
			if err != nil || g.Counts() {
				t.Fatal(err)
			}
			ll, cover := massOf(f, test)
			other, _ := massOf(g, test)
			t.Logf("%v: ln P %.4f, of Normals %.4f; 90 %% intervals hold %.3f", f.Report.Members[0].Candidate, ll, other, cover)
			if !(ll > other+0.01) || !(cover > 0.88 && cover < 0.965) {
				t.Errorf("ln P is %.4f, of Normals %.4f; 90 %% intervals hold %.3f", ll, other, cover)
			}
			path := filepath.Join(t.TempDir(), "m.utvi")
			if err := f.Save(path); err != nil {
				t.Fatal(err)
			}
			again, err := Load(path)
			if err != nil {
				t.Fatal(err)
			}
			if l, c := massOf(again, test); l != ll || c != cover {
				t.Errorf("loaded, ln P is %v and not %v", l, ll)
			}
		})
	}
}

// Grades are whole numbers, but their spread is not that of counts.
func TestGradesAreNotCounts(t *testing.T) {
	d := counted(500, 12, func(mean, _, z float64) float64 { return math.Round(5.5 + 0.6*math.Log(mean) + 0.5*z) })
	f, err := Fit(t.Context(), openNoise, d, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	if f.Counts() {
		t.Errorf("the members are %v", f.Report.Members[0].Candidate)
	}
}

// A fit that is stopped and continued ends with the same bits.
func TestCountsResume(t *testing.T) {
	d := counted(400, 13, drawn(0))
	c := openNoise
	c.Steps = 300
	c.Parallel = 1
	c.Width = 8
	whole, err := Fit(t.Context(), c, d, "", nil)
	if err != nil || !whole.Counts() {
		t.Fatalf("%v; the members are %v", err, whole.Report.Members[0].Candidate)
	}
	dir := filepath.Join(t.TempDir(), "fit")
	for i := 0; ; i++ {
		ctx, cancel := context.WithCancel(t.Context())
		told := 0
		f, err := Fit(ctx, c, d, dir, func(Progress) {
			if told++; told > 200 {
				cancel()
			}
		})
		cancel()
		if err == nil {
			a, _ := massOf(whole, d)
			if b, _ := massOf(f, d); a != b {
				t.Errorf("ln P is %v, of the fit that was stopped %v", a, b)
			}
			return
		}
		if i > 60 {
			t.Fatal("the fit does not come to an end")
		}
	}
}

// Far from the training rows the mean of a count is bounded.
func TestCountsOutsideTheData(t *testing.T) {
	d := counted(300, 14, drawn(0))
	c := openNoise
	c.Noise, c.Steps = Poisson, 200
	f, err := Fit(t.Context(), c, d, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	var most float64
	for _, y := range d.Y {
		most = max(most, d.count(0, float64(y)))
	}
	p := f.NewPredictor(nil, 1).Predict(gauss.Fixed(2, []float32{3, 400}))
	var counts dist.Counts
	p.Counts(0, 0, &counts)
	if m := counts.Mean(); !(m <= countReach*most*(1+1e-5)) || !(counts.SD() < 100*most*countReach) {
		t.Errorf("%v ± %v; the largest training count is %v", m, counts.SD(), most)
	}
}

func TestCountsCheck(t *testing.T) {
	d := counted(100, 15, drawn(0))
	d.Y[7] += float32(0.4 * d.Step[0])
	if _, err := Fit(t.Context(), openNoise, d, "", nil); err == nil || !strings.Contains(err.Error(), "it must be a whole number from 0") {
		t.Errorf("half a count: %v", err)
	}
	d.Step = nil
	c := openNoise
	c.Noise = NegativeBinomial
	dir := filepath.Join(t.TempDir(), "fit")
	if _, err := Fit(t.Context(), c, d, dir, nil); err == nil || !strings.Contains(err.Error(), "applies to counts only") {
		t.Errorf("numbers as counts: %v", err)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("a fit that was refused has a folder")
	}
}

// The mass of a shape between two numbers is its integral.
func TestLogMass(t *testing.T) {
	s := ResidualMixture{W: []float64{0.8, 0.2}, R: []float64{0.5, 4}}
	for _, c := range [][3]float64{{-0.5, 0.5, 0.1}, {3, 4, -1}, {-30, -29, 0}, {20, 21, 2}} {
		var want float64
		for j, w := range s.W {
			sd := math.Sqrt(s.R[j] * 1.7)
			want += w * (special.CDF(-(c[0]-c[2])/sd) - special.CDF(-(c[1]-c[2])/sd))
		}
		if got := s.logMass(c[0], c[1], c[2], 1.7); c[0] > 0 && math.Abs(got-math.Log(want)) > 1e-9*math.Abs(got) {
			t.Errorf("between %v and %v it is %v, want %v", c[0], c[1], got, math.Log(want))
		}
		const steps = 4000
		var sum float64
		for i := range steps {
			x := c[0] + (c[1]-c[0])*(float64(i)+0.5)/steps
			sum += math.Exp(s.logNormal(x-c[2], 1.7)) * (c[1] - c[0]) / steps
		}
		if got := math.Exp(s.logMass(c[0], c[1], c[2], 1.7)); math.Abs(got-sum) > 1e-5*sum+1e-300 {
			t.Errorf("between %v and %v it is %v, by sums %v", c[0], c[1], got, sum)
		}
	}
}
