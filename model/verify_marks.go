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
	assumes := correlated && n.From == nn.Independent
	switch l := n.Layer.(type) {
	case nn.Chain:
		for _, c := range n.Children {
			correlated = m.layer(c, correlated)
		}
		return correlated
	case nn.Correlated:
		m[n] = assumes
		return true
	case nn.Apply, nn.Flatten, nn.Multiply, nn.Scale, nn.Noise, nn.Dropout, nn.BatchNorm:
		return correlated // unit by unit
	case nn.Dense:
		m[n] = assumes
		return correlated || n.From != nn.Fixed
	case nn.Conv2D, nn.Conv1D:
		m[n] = assumes
		return true
	case nn.AvgPool2D:
		m[n] = assumes
		return correlated || overlap(l.Size, l.Stride)
	case nn.MaxPool2D:
		m[n] = assumes
		return correlated || overlap(l.Size, l.Stride)
	case nn.Residual:
		if len(n.Children) == 0 { // one function, unit by unit
			return correlated
		}
		together := correlated
		for _, road := range n.Children {
			together = m.layer(road, correlated) || together
		}
		m[n] = n.From == nn.Independent
		return together
	case nn.Stochastic:
		return correlated || !l.PerUnit
	}
	a, ok := n.Layer.(interface{ AssumesIndependence() bool })
	m[n] = assumes || ok && a.AssumesIndependence()
	return true
}

// overlap reports whether windows share cells.
func overlap(size [2]int, stride int) bool {
	return stride > 0 && (stride < size[0] || stride < size[1])
}
