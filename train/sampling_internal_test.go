package train

import (
	"math"
	"testing"

	"utvi/data"
	"utvi/fn"
	"utvi/internal/special"
	"utvi/likelihood"
	"utvi/model"
	"utvi/nn"
	"utvi/rng"
	"utvi/vi"
)

// The gradients of the drawn loss are those of finite differences under the same
// ε, with respect to means and variances.
func TestDrawGradients(t *testing.T) {
	m, err := model.New(model.Config{Input: nn.Vec(3), Seed: 5, Init: vi.Std(0.2), Layers: nn.Chain{
		nn.Dense{Out: 7}, nn.Apply{F: fn.Tanh()}, nn.Dense{Out: 4}, nn.Scale{Start: 1.5}}})
	if err != nil {
		t.Fatal(err)
	}
	g := &data.Generator{N: 40, In: 3, Out: 2, Generate: func(k rng.Key, row uint64, x, y []float32) {
		for i := range x {
			x[i] = float32(rng.Normal(k, 5*row+uint64(i)))
		}
		y[0], y[1] = x[0]*x[1], x[2]
	}}
	tr, err := New(m, Config{Data: g, Batch: 40, Steps: 1, Seed: 6, Draws: 3, Workers: 1, Likelihood: likelihood.Heteroscedastic{}})
	if err != nil {
		t.Fatal(err)
	}
	loss := func() float64 {
		var s Step
		g.Begin(tr.dataKey, 1, 40)
		tr.batch(&s)
		return s.NLL
	}
	for k, x := range tr.params.Tensors {
		i := x.Len() - 1 - k%2
		// float32 limits the differences to about 1e-3 of the slope.
		check := func(what string, p *float32, got, slope float64) {
			const h = 1.0 / 256
			at := *p
			*p = at - h
			lo := loss()
			*p = at + h
			hi := loss()
			*p = at
			if want := (hi - lo) / (2 * h); math.Abs(got*slope-want) > 2e-3*(math.Abs(want)+0.1) {
				t.Errorf("∂/∂%s of %s[%d] is %v, by differences %v", what, x.Name, i, got*slope, want)
			}
		}
		loss()
		gm, gv := float64(x.GMean[i]), 0.0
		if x.Random {
			gv = float64(x.GVar[i])
		}
		check("mean", &x.Mean[i], gm, 1)
		if x.Random {
			rho := float64(x.Rho[i])
			check("ρ", &x.Rho[i], gv, 2*special.Softplus(rho)*special.Sigmoid(rho))
		}
	}
}

// Draws differ by step, draw, tensor and place, and are standard Normals.
func TestDrawnWeights(t *testing.T) {
	m, err := model.New(model.Config{Input: nn.Vec(300), Layers: nn.Chain{nn.Dense{Out: 70}, nn.Dense{Out: 2}}})
	if err != nil {
		t.Fatal(err)
	}
	g := &data.Generator{N: 4, In: 300, Out: 1, Generate: func(rng.Key, uint64, []float32, []float32) {}}
	tr, err := New(m, Config{Data: g, Batch: 4, Steps: 9, Draws: 2, Likelihood: likelihood.Heteroscedastic{}})
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	seen := map[float32]int{}
	n, sum, sum2 := 0, 0.0, 0.0
	for range 2 {
		for tr.sampling.number = range 2 {
			tr.pool.Run(len(tr.ranges), tr.sampling.runSigma)
			tr.pool.Run(len(tr.ranges), tr.sampling.runDraw)
			for i, x := range tr.params.Tensors {
				for j, e := range tr.sampling.eps[i][:x.Len()] {
					seen[e]++
					n++
					sum += float64(e)
					sum2 += float64(e) * float64(e)
					w := x.Mean[j] + float32(special.Softplus(float64(x.Rho[j])))*e
					if got := tr.sampling.drawn.Tensors[i].Mean[j]; math.Abs(float64(got-w)) > 1e-6 {
						t.Fatalf("weight %d of %s is %v, want %v", j, x.Name, got, w)
					}
				}
			}
		}
		tr.step++
	}
	if mean, v := sum/float64(n), sum2/float64(n); math.Abs(mean) > 5/math.Sqrt(float64(n)) || math.Abs(v-1) > 5*math.Sqrt(2/float64(n)) {
		t.Errorf("%d draws have mean %v and variance %v", n, mean, v)
	}
	if len(seen) < n*99/100 {
		t.Errorf("%d draws have only %d values", n, len(seen))
	}
}
