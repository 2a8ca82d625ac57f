package nn_test

import (
	"math"
	"slices"
	"testing"

	"utvi/fn"
	"utvi/gauss"
	"utvi/moment"
	"utvi/nn"
	"utvi/nn/nntest"
)

func TestMatMul(t *testing.T) {
	a, b := nn.Shape{H: 2, W: 2, C: 3}, nn.Shape{H: 2, W: 3, C: 4}
	turn := func(s nn.Shape) nn.Shape { return nn.Shape{H: s.H, W: s.C, C: s.W} }
	for name, c := range map[string]struct {
		l    nn.MatMul
		a, b nn.Shape
	}{
		"plain":        {nn.MatMul{}, a, b},
		"scores":       {nn.MatMul{TransposeB: true, Scale: 0.5}, a, turn(b)},
		"a transposed": {nn.MatMul{TransposeA: true}, turn(a), b},
		"both":         {nn.MatMul{TransposeA: true, TransposeB: true, Scale: -2}, turn(a), turn(b)},
	} {
		t.Run(name, func(t *testing.T) {
			suites(t, two(c.l, c.a, c.b), nn.Vec(c.a.Size()+c.b.Size()), nntest.Options{Draws: 5_000, Entries: 8})
		})
	}
	t.Run("one factor is fixed", func(t *testing.T) {
		for _, order := range [][]string{{"a", "b"}, {"b", "a"}} {
			g := nn.Graph{Steps: []nn.Step{
				{Name: "a", Layer: nn.Chain{nn.Dense{Out: 4}, nn.Reshape{H: 1, W: 2, C: 2}}},
				{Name: "b", Layer: nn.Chain{nn.Dense{Out: 4, Fixed: true}, nn.Reshape{H: 1, W: 2, C: 2}}, From: []string{"in"}},
				{Name: "c", Layer: nn.MatMul{}, From: order},
			}}
			nntest.Layer(t, g, nn.Vec(3), nntest.Options{Entries: 8})
			nntest.Layer(t, correlated(g), nn.Vec(3), nntest.Options{Entries: 8})
		}
	})
	nntest.Refuses(t, two(nn.MatMul{}, a, a), nn.Vec(24), "step y: the matrices a (2×2×3) and b (2×2×3) do not meet: 2 of 2×3 times 2 of 2×3")
	nntest.Refuses(t, nn.MatMul{}, a, "it reads one signal; a product of matrices needs several")
}

func TestSoftmax(t *testing.T) {
	in := nn.Shape{H: 2, W: 3, C: 4}
	for name, l := range map[string]nn.Softmax{
		"channels": {}, "width": {Axis: nn.Width}, "height": {Axis: nn.Height}, "causal": {Causal: true},
	} {
		t.Run(name, func(t *testing.T) {
			suites(t, l, in, nntest.Options{Draws: 5_000, VarBias: 0.05, MeanBias: 0.05, Entries: 8})
		})
	}
	// Along the channels of each place, as a joint map of each place alone; along the rest by way of
	// a transposition.
	mean, variance := waves(24, 0.3)
	alone := pushShape(nn.PerPlace{Layer: nn.Joint{Map: fn.Softmax()}}, in, mean, variance)
	channels := pushShape(nn.Softmax{}, in, mean, variance)
	for i, m := range alone.Mean { // in kernels, to rounding
		if !(math.Abs(channels.Mean[i]-m) <= 1e-13) || !(math.Abs(channels.Var[i]-alone.Var[i]) <= 1e-13) {
			t.Errorf("channels: unit %d is %v, %v; want %v, %v", i, channels.Mean[i], channels.Var[i], m, alone.Var[i])
		}
	}
	order := [3]nn.Axis{nn.Channels, nn.Width, nn.Height}
	turned := pushShape(nn.Chain{nn.Transpose{Order: order}, nn.Softmax{}, nn.Transpose{Order: order}}, in, mean, variance)
	same(t, "height", pushShape(nn.Softmax{Axis: nn.Height}, in, mean, variance), turned)
	nntest.Refuses(t, nn.Softmax{Axis: nn.Width, Causal: true}, in, "a causal softmax runs along the channels")
	nntest.Refuses(t, nn.Softmax{Causal: true}, nn.Shape{H: 1, W: 3, C: 2}, "the input is 1×3×2")
}

