package model

import (
	"math"
	"testing"

	"utvi/fn"
	"utvi/gauss"
	"utvi/nn"
	"utvi/rng"
)

// Layers of graphs, recurrent layers, attention and layers for each place become Normals, too, and
// predict what they did.
func TestAroundOfGraphs(t *testing.T) {
	dense := func(n int) nn.Layer { return nn.Dense{Out: n, Fixed: true} }
	tokens := nn.PerPlace{Layer: nn.Chain{nn.LayerNorm{}, dense(4), nn.Apply{F: fn.Tanh()}}}
	for name, layers := range map[string]nn.Chain{
		"graph": {nn.Graph{Steps: []nn.Step{
			{Name: "a", Layer: nn.Chain{dense(3), norm(3), nn.Apply{F: fn.Tanh()}}},
			{Name: "b", Layer: dense(3), From: []string{"in"}},
			{Name: "c", Layer: nn.Product{}, From: []string{"a", "b"}},
		}}, dense(2)},
		"places":    {tokens, dense(2)},
		"attention": {tokens, nn.MultiHeadAttention{Heads: 2, Fixed: true}, dense(2)},
		"lstm":      {nn.LSTM{Units: 3, Fixed: true}, nn.LSTM{Units: 2, Last: true, Fixed: true, NoBias: true}},
		"gru":       {nn.GRU{Units: 3, Fixed: true, Direction: nn.Bidirectional}, nn.RNN{Units: 2, Fixed: true, Last: true}},
	} {
		n, err := Build[float64](Config{Input: nn.Shape{H: 1, W: 4, C: 3}, Layers: layers, Seed: 4})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, correlated := range []bool{false, true} {
			around, err := n.Around(Around{Correlated: correlated})
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			for _, p := range around.Params.Tensors {
				normalises := p.Name[len(p.Name)-4:] == "gain" || p.Name[len(p.Name)-6:] == "offset"
				if p.Random == normalises {
					t.Errorf("%s: %s is random: %v", name, p.Name, p.Random)
				}
				for i := range p.Rho { // no width: functions of Normals move their means
					p.Rho[i] = -40
				}
			}
			around.Changed()
			x := gauss.New[float64](3, 12)
			x.Var = nil
			for i := range x.Mean {
				x.Mean[i] = rng.Normal(rng.New(5), uint64(i))
			}
			want, got := n.NewPredictor(3).Predict(x).Mean, around.NewPredictor(3).Predict(x).Mean
			for i := range want {
				if math.Abs(got[i]-want[i]) > 1e-9 {
					t.Errorf("%s: output %d is %v, was %v", name, i, got[i], want[i])
					break
				}
			}
		}
		last, err := n.Around(Around{Last: 1})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		random := 0
		for x := range last.Graph().All() {
			for _, p := range x.Tensors {
				if p.Random {
					random++
				}
			}
		}
		if random == 0 || random > 6 {
			t.Errorf("%s: %d tensors of the last layer are random", name, random)
		}
	}
}
