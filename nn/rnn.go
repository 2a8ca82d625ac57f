package nn

import (
	"utvi/fn"
	"utvi/moment"
)

// RNN is a plain recurrent layer over a series: an input of the shape 1 × times × features
// becomes 1 × times × Units, or, with Last, the Units of the last time,
//
//	h ← F(W x + b + U h + b')
//
// Moments are those of LSTM.
type RNN struct {
	Units     int
	F         *moment.Func // nil means fn.Tanh
	Direction Direction    // empty means Forward
	Last      bool         // the output is the state behind the last step of each direction
	Fixed     bool         // weights are learned numbers, not distributions
	NoBias    bool
	Start     []float64   // h before the first step, for each direction; nil means zeros
	Rule      moment.Rule // of F; nil means moment.Default
}

// Kind is "rnn", as model files and the names of parameters have it.
func (RNN) Kind() string { return "rnn" }

// AssumesIndependence reports that the layer, outside Correlated, takes weights as drawn anew at
// each time and units as independent.
func (RNN) AssumesIndependence() bool { return true }

// Bind32 declares for each direction the weights and biases of the input and of the state.
func (l RNN) Bind32(b *Binder[float32]) (Unit[float32], error) { return bindRecurrent(l.cell(), b) }

// Bind64 is Bind32 in float64, in which gradients are checked.
func (l RNN) Bind64(b *Binder[float64]) (Unit[float64], error) { return bindRecurrent(l.cell(), b) }

func (l RNN) cell() recurrentCell {
	f := l.F
	if f == nil {
		f = fn.Tanh()
	}
	return recurrentCell{
		name: "RNN", units: l.Units, direction: l.Direction, last: l.Last, fixed: l.Fixed, noBias: l.NoBias, start: l.Start, rule: l.Rule,
		gates: 1, slots: 2, states: []int{1}, functions: []*moment.Func{f},
		matrices: []recurrentMatrix{{name: "recurrent", gates: 1}},
		steps: []recurrentStep{
			{kind: stepMultiply, from: before(1), to: 0, n: 1, joined: 1},
			{kind: stepApply, from: at(0), to: 1, n: 1, function: 0},
		},
	}
}
