package nn

import (
	"cmp"
	"fmt"
	"math"

	"utvi/gauss"
)

// MultiHeadAttention lets each token of a sequence, 1×tokens×features, look at all tokens: for each
// head h with learned Q, K and V of Dim features
//
//	softmax(Q_h·K_hᵀ/√Dim)·V_h
//
// and a dense layer over the heads of each token. As a step of a Graph that reads two signals the
// tokens of the first look at those of the second.
//
// It is a Graph of PerPlace{Dense}, MatMul and Softmax (see Expand), and assumes what these
// assume: scores and values are taken as independent. Inside Correlated the covariances are
// kept, to first order, and weights are drawn once for all tokens.
type MultiHeadAttention struct {
	Heads int `json:"heads"`
	Dim   int `json:"dim,omitempty"` // features of a head; 0: those of the tokens, divided by Heads
	Out   int `json:"out,omitempty"` // features of the output; 0: those of the tokens
	// Causal lets each token look at itself and those before it only.
	Causal bool `json:"causal,omitempty"`
	// Masked adds the last signal that the step reads to the scores, tokens × tokens with height 1 or
	// one for each head: 0 lets a token be seen, a large negative number hides it.
	Masked bool `json:"masked,omitempty"`
	Fixed  bool `json:"fixed,omitempty"` // weights are learned numbers, not distributions
	NoBias bool `json:"no_bias,omitempty"`
}

// Kind is "attention", as model files and the names of parameters have it.
func (MultiHeadAttention) Kind() string { return "attention" }

// Bind32 binds the graph of the attention.
func (l MultiHeadAttention) Bind32(b *Binder[float32]) (Unit[float32], error) {
	return bindAttention(l, b)
}

// Bind64 is Bind32 in float64, in which gradients are checked.
func (l MultiHeadAttention) Bind64(b *Binder[float64]) (Unit[float64], error) {
	return bindAttention(l, b)
}

// AssumesIndependence reports that the covariance of scores and values is dropped.
func (MultiHeadAttention) AssumesIndependence() bool { return true }

func bindAttention[T gauss.Float](l MultiHeadAttention, b *Binder[T]) (Unit[T], error) {
	shapes := []Shape{b.In}
	if len(b.Parts) > 0 {
		shapes = shapes[:0]
		for _, p := range b.Parts {
			shapes = append(shapes, p.Shape)
		}
	}
	g, err := l.Expand(shapes...)
	if err != nil {
		return nil, err
	}
	return bindGraph(g, b)
}

// Expand returns the graph that the layer is, for the shapes of the signals that it reads.
func (l MultiHeadAttention) Expand(reads ...Shape) (Graph, error) {
	signals := len(reads)
	if l.Masked {
		signals--
	}
	if signals != 1 && signals != 2 {
		return Graph{}, fmt.Errorf("the attention reads %d signals of tokens; it must be one, or the tokens that look and those that are seen (and a mask as the last, if Masked is set)", signals)
	}
	for _, s := range reads[:signals] {
		if s.H != 1 {
			return Graph{}, fmt.Errorf("the tokens have the shape %v; a sequence must have height 1, tokens along the width and features as channels", s)
		}
	}
	looks, seen := reads[0], reads[signals-1]
	if l.Heads < 1 || l.Dim < 0 || l.Out < 0 {
		return Graph{}, fmt.Errorf("%d heads of %d features and %d outputs; an attention needs at least 1 head, and no negative sizes", l.Heads, l.Dim, l.Out)
	}
	if l.Dim == 0 && looks.C%l.Heads != 0 {
		return Graph{}, fmt.Errorf("%d features cannot be divided among %d heads; set Dim, the features of a head", looks.C, l.Heads)
	}
	dim, out := cmp.Or(l.Dim, looks.C/l.Heads), cmp.Or(l.Out, looks.C)
	if l.Heads > maxWeights/dim {
		return Graph{}, fmt.Errorf("%d heads of %d features; at most %d together are allowed", l.Heads, dim, maxWeights)
	}
	dense := func(n int) Layer { return PerPlace{Dense{Out: n, Fixed: l.Fixed, NoBias: l.NoBias}} }
	heads := func(tokens int) Chain {
		return Chain{dense(l.Heads * dim), Reshape{H: tokens, W: l.Heads, C: dim}, Transpose{Order: byHead}}
	}
	g := Graph{Inputs: []Input{{Name: "tokens", Shape: looks}}}
	from := []string{"tokens"}
	if signals == 2 {
		g.Inputs = append(g.Inputs, Input{Name: "seen", Shape: seen})
		from = []string{"seen"}
	}
	scores := "scores"
	g.Steps = []Step{
		{Name: "query", Layer: heads(looks.W), From: []string{"tokens"}},
		{Name: "key", Layer: heads(seen.W), From: from},
		{Name: "value", Layer: heads(seen.W), From: from},
		{Name: scores, Layer: MatMul{TransposeB: true, Scale: 1 / math.Sqrt(float64(dim))}, From: []string{"query", "key"}},
	}
	if l.Masked {
		g.Inputs = append(g.Inputs, Input{Name: "mask", Shape: reads[signals]})
		g.Steps = append(g.Steps, Step{Name: "masked", Layer: Sum{}, From: []string{scores, "mask"}})
		scores = "masked"
	}
	g.Steps = append(g.Steps,
		Step{Name: "weights", Layer: Softmax{Causal: l.Causal}, From: []string{scores}},
		Step{Name: "mixed", Layer: MatMul{}, From: []string{"weights", "value"}},
		Step{Name: "out", Layer: Chain{Transpose{Order: byHead}, Reshape{H: 1, W: looks.W, C: l.Heads * dim}, dense(out)}},
	)
	return g, nil
}

// byHead exchanges tokens and heads.
var byHead = [3]Axis{Width, Height, Channels}
