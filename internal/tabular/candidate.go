package tabular

import (
	"cmp"
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
	Bins       int     `json:"bins,omitempty"`   // intervals a number is embedded by; 0: none
	Waves      int     `json:"waves,omitempty"`  // frequencies a number is embedded by; 0: none
	Pitch      float64 `json:"pitch,omitempty"`  // standard deviation of their starting values
	Common     float64 `json:"common,omitempty"` // of likelihood.Heteroscedastic

	Augment string `json:"augment,omitempty"` // of images: how they are changed

	Independent bool `json:"independent,omitempty"` // units are taken as independent
	NoLevels    bool `json:"no_levels,omitempty"`   // embedded categories are left out

	Ranked bool `json:"ranked,omitempty"` // classes follow two numbers by their rank

	Kernel string `json:"kernel,omitempty"` // of a Gaussian process, line or smooth, or mixed for a mixed model, which are not trained; "": a network that is

	shorter int // how many times its training is shorter than that of others; 0 stands for 1
}

// alike reports whether the candidates' networks have the same shape.
func (c Candidate) alike(d Candidate) bool {
	c.KL, c.shorter = d.KL, d.shorter
	return c == d
}

// steps is the length of the candidate's schedule where others take so many steps.
func (c Candidate) steps(others int) int {
	return max(min(stops, others), others/max(1, c.shorter))
}

// String says in a few words what the candidate is.
func (c Candidate) String() string {
	s := fmt.Sprintf("%d×%d %s, KL %g", c.Depth, c.Width, c.Activation, c.KL)
	switch {
	case c.Kernel == lineKernel:
		return "ridge regression"
	case c.Kernel == smoothKernel:
		return "Gaussian process"
	case c.Kernel == mixedKernel:
		return "mixed model"
	case c.Depth == 0:
		s = fmt.Sprintf("linear, KL %g", c.KL)
	}
	if c.NoLevels {
		s += ", without embedded columns"
	}
	if c.Bins > 0 {
		s += fmt.Sprintf(", %d bins", c.Bins)
	}
	if c.Waves > 0 {
		s += fmt.Sprintf(", %d waves", c.Waves)
	}
	if c.Ranked {
		s += ", classes in order"
	}
	if c.Common > 0 {
		s += fmt.Sprintf(", common noise %g", c.Common)
	}
	if c.Noise != "" {
		s = c.Noise + " " + s
	}
	if c.Augment != "" {
		s += ", augmentation " + c.Augment
	}
	return s
}

// mostFollowed is the largest number of classes whose correlations are carried: each
// class costs about a backward pass.
const mostFollowed = 12

const kinked, smooth = "leaky-relu", "gelu"

// common is the share of the score in which all rows have the same noise. A network that
// predicts its noise learns the mean of noisy rows badly without it; where noise differs
// by orders of magnitude, a network with little of it predicts better distributions.
const common, little = 0.5, 0.02

// The features that numbers are embedded by: as many as give about so many in all, within
// bounds. A table that has too many inputs for the fewest goes without.
const (
	features     = 160
	fewestBins   = 6
	mostBins     = 48
	mostEmbedded = 64 // inputs
)

// Starting frequencies of waves, as standard deviations. Quick waves tell neighbours
// apart, where rows repeat or nearly do; slow ones bend a few times over the data.
const quickWaves, slowWaves = 1, 0.3

// embedding is the number of intervals, and of frequencies, that an input has where it is
// embedded by intervals, or by waves. A frequency makes two features.
func (c Config) embedding(inputs int) (bins, waves int) {
	if c.Activation != "" && c.Width != 0 && c.Depth != 0 || inputs > mostEmbedded {
		return max(0, c.Bins), max(0, c.Waves)
	}
	bins = min(max(features/max(1, inputs), fewestBins), mostBins)
	waves = bins / 2
	if c.Bins != 0 {
		bins = max(0, c.Bins)
	}
	if c.Waves != 0 {
		waves = max(0, c.Waves)
	}
	return bins, waves
}

