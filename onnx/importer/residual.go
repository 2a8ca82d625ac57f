package importer

import (
	"fmt"
	"slices"

	"utvi/nn"
)

// residual is v + w, where one comes from the other by layers.
func residual(v, w *value) (*value, error) {
	v, err := v.settle()
	if err != nil {
		return nil, err
	}
	if w, err = w.settle(); err != nil {
		return nil, err
	}
	for _, p := range [][2]*value{{v, w}, {w, v}} {
		from, to := p[0], p[1]
		layers, ok := between(from, to)
		if !ok {
			continue
		}
		if from.shape != to.shape || !slices.Equal(from.dims, to.dims) || from.first != to.first || !slices.Equal(from.order, to.order) {
			return nil, fmt.Errorf("the branch turns rows of the size %v into %v; x + f(x) needs the same size", from.dims, to.dims)
		}
		var chain nn.Chain
		for _, l := range layers {
			chain = append(chain, l.Layer)
		}
		out := from.same(nn.Residual{Branch: chain})
		out.layer.inside = layers
		return out, nil
	}
	return nil, fmt.Errorf("its inputs come from two branches that both have layers; only a residual x + f(x) can be taken")
}

// between returns the layers that lead from one value to another.
func between(from, to *value) (layers []*layer, ok bool) {
	for v := to; v != nil; v = v.prev {
		if v.same0(from) {
			slices.Reverse(layers)
			return layers, len(layers) > 0
		}
		if v.layer != nil {
			layers = append(layers, v.layer)
		}
	}
	return nil, false
}

// same0 reports whether two values are the output of the same layer.
func (v *value) same0(w *value) bool {
	return v == w || v.layer != nil && v.layer == w.layer || v.input && w.input
}
