package codec

import (
	"encoding/json"
	"fmt"

	"utvi/nn"
)

// graphOptions holds the inputs of a graph, its steps in their order and its outputs:
//
//	{"kind":"graph","inputs":[{"name":"image","shape":[8,8,1]}],
//	 "steps":[{"name":"seen","from":["image"],"layer":{…}}],"outputs":["seen"]}
type graphOptions struct {
	Inputs  []inputOptions `json:"inputs,omitempty"`
	Steps   []stepOptions  `json:"steps"`
	Outputs []string       `json:"outputs,omitempty"`
}

type inputOptions struct {
	Name  string `json:"name"`
	Shape [3]int `json:"shape,omitzero"`
}

type stepOptions struct {
	Name  string          `json:"name"`
	From  []string        `json:"from,omitempty"`
	Layer json.RawMessage `json:"layer"`
}

func encodeGraph(c *coder, l nn.Graph) (graphOptions, error) {
	o := graphOptions{Outputs: l.Outputs}
	for _, in := range l.Inputs {
		o.Inputs = append(o.Inputs, inputOptions{in.Name, [3]int{in.Shape.H, in.Shape.W, in.Shape.C}})
	}
	for _, s := range l.Steps {
		layer, err := c.encode(s.Layer)
		if err != nil {
			return o, fmt.Errorf("step %s: %w", s.Name, err)
		}
		o.Steps = append(o.Steps, stepOptions{s.Name, s.From, layer})
	}
	return o, nil
}

func decodeGraph(c *coder, o graphOptions) (nn.Graph, error) {
	l := nn.Graph{Outputs: o.Outputs}
	for _, in := range o.Inputs {
		l.Inputs = append(l.Inputs, nn.Input{Name: in.Name, Shape: nn.Shape{H: in.Shape[0], W: in.Shape[1], C: in.Shape[2]}})
	}
	for _, s := range o.Steps {
		layer, err := c.decode(s.Layer)
		if err != nil {
			return l, fmt.Errorf("step %.60q: %w", s.Name, err)
		}
		l.Steps = append(l.Steps, nn.Step{Name: s.Name, Layer: layer, From: s.From})
	}
	return l, nil
}

type perPlaceOptions struct {
	Layer json.RawMessage `json:"layer"`
}

func encodePerPlace(c *coder, l nn.PerPlace) (o perPlaceOptions, err error) {
	o.Layer, err = c.encode(l.Layer)
	return o, err
}

func decodePerPlace(c *coder, o perPlaceOptions) (l nn.PerPlace, err error) {
	l.Layer, err = c.decode(o.Layer)
	return l, err
}
