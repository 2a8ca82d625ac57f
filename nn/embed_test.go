package nn_test

import (
	"math"
	"testing"

	"utvi/fn"
	"utvi/moment"
	"utvi/nn"
	"utvi/nn/nntest"
	"utvi/vi"
)

// The inputs of the suite lie within ±1, so that levels 0 and 1 occur, and numbers below 0.
func categories() nn.Embed {
	return nn.Embed{Categories: []nn.Category{{Unit: 1, Levels: 3, Width: 2}, {Unit: 3, Levels: 2, Width: 3}}}
}

func TestEmbed(t *testing.T) {
	nntest.Layer(t, categories(), nn.Vec(5), nntest.Options{Draws: 20000})
	nntest.Layer(t, nn.Embed{Categories: []nn.Category{{Unit: 0, Levels: 20_000, Width: 2}}}, nn.Vec(1), nntest.Options{Mean: 10_000, Spread: 5000})
	act := nn.Apply{F: fn.Tanh(), Rule: moment.GaussHermite(5)}
	t.Run("correlated", func(t *testing.T) {
		nntest.Layer(t, correlated(categories(), nn.Dense{Out: 3}), nn.Vec(5), nntest.Options{})
		nntest.Layer(t, correlated(categories(), nn.Dense{Out: 4}, act, nn.Dense{Out: 1}), nn.Vec(5), nntest.Options{})
		nntest.Layer(t, correlated(nn.Dense{Out: 5}, categories(), nn.Dense{Out: 2}), nn.Vec(3), nntest.Options{})
	})
}

// Levels are looked up by their number; numbers outside are the nearest level.
func TestEmbedLooksUp(t *testing.T) {
	b := &nn.Binder[float64]{Params: &vi.Params[float64]{}, In: nn.Vec(2), Name: "layer"}
	u, err := nn.Bind(nn.Embed{Categories: []nn.Category{{Unit: 0, Levels: 3, Width: 2}}}, b)
	if err != nil {
		t.Fatal(err)
	}
	b.Params.Alloc()
	table := b.Params.Tensors[0]
	for i := range table.Mean {
		table.Mean[i], table.Rho[i] = float64(10+i), float64(i)
	}
	r := u.NewRunner(6, false)
	for i := range u.PrepareTiles() {
		r.Prepare(i)
	}
	p := nn.Pass[float64]{}
	p.In.Rows = 6
	p.In.Width = 2
	p.In.Mean = []float64{0, 7, 1, 7, 2, 7, 9, 7, -3, 7, 1.4, 7}
	p.Out.Rows = 6
	p.Out.Width = 3
	p.Out.Mean = make([]float64, 18)
	p.Out.Var = make([]float64, 18)
	r.Forward(&p)
	for row, level := range []int{0, 1, 2, 2, 0, 1} {
		want := []float64{7, float64(10 + 2*level), float64(11 + 2*level)}
		for j, w := range want {
			sd := 0.0
			if j > 0 {
				sd = math.Log1p(math.Exp(float64(2*level + j - 1)))
			}
			if m, v := p.Out.Mean[3*row+j], p.Out.Var[3*row+j]; m != w || math.Abs(v-sd*sd) > 1e-12 {
				t.Errorf("row %d, output %d is %v with variance %v; want %v and %v", row, j, m, v, w, sd*sd)
			}
		}
	}
}

func TestEmbedRefuses(t *testing.T) {
	one := func(c ...nn.Category) nn.Embed { return nn.Embed{Categories: c} }
	nntest.Refuses(t, one(), nn.Vec(2), "needs at least 1")
	nntest.Refuses(t, one(nn.Category{Unit: 2, Levels: 1, Width: 1}), nn.Vec(2), "category 0 is unit 2")
	nntest.Refuses(t, one(nn.Category{Unit: 1, Levels: 1, Width: 1}, nn.Category{Unit: 1, Levels: 1, Width: 1}), nn.Vec(2), "the units must rise")
	nntest.Refuses(t, one(nn.Category{Levels: 0, Width: 1}), nn.Vec(2), "0 levels of 1 Normals")
	nntest.Refuses(t, one(nn.Category{Levels: 1 << 20, Width: 1 << 20}), nn.Vec(2), "at most")
}