func TestPerPlace(t *testing.T) {
	in := nn.Shape{H: 2, W: 3, C: 4}
	t.Run("norm", func(t *testing.T) {
		suites(t, nn.PerPlace{Layer: nn.LayerNorm{Eps: 0.01}}, in, nntest.Options{Entries: 8})
	})
	t.Run("dense", func(t *testing.T) { suites(t, nn.PerPlace{Layer: nn.Dense{Out: 2}}, in, nntest.Options{Entries: 8}) })
	t.Run("chain", func(t *testing.T) {
		suites(t, nn.PerPlace{Layer: nn.Chain{nn.Dense{Out: 3}, smooth, nn.LayerNorm{}}}, in, nntest.Options{Entries: 8})
	})
	t.Run("map", func(t *testing.T) {
		nntest.Layer(t, nn.PerPlace{Layer: nn.Joint{Map: fn.Softmax(), Rule: moment.JointMC(5)}}, in, nntest.Options{})
		nntest.Layer(t, nn.PerPlace{Layer: nn.Append{Count: 2}}, in, nntest.Options{Entries: 8})
	})
	nntest.Refuses(t, nn.PerPlace{}, in, "no layer; set nn.PerPlace.Layer")
	nntest.Refuses(t, correlated(nn.PerPlace{Layer: nn.Positions{}}), in, "only nn.Dense can be applied to each place")
	nntest.Refuses(t, nn.PerPlace{Layer: nn.Reshape{H: 2, W: 2, C: 1}}, in, "its output must be a vector")
}

func TestPositions(t *testing.T) {
	in := nn.Shape{H: 1, W: 3, C: 4}
	for name, l := range map[string]nn.Positions{"learned": {}, "numbers": {Fixed: true}, "waves": {Sinusoidal: true}} {
		t.Run(name, func(t *testing.T) { suites(t, l, in, nntest.Options{Draws: 5_000, Entries: 8}) })
	}
}

// transformer is an encoder block behind positions, over tokens of 4 features.
func transformer(a nn.MultiHeadAttention) nn.Chain {
	norm := nn.PerPlace{Layer: nn.LayerNorm{}}
	return nn.Chain{
		nn.Positions{},
		nn.Residual{Branch: nn.Chain{norm, a}},
		nn.Residual{Branch: nn.Chain{norm, nn.PerPlace{Layer: nn.Chain{nn.Dense{Out: 6}, smooth, nn.Dense{Out: 4}}}}},
	}
}

func TestAttention(t *testing.T) {
	in, o := nn.Shape{H: 1, W: 3, C: 4}, nntest.Options{Entries: 6}
	t.Run("encoder", func(t *testing.T) {
		l := transformer(nn.MultiHeadAttention{Heads: 2})
		nntest.Layer(t, l, in, o)
		nntest.Layer(t, correlated(append(l, nn.Dense{Out: 2})...), in, o)
	})
	t.Run("causal", func(t *testing.T) {
		l := nn.MultiHeadAttention{Heads: 2, Dim: 3, Out: 5, Causal: true}
		nntest.Layer(t, l, in, o)
		nntest.Layer(t, correlated(l, nn.Dense{Out: 1}), in, o)
	})
	t.Run("cross, masked", func(t *testing.T) {
		g := nn.Graph{
			Inputs: []nn.Input{{Name: "a", Shape: in}, {Name: "b", Shape: nn.Shape{H: 1, W: 2, C: 3}}, {Name: "mask", Shape: nn.Shape{H: 1, W: 1, C: 2}}},
			Steps:  []nn.Step{{Name: "y", Layer: nn.MultiHeadAttention{Heads: 2, Masked: true, NoBias: true}, From: []string{"a", "b", "mask"}}},
		}
		nntest.Layer(t, g, nn.Vec(12+6+2), o)
	})
	nntest.Refuses(t, nn.MultiHeadAttention{Heads: 3}, in, "4 features cannot be divided among 3 heads; set Dim")
	nntest.Refuses(t, nn.MultiHeadAttention{}, in, "0 heads")
	nntest.Refuses(t, nn.MultiHeadAttention{Heads: 2}, nn.Shape{H: 2, W: 2, C: 2}, "a sequence must have height 1")
	nntest.Refuses(t, nn.MultiHeadAttention{Heads: 2, Masked: true}, in, "the attention reads 0 signals of tokens")
}

// Whole networks with little uncertainty: weights are shared by all tokens, and each token is read
// by queries, keys and values.
func TestAttentionAgainstDrawn(t *testing.T) {
	mean, variance := waves(12, 0.003)
	l := append(transformer(nn.MultiHeadAttention{Heads: 2, Causal: true}), nn.Dense{Out: 3})
	beatsIndependence(t, l, nn.Shape{H: 1, W: 3, C: 4}, 0.03, 0.02, mean, variance)
}

// same checks that two rows have the same moments, to the bit.
func same(t *testing.T, what string, a, b gauss.Batch[float64]) {
	t.Helper()
	if !slices.Equal(a.Mean, b.Mean) || !slices.Equal(a.Var, b.Var) {
		t.Errorf("%s: %v, want %v", what, a, b)
	}
}
