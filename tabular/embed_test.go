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
		x[3*i], x[3*i+1], x[3*i+2] = float32(rng.Normal(k, uint64(4*i+1))), float32(level), float32(rng.Normal(k, uint64(4*i+2)))
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
	if f, err = Load(path); err != nil {
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
		usual += float64(v.Unfamiliar[i]) / float64(len(test.Y))
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
		strange += float64(v.Unfamiliar[i]) / float64(len(test.Y))
	}
	t.Logf("error %.3f; doubt of levels %.3f, of a new one %.3f; unfamiliar %.2f and %.2f", math.Sqrt(square), math.Sqrt(known), math.Sqrt(unknown), usual, strange)
	if sd := math.Sqrt(unknown); sd < 0.6 || sd > 1.1 || unknown < 4*known || strange < 1 || strange < 1.5*usual {
		t.Errorf("a new level has a doubt of %.3f, known ones %.3f; it is unfamiliar by %.2f, others by %.2f", sd, math.Sqrt(known), strange, usual)
	}
}

// The number of a level is not a distance.
func TestLevelsHaveNoDistance(t *testing.T) {
	d := levelled(200, 30, 22)
	f := fakeFit(t, d)
	m := f.InputStats.measure(2)
	x := gauss.Fixed(3, []float32{1, 0, -2, 1, 30, -2})
	v := f.NewPredictor(nil, 2).Predict(x)
	m.unfamiliar(x, v)
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
		e := Data{Levels: []int{0, levels}}.embedding().(nn.Embed)
		if c := e.Categories[0]; c.Unit != 1 || c.Width != want || c.Levels != levels {
			t.Errorf("%d levels: %+v", levels, c)
		}
	}
}
