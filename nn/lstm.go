package nn

import (
	"utvi/fn"
	"utvi/moment"
)

// LSTM is long short-term memory over a series: an input of the shape 1 × times × features
// becomes 1 × times × Units, or, with Last, the Units of the last time. With σ the logistic
// function and ∘ the product unit by unit,
//
//	i, f, o = σ(W x + U h + b)      g = tanh(W x + U h + b)
//	c ← f∘c + i∘g                   h ← o∘tanh(c)
//
// each gate with its own W, U and b; b has a part with W and one with U, as in PyTorch. The moments of the functions
// are those of Rule; those of a product are exact for independent factors,
//
//	mean  m m'        variance  m²v' + m'²v + v v'
//
// The weights are used at every time. Alone, the layer takes them as drawn anew each
// time, and the factors and the units as independent. Within Correlated weights are drawn once, and
// what units have in common is kept to first order.
type LSTM struct {
	Units     int       `json:"units"`
	Direction Direction `json:"direction,omitempty"` // empty means Forward
	Last      bool      `json:"last,omitempty"`      // the output is the state behind the last step of each direction
	Fixed     bool      `json:"fixed,omitempty"`     // weights are learned numbers, not distributions
	NoBias    bool      `json:"no_bias,omitempty"`
	// Start is the state before the first step, h of all units and then c, for each
	// direction; nil means zeros.
	Start []float64   `json:"start,omitempty"`
	Rule  moment.Rule `json:"-"` // of the functions; nil means moment.Default
}

// Kind is "lstm", as model files and the names of parameters have it.
func (LSTM) Kind() string { return "lstm" }

// AssumesIndependence reports that the layer, outside Correlated, takes weights as drawn anew at
// each time and the factors of its products as independent.
func (LSTM) AssumesIndependence() bool { return true }

// Bind32 declares for each direction the weights and biases of the input and of the state, all
// gates in the order i, f, o, g.
func (l LSTM) Bind32(b *Binder[float32]) (Unit[float32], error) { return bindRecurrent(l.cell(), b) }

// Bind64 is Bind32 in float64, in which gradients are checked.
func (l LSTM) Bind64(b *Binder[float64]) (Unit[float64], error) { return bindRecurrent(l.cell(), b) }

func (l LSTM) cell() recurrentCell {
	const (
		pre   = 0
		gates = 4 // i, f, o
		cand  = 7
		c     = 8
		tanhC = 9
		h     = 10
	)
	return recurrentCell{
		name: "LSTM", units: l.Units, direction: l.Direction, last: l.Last, fixed: l.Fixed, noBias: l.NoBias, start: l.Start, rule: l.Rule,
		gates: 4, slots: 11, states: []int{h, c}, functions: []*moment.Func{fn.Sigmoid(), fn.Tanh()},
		matrices: []recurrentMatrix{{name: "recurrent", gates: 4}},
		steps: []recurrentStep{
			{kind: stepMultiply, from: before(h), to: pre, n: 4, joined: 4},
			{kind: stepApply, from: at(pre), to: gates, n: 3, function: 0},
			{kind: stepApply, from: at(pre + 3), to: cand, n: 1, function: 1},
			{kind: stepProducts, to: c, terms: []recurrentTerm{{at(gates + 1), before(c)}, {at(gates), at(cand)}}},
			{kind: stepApply, from: at(c), to: tanhC, n: 1, function: 1},
			{kind: stepProducts, to: h, terms: []recurrentTerm{{at(gates + 2), at(tanhC)}}},
		},
	}
}
