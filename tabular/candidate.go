package tabular

import (
	"fmt"
	"slices"

	"utvi/fn"
	"utvi/likelihood"
	"utvi/model"
	"utvi/moment"
	"utvi/nn"
	"utvi/vi"
)

// A Candidate is one way to model a table.
type Candidate struct {
	Noise      string  `json:"noise,omitempty"` // "" for classes
	KL         float64 `json:"kl"`
	Activation string  `json:"activation"`
	Rule       string  `json:"rule,omitempty"`
	Width      int     `json:"width"`
	Depth      int     `json:"depth"`

	Independent bool `json:"independent,omitempty"` // units are taken as independent
}

func (c Candidate) String() string {
	s := fmt.Sprintf("%d×%d %s, KL %g", c.Depth, c.Width, c.Activation, c.KL)
	if c.Noise != "" {
		s = c.Noise + " " + s
	}
	return s
}

// mostFollowed is the largest number of classes whose correlations are carried: each
// class costs about a backward pass.
const mostFollowed = 12

const kinked, smooth = "leaky-relu", "gelu"

// candidates are the networks to try; among equals the first is preferred. A posterior at
// the full KL does best in the smaller network, which has less to prune.
func (c Config) candidates(rows int, classes bool) []Candidate {
	width := 50
	if rows >= manyRows {
		width = 100
	}
	all := []Candidate{
		{Noise: Heteroscedastic, KL: 0.3, Activation: kinked, Width: width, Depth: 2},
		{Noise: Heteroscedastic, KL: 0.1, Activation: smooth, Width: width, Depth: 2},
		{Noise: Heteroscedastic, KL: 0.3, Activation: smooth, Width: width, Depth: 2},
		{Noise: Heteroscedastic, KL: 1, Activation: kinked, Width: width, Depth: 1},
		{Noise: Learned, KL: 0.3, Activation: kinked, Width: width, Depth: 1},
		{Noise: Embedded, KL: 0.3, Activation: kinked, Width: width, Depth: 1},
	}
	if rows >= manyRows { // which overfit less
		all = append(all, Candidate{Noise: Heteroscedastic, KL: 0.1, Activation: kinked, Width: width, Depth: 2}, Candidate{Noise: Learned, KL: 0.3, Activation: kinked, Width: width, Depth: 2})
	}
	if classes {
		all = []Candidate{
			{KL: 0.3, Activation: kinked, Width: width, Depth: 2},
			{KL: 0.3, Activation: smooth, Width: width, Depth: 2},
			{KL: 1, Activation: kinked, Width: width, Depth: 1},
			{KL: 0.1, Activation: smooth, Width: width, Depth: 2},
		}
	}
	var set []Candidate
	for _, x := range all {
		if c.Noise != "" {
			x.Noise = c.Noise
		}
		if c.KL != 0 {
			x.KL = c.KL
		}
		if c.Activation != "" {
			x.Activation = c.Activation
		}
		if c.Width != 0 {
			x.Width = c.Width
		}
		if c.Depth != 0 {
			x.Depth = c.Depth
		}
		x.Rule, x.Independent = c.Rule, c.Independent
		if !slices.Contains(set, x) {
			set = append(set, x)
		}
	}
	return set
}

// net builds the candidate's network and returns its likelihood.
func (c Candidate) net(d Data, seed uint64) (*model.Model, likelihood.Likelihood, error) {
	f, err := fn.Named(c.Activation)
	if err != nil {
		return nil, nil, err
	}
	act := nn.Apply{F: f}
	if c.Rule != "" {
		if act.Rule, err = moment.Parse(c.Rule); err != nil {
			return nil, nil, err
		}
	}
	var layers nn.Chain
	for range c.Depth {
		layers = append(layers, nn.Dense{Out: c.Width}, act)
	}
	k := d.Outputs()
	switch {
	case d.Classes > 0:
		layers = append(layers, nn.Dense{Out: d.Classes}, nn.Joint{Map: fn.Softmax()})
	case c.Noise == Heteroscedastic:
		layers = append(layers, nn.Dense{Out: 2 * k})
	case c.Noise == Learned:
		layers = append(layers, nn.Dense{Out: k}, nn.Noise{Start: 0.3})
	default:
		layers = append(layers, nn.Dense{Out: k})
	}
	learns := f.Formula != nil && f.Formula.Learned > 0 // and then carries no correlations
	if !c.Independent && !learns && d.Classes <= mostFollowed {
		layers = nn.Correlate(layers)
	}
	m, err := model.New(model.Config{Input: nn.Vec(d.X.Width), Layers: layers, Seed: seed, Init: vi.Std(0.02)})
	return m, c.likelihood(d.Classes > 0), err
}

// likelihood scores the candidate's network.
func (c Candidate) likelihood(classes bool) likelihood.Likelihood {
	switch {
	case classes:
		return likelihood.Categorical{}
	case c.Noise == Heteroscedastic:
		return likelihood.Heteroscedastic{}
	}
	return likelihood.Normal{}
}

// work is proportional to the cost of a step.
func (c Candidate) work(inputs, batch int) float64 {
	weights := inputs*c.Width + (c.Depth-1)*c.Width*c.Width
	return float64(weights+300) * float64(batch+20)
}
