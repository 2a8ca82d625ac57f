package codec

import (
	"utvi/fn"
	"utvi/nn"
)

// lstmOptions and the like are those of the layer with the name of its rule.
type lstmOptions struct {
	nn.LSTM
	ruleOptions
}

func encodeLSTM(c *coder, l nn.LSTM) (o lstmOptions, err error) {
	o.LSTM = l
	o.ruleOptions, err = c.encodeRule(l.Rule, fn.Sigmoid())
	return o, err
}

func decodeLSTM(c *coder, o lstmOptions) (l nn.LSTM, err error) {
	l = o.LSTM
	l.Rule, err = c.decodeRule(o.ruleOptions)
	return l, err
}

type gruOptions struct {
	nn.GRU
	ruleOptions
}

func encodeGRU(c *coder, l nn.GRU) (o gruOptions, err error) {
	o.GRU = l
	o.ruleOptions, err = c.encodeRule(l.Rule, fn.Sigmoid())
	return o, err
}

func decodeGRU(c *coder, o gruOptions) (l nn.GRU, err error) {
	l = o.GRU
	l.Rule, err = c.decodeRule(o.ruleOptions)
	return l, err
}

type rnnOptions struct {
	Units int `json:"units"`
	funcOptions
	Direction nn.Direction `json:"direction,omitempty"`
	Last      bool         `json:"last,omitempty"`
	Fixed     bool         `json:"fixed,omitempty"`
	NoBias    bool         `json:"no_bias,omitempty"`
	Start     []float64    `json:"start,omitempty"`
	ruleOptions
}

func encodeRNN(c *coder, l nn.RNN) (o rnnOptions, err error) {
	o = rnnOptions{Units: l.Units, Direction: l.Direction, Last: l.Last, Fixed: l.Fixed, NoBias: l.NoBias, Start: l.Start}
	f := l.F
	if f == nil {
		f = fn.Tanh()
	}
	o.funcOptions, err = c.encodeFunc(f)
	if err != nil {
		return o, err
	}
	o.ruleOptions, err = c.encodeRule(l.Rule, f)
	return o, err
}

func decodeRNN(c *coder, o rnnOptions) (l nn.RNN, err error) {
	l = nn.RNN{Units: o.Units, Direction: o.Direction, Last: o.Last, Fixed: o.Fixed, NoBias: o.NoBias, Start: o.Start}
	l.F, err = c.function(o.funcOptions)
	if err != nil {
		return l, err
	}
	l.Rule, err = c.decodeRule(o.ruleOptions)
	return l, err
}
