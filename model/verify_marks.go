package model

import (
	"utvi/gauss"
	"utvi/nn"
)

// marks returns which layers of a network take correlated units as independent.
//
// It follows the signal: units become correlated where they share random inputs (the
// outputs of a dense layer), weights (the places of a convolution) or a statistic (a
// softmax, a normalisation). A layer that takes several units together then assumes
// independence, unless it is given their covariances. Layers within nn.Correlated have
// them by its backward sweep.
func marks[T gauss.Float](root *nn.Node[T]) map[*nn.Node[T]]bool {
	m := marker[T]{}
	m.layer(root, root.From == nn.Covariant)
	return m
}

type marker[T gauss.Float] map[*nn.Node[T]]bool

// layer marks a layer whose inputs are correlated or not, and reports whether its
// outputs are.
func (m marker[T]) layer(n *nn.Node[T], correlated bool) bool {
	out := m.follow(n, correlated)
	return out && n.To != nn.Fixed && n.Out.Size() > 1
}

func (m marker[T]) follow(n *nn.Node[T], correlated bool) bool {
	switch l := n.Layer.(type) {
	case nn.Chain:
		for _, c := range n.Children {
			correlated = m.layer(c, correlated)
		}
		return correlated
	case nn.Graph:
		return m.graph(n, l, correlated)
	case nn.Residual:
		if len(n.Children) > 0 { // else it is one function, unit by unit
			return m.roads(n, correlated)
		}
	}
	e := effectOf(n)
	m[n] = e.assumes || e.together && correlated && n.From == nn.Independent
	return correlated || e.couples
}

// roads follows the branches of a residual, which are added as if they were independent.
func (m marker[T]) roads(n *nn.Node[T], correlated bool) bool {
	together := correlated
	for _, road := range n.Children {
		together = m.layer(road, correlated) || together
	}
	m[n] = n.From == nn.Independent
	return together
}

// graph follows the signals of a graph by name. Several random signals that a step reads may
// come from one, so they are correlated.
func (m marker[T]) graph(n *nn.Node[T], l nn.Graph, correlated bool) bool {
	of := map[string]bool{}
	random := map[string]bool{}
	for _, in := range l.Inputs {
		of[in.Name] = correlated
		random[in.Name] = n.From != nn.Fixed
	}
	last := "in"
	if len(l.Inputs) > 0 {
		last = l.Inputs[0].Name
	}
	of[last], random[last] = correlated, n.From != nn.Fixed
	for i, c := range n.Children {
		s := l.Steps[i]
		from := s.From
		if len(from) == 0 {
			from = []string{last}
		}
		together, met := false, 0
		for _, name := range from {
			together = together || of[name]
			if random[name] {
				met++
			}
		}
		of[s.Name] = m.layer(c, together || met > 1)
		random[s.Name] = c.To != nn.Fixed
		last = s.Name
	}
	if len(l.Outputs) == 0 {
		return of[last]
	}
	together := len(l.Outputs) > 1
	for _, name := range l.Outputs {
		together = together || of[name]
	}
	return together
}

// An effect is what a layer does to the correlations of units.
type effect struct {
	together bool // it takes several units together
	couples  bool // its outputs are correlated even if its inputs are not
	assumes  bool // it takes units as independent whatever its inputs are
}

func effectOf[T gauss.Float](n *nn.Node[T]) effect {
	switch l := n.Layer.(type) {
	case nn.Concat, nn.Slice, nn.Transpose, nn.Reshape, nn.Positions:
		return effect{} // unit by unit
	case nn.Apply, nn.Flatten, nn.Multiply, nn.Scale, nn.Noise, nn.Dropout, nn.BatchNorm, nn.Residual:
		return effect{} // unit by unit
	case nn.Stochastic:
		return effect{couples: !l.PerUnit}
	case nn.Dense:
		return effect{together: true, couples: n.From != nn.Fixed}
	case nn.Conv2D, nn.Conv1D, nn.ConvTranspose2D, nn.ConvTranspose1D, nn.Correlated:
		return effect{together: true, couples: true}
	case nn.AvgPool2D:
		return effect{together: true, couples: overlap(l.Size, l.Stride)}
	case nn.GlobalAvgPool, nn.GlobalMaxPool:
		return effect{together: true}
	case nn.MaxPool2D:
		return effect{together: true, couples: overlap(l.Size, l.Stride)}
	}
	a, ok := n.Layer.(interface{ AssumesIndependence() bool })
	return effect{together: true, couples: true, assumes: ok && a.AssumesIndependence()}
}

// overlap reports whether windows share cells.
func overlap(size [2]int, stride int) bool {
	return stride > 0 && (stride < size[0] || stride < size[1])
}
