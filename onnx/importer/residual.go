package importer

import (
	"fmt"
	"slices"

	"utvi/nn"
)

// residual is v + w, where one comes from the other by layers, or both come from one value
// by layers. The road with more layers is the branch.
func residual(v, w *value) (*value, error) {
	v, err := v.settle()
	if err != nil {
		return nil, err
	}
	w, err = w.settle()
	if err != nil {
		return nil, err
	}
	from, roads, ok := common(v, w)
	if !ok {
		return nil, fmt.Errorf("its inputs do not come from one tensor; only a sum of two branches of one tensor can be taken")
	}
	if v.shape == w.shape && slices.Equal(v.dims, w.dims) && !slices.Equal(v.order, w.order) {
		return nil, fmt.Errorf("one of its inputs is an image made flat, the other comes from a dense layer; the channels of an image come last here, so their units do not match")
	}
	if v.shape != w.shape || !slices.Equal(v.dims, w.dims) || v.first != w.first {
		return nil, fmt.Errorf("its inputs have rows of the sizes %v and %v; a sum of two branches needs the same size", v.dims, w.dims)
	}
	for _, l := range slices.Concat(roads[0], roads[1]) {
		if l.branched {
			return nil, fmt.Errorf("its inputs need a layer that another sum needs, too; branches can only split and meet again, one inside the other")
		}
		l.branched = true
	}
	if len(roads[1]) > len(roads[0]) {
		roads[0], roads[1] = roads[1], roads[0]
	}
	l := nn.Residual{Branch: chain(roads[0])}
	if len(roads[1]) > 0 {
		l.Skip = chain(roads[1])
	}
	out := from.after(l, v.shape, v.dims, v.first)
	out.order = v.order
	out.layer.inside = slices.Concat(roads[0], roads[1])
	return out, nil
}

// chain is the layers one after the other.
func chain(layers []*layer) (c nn.Chain) {
	for _, l := range layers {
		c = append(c, l.Layer)
	}
	return c
}

// common finds the last value that two values come from, and the layers that lead to each,
// in the order in which they run. It walks back from both in turn.
func common(v, w *value) (from *value, roads [2][]*layer, ok bool) {
	type visit struct{ road, layers int }
	seen := map[any]visit{}
	for at := [2]*value{v, w}; at[0] != nil || at[1] != nil; {
		for i, x := range at {
			if x == nil {
				continue
			}
			if before, met := seen[x.key()]; met && before.road != i {
				roads[1-i] = roads[1-i][:before.layers]
				slices.Reverse(roads[0])
				slices.Reverse(roads[1])
				return x, roads, len(roads[0])+len(roads[1]) > 0
			}
			seen[x.key()] = visit{i, len(roads[i])}
			if x.layer != nil {
				roads[i] = append(roads[i], x.layer)
			}
			at[i] = x.prev
		}
	}
	return nil, roads, false
}

// key is equal for values that are the output of one layer, in whatever dimensions.
func (v *value) key() any {
	switch {
	case v.input:
		return "input"
	case v.layer != nil:
		return v.layer
	}
	return v
}
