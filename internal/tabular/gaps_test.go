package tabular

import (
	"math"
	"path/filepath"
	"slices"
	"testing"

	"utvi/gauss"
)

// gapped are rows with an input behind each number that says whether it is missing, which
// it never is. Input 0 matters most, and one column numbers levels.
func gapped(n int, key uint64) (d, without Data) {
	without = levelled(n, 3, key)
	x := make([]float32, 5*n)
	for i := range n {
		x[5*i] = without.X.Mean[3*i]
		x[5*i+2] = without.X.Mean[3*i+1]
		x[5*i+3] = without.X.Mean[3*i+2]
		without.Y[i] += 1.5 * x[5*i]
	}
	d = without
	d.X = gauss.Fixed(5, x)
	d.Levels = []int{0, 0, 5, 0, 0}
	d.Gaps = []Span{{0, 2}, {3, 5}}
	return d, without
}

// A number that no training row lacks may be missing in a prediction. Other predictions keep
// their bits, and those are as uncertain as predictions vary with the number.
func TestGaps(t *testing.T) {
	for name, change := range map[string]func(*Config){
		"plain": func(*Config) {},
		"bins":  func(c *Config) { c.Bins = 8 },
		"waves": func(c *Config) { c.Waves = 4 },
	} {
		t.Run(name, func(t *testing.T) {
			d, without := gapped(300, 31)
			c := quick
			c.Depth, c.Steps = 2, 400
			change(&c)
			old, err := Fit(t.Context(), c, without, "", nil)
			if err != nil {
				t.Fatal(err)
			}
			f, err := Fit(t.Context(), c, d, "", nil)
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(t.TempDir(), "m.utvi")
			if err := f.Save(path); err != nil {
				t.Fatal(err)
			}
			f, err = Load(path)
			if err != nil {
				t.Fatal(err)
			}
			p := f.NewPredictor(nil, 300)
			v, was := p.Predict(d.X), old.NewPredictor(nil, 300).Predict(without.X)
			if !slices.Equal(v.Mean, was.Mean) || !slices.Equal(v.Var, was.Var) {
				t.Fatal("predictions changed for rows that lack nothing")
			}
			var mean, spread, known float64
			for i, y := range v.Mean {
				mean += float64(y) / 300
				known += float64(v.Weights[i]) / 300
			}
			for _, y := range v.Mean {
				spread += math.Pow(float64(y)-mean, 2) / 300
			}
			for i := range 300 { // the values themselves do not matter then
				d.X.Mean[5*i], d.X.Mean[5*i+1] = 0, 1
			}
			v = p.Predict(d.X)
			var unknown, strange float64
			for i := range v.Mean {
				unknown += float64(v.Weights[i]) / 300
				strange += float64(v.OOD[i]) / 300
			}
			t.Logf("predictions vary by %.3f; their doubt is %.3f, with a missing number %.3f; ood %.2f", math.Sqrt(spread), math.Sqrt(known), math.Sqrt(unknown), strange)
			if ratio := unknown / spread; ratio < 0.5 || ratio > 2 || strange < 1.5 {
				t.Errorf("the variance without a number is %.2f of what it changes; ood %.2f", ratio, strange)
			}
		})
	}
}

func TestGapsCheck(t *testing.T) {
	d, _ := gapped(50, 32)
	d.X.Mean[5*7+1] = 1
	if err := d.Check(); err == nil || err.Error() != "input 1 says that a column is missing in row 7; that column has no gap" {
		t.Errorf("a value is missing: %v", err)
	}
	d.Gaps = []Span{{0, 1}}
	if err := d.Check(); err == nil || err.Error() != "a column that is never missing has inputs 0 to 0 of 5; it needs its own, at least 2, behind those of the column before" {
		t.Errorf("a gap without a number: %v", err)
	}
}
