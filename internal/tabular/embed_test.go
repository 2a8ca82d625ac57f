package tabular

import (
	"math"
	"path/filepath"
	"strings"
	"testing"

	"utvi/data"
	"utvi/gauss"
	"utvi/nn"
	"utvi/rng"
)

// levelled are rows whose target depends on the level of input 1: levels of seen ones, few
// rows each, then one that no row has.
func levelled(n, levels int, key uint64) Data {
	k := rng.New(key)
	x, y := make([]float32, 3*n), make([]float32, n)
	for i := range n {
		level := int(rng.Uniform(k, uint64(4*i)) * float64(levels))
		x[3*i] = float32(rng.Normal(k, uint64(4*i+1)))
		x[3*i+1] = float32(level)
		x[3*i+2] = float32(rng.Normal(k, uint64(4*i+2)))
		y[i] = 0.5*x[3*i] + 0.8*float32(rng.Normal(k, uint64(1<<40+level))) + 0.2*float32(rng.Normal(k, uint64(4*i+3)))
	}
	return Data{Set: data.Set{X: gauss.Fixed(3, x), Y: y}, Levels: []int{0, levels + 2, 0}}
}

// Levels are learned, and a level that no row has is uncertain by as much as levels differ.
func TestLevels(t *testing.T) {
	train, test := halves(levelled(2000, 120, 21))
	c := quick
	c.Steps = 1200
	f, err := Fit(t.Context(), c, train, "", nil)
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
	if !nn.Any(f.Members.Members[0].Config.Layers, func(l nn.Layer) bool { _, ok := l.(nn.Embed); return ok }) {
		t.Fatal("no network embeds levels")
	}
	p := f.NewPredictor(nil, test.X.Rows)
	v := p.Predict(test.X)
	var square, known, usual float64
	for i, y := range test.Y {
		square += math.Pow(float64(y-v.Mean[i]), 2) / float64(len(test.Y))
		known += float64(v.Weights[i]) / float64(len(test.Y))
		usual += float64(v.OOD[i]) / float64(len(test.Y))
	}
	if rmse := math.Sqrt(square); rmse > 0.32 { // 0.2 of noise; levels alone differ by 0.8
		t.Errorf("the error is %.3f", rmse)
	}
	for i := range test.Y {
		test.X.Mean[3*i+1] = 120
	}
	v = p.Predict(test.X)
	var unknown, strange float64
	for i := range test.Y {
		unknown += float64(v.Weights[i]) / float64(len(test.Y))
		strange += float64(v.OOD[i]) / float64(len(test.Y))
	}
	t.Logf("error %.3f; doubt of levels %.3f, of a new one %.3f; ood %.2f and %.2f", math.Sqrt(square), math.Sqrt(known), math.Sqrt(unknown), usual, strange)
	if sd := math.Sqrt(unknown); sd < 0.6 || sd > 1.1 || unknown < 4*known || strange < 1 || strange < 1.5*usual {
		t.Errorf("a new level has a doubt of %.3f, known ones %.3f; its ood is %.2f, others by %.2f", sd, math.Sqrt(known), strange, usual)
	}
}

// chosen are the rows of levelled with an input for each level, and one for others.
func chosen(n, levels int, key uint64) Data {
	d := levelled(n, levels, key)
	w := 2 + levels + 1
	x := make([]float32, w*n)
	for i := range n {
		x[w*i], x[w*i+w-1] = d.X.Mean[3*i], d.X.Mean[3*i+2]
		x[w*i+1+int(d.X.Mean[3*i+1])] = 1
	}
	return Data{Set: data.Set{X: gauss.Fixed(w, x), Y: d.Y}, Choices: []Span{{1, 1 + levels + 1}}}
}