// candidates are the networks to try; among equals the first is preferred. A linear one, whose KL
// is that of the evidence, stands beside the networks.
func (c Config) candidates(d Data) []Candidate {
	width := 50
	if d.X.Rows >= manyRows {
		width = 100
	}
	bins, waves := c.embedding(d.X.Width)
	all := append(numbersCandidates(d.X.Rows, bins, waves), Candidate{Noise: Heteroscedastic, Common: common, KL: 1, Activation: kinked})
	if d.Classes > 0 {
		all = classCandidates(d.X.Rows, bins)
		if d.Ranks != nil {
			all = append(all, inOrder(all)...)
		}
	}
	if d.embedding(false) != nil {
		all = append(all, forLevels(all)...)
	}
	if d.kernels() && c.KL == 0 && (c.Noise == "" || c.Noise == Heteroscedastic) {
		all = append(all, Candidate{Noise: Heteroscedastic, Common: little, Kernel: lineKernel}, Candidate{Noise: Heteroscedastic, Common: little, Kernel: smoothKernel})
	}
	if d.mixes() && c.KL == 0 && (c.Noise == "" || c.Noise == Heteroscedastic) {
		all = append(all, Candidate{Noise: Heteroscedastic, Common: common, Kernel: mixedKernel})
	}
	shaped := c.Activation != "" || c.Width != 0 || c.Depth != 0
	var set []Candidate
	for _, x := range all {
		if x.Depth == 0 && shaped {
			continue
		}
		if x.Kernel == "" {
			x = c.override(x, width, bins, waves)
		}
		x.Independent = c.Independent
		if !slices.ContainsFunc(set, func(y Candidate) bool { y.shorter = x.shorter; return x == y }) {
			set = append(set, x)
		}
	}
	return set
}

// numbersCandidates are networks for numbers. Small tables also try shorter trainings. A training
// that is broken off because it overfits ends at a high rate, far from a minimum; one whose schedule
// ends there has settled, and predicts better.
func numbersCandidates(rows, bins, waves int) []Candidate {
	if rows >= manyRows { // which overfit less
		return []Candidate{
			{Noise: Heteroscedastic, Common: common, KL: 0.3, Activation: kinked, Depth: 2},
			{Noise: Heteroscedastic, Common: common, KL: 0.1, Activation: smooth, Depth: 2, Bins: bins},
			{Noise: Heteroscedastic, Common: little, KL: 0.1, Activation: smooth, Depth: 2},
			{Noise: Heteroscedastic, Common: common, KL: 0.03, Activation: smooth, Depth: 2, Bins: bins},
			{Noise: Heteroscedastic, Common: common, KL: 0.01, Activation: smooth, Depth: 2, Bins: bins},
		}
	}
	all := []Candidate{
		{Noise: Heteroscedastic, Common: common, KL: 0.3, Activation: kinked, Depth: 2},
		{Noise: Heteroscedastic, Common: little, KL: 0.3, Activation: smooth, Depth: 2},
		{Noise: Heteroscedastic, Common: little, KL: 0.03, Activation: smooth, Depth: 2, Bins: bins},
		{Noise: Heteroscedastic, Common: common, KL: 0.1, Activation: kinked, Depth: 2, Waves: waves, Pitch: quickWaves},
		{Noise: Heteroscedastic, Common: little, KL: 0.03, Activation: smooth, Depth: 2, Waves: waves, Pitch: slowWaves},
	}
	if rows > fewestRows {
		return append(all, Candidate{Noise: Learned, KL: 0.3, Activation: kinked, Depth: 1})
	}
	return append(all,
		Candidate{Noise: Heteroscedastic, Common: common, KL: 0.03, Activation: kinked, Depth: 2, Bins: bins, shorter: 4},
		Candidate{Noise: Heteroscedastic, Common: common, KL: 0.1, Activation: kinked, Depth: 2, shorter: 2},
		Candidate{Noise: Heteroscedastic, Common: little, KL: 0.1, Activation: smooth, Depth: 2, shorter: 2})
}

// classCandidates are networks for classes. Classes that are told apart with certainty ask for little
// KL, and often for a linear network.
func classCandidates(rows, bins int) []Candidate {
	if rows <= fewestRows {
		return []Candidate{
			{KL: 0.3, Activation: kinked, Depth: 2},
			{KL: 0.3, Activation: smooth, Depth: 2, Bins: bins},
			{KL: 0.1, Activation: smooth, Depth: 2},
			{KL: 0.03, Activation: kinked, Depth: 2, Bins: bins},
			{KL: 0.03, Activation: smooth, Depth: 2, Bins: bins, shorter: 4},
			{KL: 0.03, Activation: smooth, Depth: 2, shorter: 2},
			{KL: 0.01, Activation: kinked, Depth: 2, shorter: 4},
			{KL: 1, Activation: kinked},
			{KL: 0.1, Activation: kinked},
			{KL: 0.01, Activation: kinked},
		}
	}
	all := []Candidate{
		{KL: 0.3, Activation: kinked, Depth: 2},
		{KL: 0.3, Activation: smooth, Depth: 2, Bins: bins},
		{KL: 1, Activation: kinked, Depth: 1},
		{KL: 0.1, Activation: smooth, Depth: 2},
		{KL: 0.3, Activation: kinked, Depth: 2, Bins: bins},
		{KL: 0.1, Activation: kinked},
	}
	if rows < manyRows {
		all = append(all,
			Candidate{KL: 0.03, Activation: smooth, Depth: 2, shorter: 2},
			Candidate{KL: 1, Activation: kinked})
	}
	return all
}

