package importer

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"utvi/internal/advice"
	"utvi/internal/onnx"
	"utvi/nn"
)

// output is the value of the output, which a network can end with.
func (r *reader) output(name string) (*value, error) {
	out := r.values[name]
	if out == nil || out.constant != nil {
		return nil, fmt.Errorf("the output %.60q does not depend on the input", name)
	}
	var err error
	if out.zeros != nil {
		out, err = out.bare.surrounded(*out.zeros, nn.Zeros)
		if err != nil {
			return nil, err
		}
	}
	out, err = out.settle()
	if err != nil {
		return nil, err
	}
	return out.atEnd()
}

// atEnd is v as an output: an image with its channels first in the graph, or units in the order of the
// graph.
func (v *value) atEnd() (*value, error) {
	if v.flatRow() {
		w, err := v.inOrder()
		if err != nil {
			return nil, err
		}
		return w.flat(), nil
	}
	behind := slices.DeleteFunc(slices.Clone(v.at), func(a axis) bool { return slices.Equal(a.tidy(), rowsAxis()) })
	switch {
	case behind.all().hasRows():
		return nil, fmt.Errorf("the output has the dimensions %v; the rows must be a dimension of their own", v.named())
	case v.first():
		return v, nil
	case len(behind) > 3:
		return v.inOrder()
	}
	var sides [3]axis
	copy(sides[3-len(behind):], behind)
	return v.arranged(sides)
}

// outputsOf are the names of the outputs that are asked for.
func outputsOf(g *onnx.Graph, asked string) ([]string, error) {
	var names []string
	for _, v := range g.Outputs {
		names = append(names, v.Name)
		if v.Name == asked {
			return []string{asked}, nil
		}
	}
	if asked == "" {
		switch len(names) {
		case 0:
			return nil, errors.New("the graph has no output")
		case 1:
			return names, nil
		}
		return nil, advice.Errorf("the graph has the outputs %.200q; %v, another, or several with commas", names, advice.Set("Output", names[0]))
	}
	several := strings.Split(asked, ",")
	for _, name := range several {
		if !slices.Contains(names, name) {
			return nil, fmt.Errorf("the graph has no output %.60q; its outputs are %.200q", name, names)
		}
	}
	return several, nil
}

// needs reports which nodes some outputs are computed from, and notes the values.
func (r *reader) needs(g *onnx.Graph, outputs []string) []bool {
	r.used = map[string]bool{}
	for _, name := range outputs {
		r.used[name] = true
	}
	needed := make([]bool, len(g.Nodes))
	for i := len(g.Nodes) - 1; i >= 0; i-- {
		n := g.Nodes[i]
		for _, out := range n.Outputs {
			needed[i] = needed[i] || r.used[out] && out != ""
		}
		if needed[i] {
			for _, in := range n.Inputs {
				r.used[in] = true
			}
		}
	}
	delete(r.used, "") // stands for what is left out
	return needed
}

// signature is how the inputs and outputs of the graph are called and lie.
func signature(inputs, outs []*value, names []string) *onnx.Signature {
	s := &onnx.Signature{}
	for _, v := range inputs {
		s.Inputs = append(s.Inputs, port(v, v.layer.node))
	}
	for i, v := range outs {
		s.Outputs = append(s.Outputs, port(v, names[i]))
	}
	return s
}

func port(v *value, name string) onnx.Port {
	p := onnx.Port{Name: name, First: v.first()}
	for _, a := range v.at {
		if !a.hasRows() {
			p.Dims = append(p.Dims, a.size())
		}
	}
	return p
}