// A level that no row has is uncertain by as much as levels differ, also where levels have
// an input each, whatever numbers are embedded by, and beside columns with embedded levels.
func TestChoices(t *testing.T) {
	const levels = 6
	for name, change := range map[string]func(*Config, *Data){
		"plain": func(*Config, *Data) {},
		"bins":  func(c *Config, _ *Data) { c.Bins = 8 },
		"embedded": func(_ *Config, d *Data) { // input 0 becomes the number of a level
			for i := range d.X.Rows {
				d.X.Mean[i*d.X.Width] = float32(i % 3)
			}
			d.Levels = make([]int, d.X.Width)
			d.Levels[0] = 5
		},
		"classes": func(_ *Config, d *Data) {
			for i, y := range d.Y {
				d.Y[i] = 0
				if y > 0 {
					d.Y[i] = 1
				}
			}
			d.Classes = 2
		},
	} {
		t.Run(name, func(t *testing.T) {
			c, all := quick, chosen(900, levels, 24)
			c.Depth, c.Steps = 2, 800
			if change(&c, &all); all.Classes > 0 {
				c.Noise = ""
			}
			train, test := halves(all)
			f, err := Fit(t.Context(), c, train, "", nil)
			if err != nil {
				t.Fatal(err)
			}
			w, p := test.X.Width, f.NewPredictor(nil, test.X.Rows)
			n, outputs := float64(len(test.Y)), max(1, test.Classes)
			mean, square := make([]float64, len(test.Y)), make([]float64, len(test.Y))
			var spread, known, unknown float64 // variances: between known levels, and due to the weights
			for level := range levels + 1 {
				for i := range test.X.Rows {
					clear(test.X.Mean[i*w+1 : i*w+2+levels])
					test.X.Mean[i*w+1+level] = 1
				}
				v := p.Predict(test.X)
				doubt := 0.0
				for i := range test.Y {
					y := float64(v.Mean[i*outputs])
					doubt += float64(v.Weights[i*outputs]) / n
					if level < levels {
						mean[i], square[i] = mean[i]+y/levels, square[i]+y*y/levels
					}
				}
				if level == levels {
					unknown = doubt
				} else {
					known += doubt / levels
				}
			}
			for i, m := range mean {
				spread += (square[i] - m*m) * levels / (levels - 1) / n
			}
			t.Logf("levels differ by %.3f; the doubt is %.3f, of a new level %.3f", math.Sqrt(spread), math.Sqrt(known), math.Sqrt(unknown))
			if ratio := unknown / (spread + known); ratio < 0.8 || ratio > 2 {
				t.Errorf("the variance of a new level is %.2f of what known levels show", ratio)
			}
		})
	}
}

// The number of a level is not a distance.
func TestLevelsHaveNoDistance(t *testing.T) {
	d := levelled(200, 30, 22)
	f := fakeFit(t, d)
	m := f.InputStats.measure(2)
	x := gauss.Fixed(3, []float32{1, 0, -2, 1, 30, -2})
	v := f.NewPredictor(nil, 2).Predict(x)
	m.ood(x, v)
	if a, b := m.distance(0), m.distance(1); a != b || !(a > 0) {
		t.Errorf("two levels are %v and %v away", a, b)
	}
}

func fakeFit(t *testing.T, d Data) *Fitted {
	t.Helper()
	c := quick
	c.Ensemble, c.Steps = 1, 8
	f, err := Fit(t.Context(), c, d, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestLevelsCheck(t *testing.T) {
	d := levelled(50, 5, 23)
	d.X.Mean[4] = 2.5
	if _, err := Fit(t.Context(), quick, d, "", nil); err == nil || !strings.Contains(err.Error(), "the level of row 1, input 1, is 2.5; it must be a whole number from 0 to 6") {
		t.Errorf("half a level: %v", err)
	}
	d.Levels = []int{3}
	if _, err := Fit(t.Context(), quick, d, "", nil); err == nil || !strings.Contains(err.Error(), "levels for 1 inputs, not 3") {
		t.Errorf("levels of other inputs: %v", err)
	}
}

// Few Normals a level, fewer of very many levels.
func TestEmbeddingWidth(t *testing.T) {
	for levels, want := range map[int]int{60: 8, 20_000: 8, 50_000: 4, 100_000: 2, 300_000: 2} {
		e := Data{Levels: []int{0, levels}}.embedding(false).(nn.Embed)
		if c := e.Categories[0]; c.Unit != 1 || c.Width != want || c.Levels != levels {
			t.Errorf("%d levels: %+v", levels, c)
		}
	}
}