// forLevels are further candidates for tables with embedded columns: the first two without these,
// and the first one with as much KL as makes levels a random effect. With less, levels of few rows
// are learned by heart.
func forLevels(all []Candidate) (more []Candidate) {
	for _, x := range all[:2] {
		x.NoLevels = true
		more = append(more, x)
	}
	x := all[0]
	x.KL = 1
	return append(more, x)
}

// override gives a candidate what the configuration sets for all.
func (c Config) override(x Candidate, width, bins, waves int) Candidate {
	x.Noise = cmp.Or(c.Noise, x.Noise)
	x.KL = cmp.Or(c.KL, x.KL)
	x.Activation = cmp.Or(c.Activation, x.Activation)
	x.Width = cmp.Or(c.Width, width)
	x.Depth = cmp.Or(c.Depth, x.Depth)
	if c.Bins > 0 {
		x.Bins, x.Waves = bins, 0
	}
	if c.Waves > 0 {
		x.Bins, x.Waves = 0, waves
	}
	x.Pitch = cmp.Or(x.Pitch, slowWaves)
	if x.Waves == 0 {
		x.Pitch = 0
	}
	if c.Noise == Heteroscedastic {
		x.Common = common
	} else if c.Noise != "" {
		x.Common = 0
	}
	x.Rule = c.Rule
	return x
}

// net builds the candidate's network and returns its likelihood.
func (c Candidate) net(d Data, seed uint64) (*model.Model, likelihood.Likelihood, error) {
	f, err := fn.Named(c.Activation)
	if err != nil {
		return nil, nil, err
	}
	act := nn.Apply{F: f}
	if c.Rule != "" {
		act.Rule, err = moment.Parse(c.Rule)
		if err != nil {
			return nil, nil, err
		}
	}
	layers := c.embeddings(d, seed)
	for range c.Depth {
		layers = append(layers, nn.Dense{Out: c.Width}, act)
	}
	layers = append(layers, c.outputs(d)...)
	learns := f.Formula != nil && f.Formula.Learned > 0 // and then carries no correlations
	if !c.Independent && !learns && d.Classes <= mostFollowed {
		layers = nn.Correlate(layers)
	}
	if c.Common > 0 || c.Noise == NegativeBinomial {
		layers = append(layers, nn.Append{Count: d.Outputs(), Start: -1})
	}
	m, err := model.New(model.Config{Input: nn.Vec(d.X.Width), Layers: layers, Seed: seed, Init: vi.Std(0.02)})
	if err == nil && c.Ranked {
		d.rank(m)
	}
	return m, c.likelihoodOf(d), err
}

// embeddings are the layers that embed inputs.
func (c Candidate) embeddings(d Data, seed uint64) (layers nn.Chain) {
	if edges := c.edges(d); edges != nil {
		layers = append(layers, nn.Piecewise{Edges: edges})
	}
	if waves := c.frequencies(d, seed); waves != nil {
		layers = append(layers, nn.Periodic{Frequencies: waves})
	}
	if e := d.embedding(c.NoLevels); e != nil {
		layers = append(layers, e)
	}
	return layers
}

// outputs are the layers that give what the likelihood reads.
func (c Candidate) outputs(d Data) nn.Chain {
	k := d.Outputs()
	switch {
	case c.Ranked:
		return nn.Chain{nn.Dense{Out: 2}, nn.Dense{Out: d.Classes, Fixed: true}, nn.Joint{Map: fn.Softmax()}}
	case d.Classes > 0:
		return nn.Chain{nn.Dense{Out: d.Classes}, nn.Joint{Map: fn.Softmax()}}
	case c.Noise == Heteroscedastic:
		return nn.Chain{nn.Dense{Out: 2 * k}}
	case c.Noise == Learned:
		return nn.Chain{nn.Dense{Out: k}, nn.Noise{Start: 0.3}}
	}
	return nn.Chain{nn.Dense{Out: k}}
}

// likelihood scores the candidate's network.
func (c Candidate) likelihood(classes bool) likelihood.Likelihood {
	switch {
	case classes:
		return likelihood.Categorical{}
	case c.Noise == Heteroscedastic:
		return likelihood.Heteroscedastic{Common: c.Common}
	}
	return likelihood.Normal{}
}

// work is proportional to the cost of a step.
func (c Candidate) work(inputs, batch int) float64 {
	if c.Kernel != "" {
		return 1
	}
	return (c.weights(inputs) + 300) * float64(batch+20)
}

// weights is about how many weights the network has.
func (c Candidate) weights(inputs int) float64 {
	return float64(inputs*(1+c.Bins+2*c.Waves)*c.Width + (c.Depth-1)*c.Width*c.Width)
}
