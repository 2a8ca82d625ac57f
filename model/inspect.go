package model

import (
	"math"
	"slices"

	"utvi/gauss"
	"utvi/internal/codec"
	"utvi/internal/special"
	"utvi/nn"
	"utvi/vi"
)

// A Summary describes a network.
type Summary struct {
	Input   nn.Shape        `json:"input"`
	Layers  []LayerSummary  `json:"layers"`
	Weights int             `json:"weights"` // all of them
	Random  int             `json:"random"`  // those that are distributions
	KL      float64         `json:"kl"`      // of all, nats
	Tensors []TensorSummary `json:"tensors"`
	Seed    uint64          `json:"seed"`
	Facts   Facts           `json:"facts"`
}

// A LayerSummary describes one layer.
type LayerSummary struct {
	Name    string   `json:"name"`
	Kind    string   `json:"kind"`
	Options string   `json:"options"`        // function, rule and sizes
	From    []string `json:"from,omitempty"` // the signals that a step of a graph reads, if it says so
	Out     nn.Shape `json:"out"`
	Weights int      `json:"weights"`
}

// A TensorSummary describes one tensor of weights.
type TensorSummary struct {
	Name   string   `json:"name"`
	Shape  []int    `json:"shape"`
	Random bool     `json:"random"`
	Prior  vi.Prior `json:"prior"`
	KL     float64  `json:"kl"`
	// Centered: the prior of each weight is moved to the weight that training started from.
	Centered bool `json:"centered,omitempty"`
	// Promoted: each weight has a standard deviation of its own in the prior.
	Promoted bool `json:"promoted,omitempty"`

	// SNR holds the minimum, quartiles and maximum of the signal-to-noise ratio |μ|/σ.
	// Below1 is the share of weights whose sign is uncertain: |μ| < σ. Both are for
	// random tensors only.
	SNR    *[5]float64 `json:"snr,omitempty"`
	Below1 float64     `json:"below_1"`

	// Numbers holds the minimum, quartiles and maximum of a tensor of numbers, as they
	// are stored.
	Numbers *[5]float64 `json:"numbers,omitempty"`
}

// Inspect describes the network.
func (n *Net[T]) Inspect() Summary {
	s := Summary{Input: n.Config.Input, Seed: n.Config.Seed, Facts: n.Facts, KL: bounded(n.Params.KL())}
	s.Layers = layers(n.Graph(), nil)
	for _, t := range n.Params.Tensors {
		s.Weights += t.Len()
		if t.Random {
			s.Random += t.Len()
		}
		s.Tensors = append(s.Tensors, inspectTensor(t))
	}
	return s
}

// layers describes the layers that run one after the other: those of chains, and the steps of
// graphs, with what the first layer of each reads.
func layers[T gauss.Float](n *nn.Node[T], from []string) []LayerSummary {
	var all []LayerSummary
	switch l := n.Layer.(type) {
	case nn.Chain:
		for _, c := range n.Children {
			all = append(all, layers(c, from)...)
			from = nil
		}
		return all
	case nn.Graph:
		for i, c := range n.Children {
			all = append(all, layers(c, l.Steps[i].From)...)
		}
		return all
	}
	s := LayerSummary{Name: n.Name, Kind: n.Layer.Kind(), Options: codec.Describe(n.Layer), From: from, Out: n.Out}
	for part := range n.All() {
		for _, t := range part.Tensors {
			s.Weights += t.Len()
		}
	}
	return append(all, s)
}

func inspectTensor[T gauss.Float](t *vi.Tensor[T]) TensorSummary {
	s := TensorSummary{Name: t.Name, Shape: t.Shape, Random: t.Random, Prior: t.Prior, KL: bounded(t.KL()), Centered: t.Center != nil, Promoted: t.Spread != nil}
	if !t.Random {
		values := make([]float64, t.Len())
		for i, x := range t.Mean {
			values[i] = float64(x)
		}
		s.Numbers = quartiles(values)
		return s
	}
	snr := make([]float64, t.Len())
	below := 0
	for i, rho := range t.Rho {
		snr[i] = bounded(math.Abs(float64(t.Mean[i])) / max(special.Softplus(float64(rho)), math.SmallestNonzeroFloat64))
		if snr[i] < 1 {
			below++
		}
	}
	s.Below1 = float64(below) / float64(len(snr))
	s.SNR = quartiles(snr)
	return s
}

// quartiles of x, from the least to the largest; it sorts x.
func quartiles(x []float64) *[5]float64 {
	slices.Sort(x)
	var q [5]float64
	for i := range q {
		q[i] = quantile(x, float64(i)/4)
	}
	return &q
}

// bounded keeps what a vanishing σ makes infinite within what JSON can hold.
func bounded(x float64) float64 { return min(x, math.MaxFloat64) }

// quantile interpolates between sorted values.
func quantile(sorted []float64, p float64) float64 {
	at := p * float64(len(sorted)-1)
	i := min(int(at), len(sorted)-2)
	if i < 0 {
		return sorted[0]
	}
	return sorted[i] + (at-float64(i))*(sorted[i+1]-sorted[i])
}
