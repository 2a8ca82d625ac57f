package engine

import (
	"math"
	"testing"

	"utvi/data"
	"utvi/fn"
	"utvi/internal/compute"
	"utvi/internal/special"
	"utvi/likelihood"
	"utvi/nn"
	"utvi/optim"
	"utvi/rng"
	"utvi/vi"
)

// The gradients of the drawn loss are those of finite differences under the same
// ε, with respect to means and variances.
func TestDrawGradients(t *testing.T) {
	net := newNetwork(t, nn.Vec(3), nn.Chain{
		nn.Dense{Out: 7}, nn.Apply{F: fn.Tanh()}, nn.Dense{Out: 4}, nn.Scale{Start: 1.5}})
	g := &data.Generator{N: 40, In: 3, Out: 2, Generate: func(k rng.Key, row uint64, x, y []float32) {
		for i := range x {
			x[i] = float32(rng.Normal(k, 5*row+uint64(i)))
		}
		y[0], y[1] = x[0]*x[1], x[2]
	}}
	tr := newTrainer(t, net, Job{Data: g, Batch: 40, Seed: rng.New(6), Draws: 3})
	loss := func() float64 { return tr.Gradient(1).NLL }
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
	net := newNetwork(t, nn.Vec(300), nn.Chain{nn.Dense{Out: 70}, nn.Dense{Out: 2}})
	g := &data.Generator{N: 4, In: 300, Out: 1, Generate: func(rng.Key, uint64, []float32, []float32) {}}
	tr := newTrainer(t, net, Job{Data: g, Batch: 4, Draws: 2})
	seen := map[float32]int{}
	n := 0
	sum := 0.0
	sum2 := 0.0
	for range 2 {
		for tr.draws.number = range 2 {
			tr.Pool.Run(len(tr.ranges), tr.draws.runSigma)
			tr.Pool.Run(len(tr.ranges), tr.draws.runDraw)
			for i, x := range tr.params.Tensors {
				for j, e := range tr.draws.eps[i][:x.Len()] {
					seen[e]++
					n++
					sum += float64(e)
					sum2 += float64(e) * float64(e)
					w := x.Mean[j] + float32(special.Softplus(float64(x.Rho[j])))*e
					if got := tr.draws.drawn.Tensors[i].Mean[j]; math.Abs(float64(got-w)) > 1e-6 {
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

func newNetwork(t *testing.T, in nn.Shape, layers nn.Chain) Network[float32] {
	t.Helper()
	n := Network[float32]{Input: in, Layers: layers, Params: &vi.Params[float32]{}}
	if _, err := Bind(n, &nn.Binder[float32]{}); err != nil {
		t.Fatal(err)
	}
	n.Params.Alloc()
	n.Params.Start(rng.New(5), vi.Std(0.2))
	return n
}

func newTrainer(t *testing.T, n Network[float32], j Job) *trainer {
	t.Helper()
	j.Likelihood = likelihood.Heteroscedastic{}
	j.Optimizer = optim.Paper()
	j.Pool = compute.NewPool(1)
	tr, err := CPU[float32]().Train(n, j)
	if err != nil {
		t.Fatal(err)
	}
	return tr.(*trainer)
}
