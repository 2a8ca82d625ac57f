package nn

import (
	"utvi/fn"
	"utvi/moment"
)

// GRU is the gated recurrent unit over a series: an input of the shape 1 × times × features
// becomes 1 × times × Units, or, with Last, the Units of the last time. With σ the logistic
// function and ∘ the product unit by unit,
//
//	r, z = σ(W x + U h + b)
//	n    = tanh(W x + b + r∘(U h + b'))        ResetBefore: tanh(W x + b + U (r∘h) + b')
//	h    ← (1−z)∘n + z∘h
//
// each with its own W, U and biases, as in PyTorch. Moments are those of LSTM; h is exact for
// independent z, n and h.
type GRU struct {
	Units     int       `json:"units"`
	Direction Direction `json:"direction,omitempty"` // empty means Forward
	Last      bool      `json:"last,omitempty"`      // the output is the state behind the last step of each direction
	Fixed     bool      `json:"fixed,omitempty"`     // weights are learned numbers, not distributions
	NoBias    bool      `json:"no_bias,omitempty"`
	// ResetBefore resets the state before the product with the weights of n, as the first
	// paper did, not behind it, as PyTorch does.
	ResetBefore bool        `json:"reset_before,omitempty"`
	Start       []float64   `json:"start,omitempty"` // h before the first step, for each direction; nil means zeros
	Rule        moment.Rule `json:"-"`               // of the functions; nil means moment.Default
}

// Kind is "gru", as model files and the names of parameters have it.
func (GRU) Kind() string { return "gru" }

// AssumesIndependence reports that the layer, outside Correlated, takes weights as drawn anew at
// each time and the factors of its products as independent.
func (GRU) AssumesIndependence() bool { return true }

// Bind32 declares for each direction the weights and biases of the input and of the state, all
// gates in the order r, z, n; with ResetBefore those of the state for n are apart.
func (l GRU) Bind32(b *Binder[float32]) (Unit[float32], error) { return bindRecurrent(l.cell(), b) }

// Bind64 is Bind32 in float64, in which gradients are checked.
func (l GRU) Bind64(b *Binder[float64]) (Unit[float64], error) { return bindRecurrent(l.cell(), b) }

func (l GRU) cell() recurrentCell {
	const (
		pre   = 0 // r, z and U h + b' of n
		inner = 2
		gates = 3 // r, z
		input = 5 // W x + b of n
		cand  = 6 // before and behind tanh
		h     = 8
		reset = 9 // r∘h
	)
	c := recurrentCell{
		name: "GRU", units: l.Units, direction: l.Direction, last: l.Last, fixed: l.Fixed, noBias: l.NoBias, start: l.Start, rule: l.Rule,
		gates: 3, slots: 9, states: []int{h}, functions: []*moment.Func{fn.Sigmoid(), fn.Tanh()},
	}
	apply := []recurrentStep{
		{kind: stepApply, from: at(pre), to: gates, n: 2, function: 0},
	}
	finish := []recurrentStep{
		{kind: stepApply, from: at(cand), to: cand + 1, n: 1, function: 1},
		{kind: stepMix, to: h, terms: []recurrentTerm{{at(gates + 1), before(h)}, {at(gates + 1), at(cand + 1)}}},
	}
	if l.ResetBefore {
		c.slots = 10
		c.matrices = []recurrentMatrix{{name: "recurrent", gates: 2}, {name: "candidate", gates: 1}}
		c.steps = append([]recurrentStep{{kind: stepMultiply, from: before(h), to: pre, n: 2, joined: 2}}, apply...)
		c.steps = append(c.steps,
			recurrentStep{kind: stepProducts, to: reset, terms: []recurrentTerm{{at(gates), before(h)}}},
			recurrentStep{kind: stepMultiply, matrix: 1, from: at(reset), to: cand, n: 1, input: 2, joined: 1})
	} else {
		c.matrices = []recurrentMatrix{{name: "recurrent", gates: 3}}
		c.steps = append([]recurrentStep{{kind: stepMultiply, from: before(h), to: pre, n: 3, joined: 2}}, apply...)
		c.steps = append(c.steps,
			recurrentStep{kind: stepTake, to: input, input: 2},
			recurrentStep{kind: stepProducts, to: cand, terms: []recurrentTerm{{at(gates), at(inner)}}, add: at(input), adds: true})
	}
	c.steps = append(c.steps, finish...)
	return c
}
