package train

import (
	"fmt"
	"slices"
	"strings"

	"utvi/likelihood"
	"utvi/model"
	"utvi/nn"
)

// An end is an output of a network: one, or each named output of a graph.
type end struct {
	name  string
	shape nn.Shape
	layer nn.Layer // what makes it
}

// endsOf returns the outputs of a network.
func endsOf(n *nn.Node[float32]) []end {
	switch l := n.Layer.(type) {
	case nn.Chain, nn.Correlated:
		if k := len(n.Children); k > 0 {
			return endsOf(n.Children[k-1])
		}
	case nn.Graph:
		var all []end
		for _, name := range l.Outputs {
			at := slices.IndexFunc(l.Steps, func(s nn.Step) bool { return s.Name == name })
			if at < 0 || at >= len(n.Children) {
				return []end{{shape: n.Out, layer: n.Layer}} // an input that is an output, too
			}
			last := endsOf(n.Children[at])
			all = append(all, end{name, n.Children[at].Out, last[len(last)-1].layer})
		}
		if k := len(n.Children); k > 0 && len(all) == 0 {
			return endsOf(n.Children[k-1])
		}
		return all
	}
	return []end{{shape: n.Out, layer: n.Layer}}
}

// settle takes what the likelihood leaves open from the network, and refuses networks whose outputs it
// would misread. Such outputs can be scored without any error, so nothing else would notice.
func settle(m *model.Model, l likelihood.Likelihood) (likelihood.Likelihood, error) {
	l, err := settleEnds(l, endsOf(m.Graph()))
	if err != nil {
		return nil, fmt.Errorf("train: %w", err)
	}
	if likelihood.Describe(l).NoNoiseLayer && nn.Any(m.Config.Layers, isNoise) {
		return nil, fmt.Errorf("train: likelihood %v already contains the noise: remove nn.Noise from the network, or use likelihood.Normal", likelihood.Inner(l))
	}
	return l, nil
}

func settleEnds(l likelihood.Likelihood, ends []end) (likelihood.Likelihood, error) {
	switch x := l.(type) {
	case likelihood.Wrapper:
		if x.Unwrap() == nil {
			return l, nil // Targets says so
		}
		inner, err := settleEnds(x.Unwrap(), ends)
		if err != nil {
			return nil, err
		}
		return x.Wrap(inner), nil
	case likelihood.Several:
		return settleParts(x, ends)
	}
	if len(ends) > 1 {
		return l, nil // as one list, which is meant where each output is a number
	}
	return settleEnd(l, ends[0])
}

// settleParts settles each part for its output.
func settleParts(l likelihood.Several, ends []end) (likelihood.Likelihood, error) {
	l.Parts = slices.Clone(l.Parts)
	if len(ends) == 1 && len(l.Parts) > 1 && !slices.ContainsFunc(l.Parts, func(p likelihood.Part) bool { return p.Outputs == 0 }) {
		ends = cut(ends[0], l.Parts) // stretches of one vector
	}
	if len(ends) != len(l.Parts) {
		return nil, fmt.Errorf("likelihood several: it has %d parts, and the network %s; one for each is needed", len(l.Parts), listEnds(ends))
	}
	for i := range l.Parts {
		p := &l.Parts[i]
		size := ends[i].shape.Size()
		switch {
		case p.Name != "" && p.Name != ends[i].name:
			return nil, fmt.Errorf("likelihood several: its part %d is %q, but the network has %s; give the parts in that order", i, p.Name, listEnds(ends))
		case p.Outputs != 0 && p.Outputs != size:
			return nil, fmt.Errorf("likelihood several: %s has %d outputs, but %d numbers in the network; leave Outputs 0 to take these", listEnds(ends[i:i+1]), p.Outputs, size)
		case p.Of == nil:
			return nil, fmt.Errorf("likelihood several: its part %d has no likelihood; set Of", i)
		}
		p.Outputs = size
		of, err := settleEnds(p.Of, ends[i:i+1])
		if err != nil {
			return nil, err
		}
		p.Of = of
	}
	return l, nil
}

// cut makes an output of each part of one vector.
func cut(whole end, parts []likelihood.Part) []end {
	var all []end
	for _, p := range parts {
		all = append(all, end{p.Name, nn.Vec(p.Outputs), whole.layer})
	}
	return all
}

func listEnds(ends []end) string {
	var names []string
	for _, e := range ends {
		names = append(names, fmt.Sprintf("%q", e.name))
	}
	if len(ends) == 1 && ends[0].name == "" {
		return "one output"
	}
	return "the outputs " + strings.Join(names, ", ")
}

// settleEnd settles a likelihood for one output.
func settleEnd(l likelihood.Likelihood, e end) (likelihood.Likelihood, error) {
	places := e.shape.H * e.shape.W
	p, apart := l.(likelihood.PerPlace)
	if apart {
		switch {
		case p.Of == nil:
			return l, nil // Targets says so
		case p.Channels == 0:
			p.Channels = e.shape.C
		case places > 1 && p.Channels != e.shape.C:
			return nil, fmt.Errorf("likelihood %v: it takes %d channels of a place, but the network ends with %d; leave Channels 0 to take these", p, p.Channels, e.shape.C)
		}
		l = p
	}
	reads := likelihood.Describe(l)
	switch {
	case reads.Ends != "" && endsLinear(e.layer):
		return nil, fmt.Errorf("likelihood %v needs probabilities as outputs: end the network with %s", likelihood.Inner(l), reads.Ends)
	case !apart:
		return l, checkPlaces(e.shape, l)
	}
	return l, nil
}

// checkPlaces refuses images of several channels whose outputs the likelihood takes together:
// it reads a row as one list, where the channels of a place follow each other.
func checkPlaces(out nn.Shape, l likelihood.Likelihood) error {
	targets, err := l.Targets(out.Size())
	if err != nil || targets == out.Size() || out.H*out.W == 1 || out.C == 1 {
		return nil // other messages are about wrong numbers of outputs
	}
	inner := likelihood.Inner(l)
	return fmt.Errorf("likelihood %v reads the outputs of a row as one list, but the network ends with %d×%d places of %d channels, which alternate in it: for a score of each place use likelihood.PerPlace; for one of the row end the network with a vector, such as nn.Dense makes, or with nn.Flatten if the order is meant",
		inner, out.H, out.W, out.C)
}

func isNoise(l nn.Layer) bool {
	n, ok := l.(nn.Noise)
	return ok && !n.Off
}

// endsLinear reports whether a layer gives weighted sums, which may be any number.
func endsLinear(l nn.Layer) bool {
	switch l := l.(type) {
	case nn.Chain:
		return len(l) > 0 && endsLinear(l[len(l)-1])
	case nn.PerPlace:
		return endsLinear(l.Layer)
	case nn.Dense, nn.Conv2D, nn.Conv1D, nn.ConvTranspose2D, nn.ConvTranspose1D:
		return true
	}
	return false
}
