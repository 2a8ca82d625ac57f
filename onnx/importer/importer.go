// Package importer makes networks from ONNX graphs that were trained elsewhere.
//
// The graph must be a chain of layers, with residual connections: sums of two branches of
// one tensor, such as x + f(x). Weights become
// numbers, so that uncertain inputs pass through someone else's network at once, or, with
// Options.Random, Normals around the trained values, ready for training. Elementwise
// operators, alone or in groups, become functions or formulas. Images are height × width ×
// channels here, whatever the graph has.
package importer

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"

	"utvi/internal/advice"
	"utvi/internal/inputfile"
	"utvi/internal/onnx"
	"utvi/model"
)

// Options say how a graph becomes a network.
type Options struct {
	// Input is the size of one row, in the order of the graph, where the graph leaves it
	// open: features, or channels, height and width.
	Input []int
	// Output is the name of the output, where the graph has several.
	Output string
	// Random makes weights and biases Normals around the trained values, as model.Around does.
	Random bool
	// Scale of the priors, with Random; 0 means model.DefaultScale.
	Scale float64
	// Correlated carries correlations between units (nn.Correlate).
	Correlated bool
}

// Load reads a file. Weights that lie in other files must be in the same folder.
func Load(path string, o Options) (*model.Model, error) {
	b, err := read(path)
	if err != nil {
		return nil, err
	}
	m, err := onnx.Unmarshal(b)
	switch {
	case err != nil && bytes.HasPrefix(b, []byte("PK\x03\x04")):
		return nil, fmt.Errorf("%s: not an ONNX file but one that torch.save wrote; write the network with torch.onnx.export", path)
	case err != nil && bytes.HasPrefix(b[min(8, len(b)):], []byte("{")):
		return nil, fmt.Errorf("%s: not an ONNX file but safetensors, weights without layers; describe the layers in a JSON file (LoadStateDict, --layers)", path)
	case err != nil:
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	root, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	defer root.Close()
	n, err := network(m, root.FS(), o)
	if err != nil {
		return nil, fmt.Errorf("cannot import %s: %w", path, err)
	}
	return n, nil
}

// read reads a file whole.
func read(path string) ([]byte, error) {
	return inputfile.Read(path, 4) // the file, its messages, the layers' weights and their packed form
}

// Parse makes a network from the bytes of a file. Weights that lie in other files are in
// beside; nil refuses those.
func Parse(file []byte, beside fs.FS, o Options) (*model.Model, error) {
	m, err := onnx.Unmarshal(file)
	if err != nil {
		return nil, err
	}
	return network(m, beside, o)
}

func network(m *onnx.Model, beside fs.FS, o Options) (*model.Model, error) {
	if !(o.Scale >= 0) || math.IsInf(o.Scale, 0) {
		return nil, fmt.Errorf("the scale of the priors is %v; it must be a number > 0", o.Scale)
	}
	if m.Functions > 0 {
		return nil, fmt.Errorf("the file defines %d functions of its own, which are not taken; export the network without functions", m.Functions)
	}
	r := &reader{values: map[string]*value{"": nil}, beside: beside, opset: 1, counted: map[*layer]bool{}}
	for _, s := range m.Opsets {
		if s.Domain == "" || s.Domain == "ai.onnx" {
			r.opset = int(s.Version)
		}
	}
	out, err := r.graph(m.Graph, o)
	if err != nil {
		return nil, err
	}
	return assemble(out, o)
}

// A reader follows a graph from its input to its output.
type reader struct {
	values map[string]*value
	beside fs.FS
	opset  int

	held, asked int // numbers in the file's tensors, and in those of the layers
	counted     map[*layer]bool
}

// maxAsked is how many numbers layers may have beyond twice those of the file: groups and
// dilations are written out, and a tensor may be used by many layers.
const maxAsked = 1 << 27

// count adds the numbers of a new layer.
func (r *reader) count(l *layer) error {
	if l == nil || r.counted[l] {
		return nil
	}
	r.counted[l] = true
	for _, t := range l.tensors {
		r.asked += len(t)
	}
	if r.asked > maxAsked+2*r.held {
		return fmt.Errorf("the layers up to here have %d weights, but the file holds %d numbers; tensors that many layers share, and groups and dilations, which are written out, may add at most %d", r.asked, r.held, maxAsked)
	}
	return nil
}

// graph returns the output.
func (r *reader) graph(g *onnx.Graph, o Options) (*value, error) {
	if g.Sparse > 0 {
		return nil, fmt.Errorf("the graph has sparse tensors, which are not taken")
	}
	if err := r.constants(g); err != nil {
		return nil, err
	}
	if err := r.input(g, o); err != nil {
		return nil, err
	}
	name, err := outputOf(g, o.Output)
	if err != nil {
		return nil, err
	}
	if err := r.nodes(g, needs(g, name)); err != nil {
		return nil, err
	}
	return r.output(name)
}

// constants reads the tensors of the file.
func (r *reader) constants(g *onnx.Graph) error {
	for _, t := range g.Initializers {
		c, err := r.tensor(t)
		if err != nil {
			return err
		}
		if r.values[t.Name] != nil {
			return fmt.Errorf("the graph has two tensors named %.60q", t.Name)
		}
		r.values[t.Name] = &value{constant: c}
	}
	return nil
}

// input finds the input of the graph, of which there must be one.
func (r *reader) input(g *onnx.Graph, o Options) error {
	var input *onnx.Value
	for i, v := range g.Inputs {
		if r.values[v.Name] != nil {
			continue // old files list their weights among the inputs
		}
		if input != nil {
			return fmt.Errorf("the graph has the inputs %.60q and %.60q; a network has one", input.Name, v.Name)
		}
		input = &g.Inputs[i]
	}
	if input == nil {
		return fmt.Errorf("the graph has no input")
	}
	x, err := inputValue(input, o.Input, channelsComeLast(g, input.Name))
	if err != nil {
		return fmt.Errorf("the input %.60q: %w", input.Name, err)
	}
	r.values[input.Name] = x
	return nil
}

// nodes computes the nodes that are needed. Operators that are not taken come first: the nodes
// that prepare their inputs would be refused for reasons that help nobody.
func (r *reader) nodes(g *onnx.Graph, needed []bool) error {
	wrong := func(i int, err error) error {
		return fmt.Errorf("node %s, operator %.40q: %w", called(g.Nodes[i], i), g.Nodes[i].Op, err)
	}
	for i, n := range g.Nodes {
		if _, taken := operators[n.Op]; needed[i] && ours(n) && !taken {
			return wrong(i, errNotTaken())
		}
	}
	for i, n := range g.Nodes {
		if !needed[i] {
			continue
		}
		if err := r.node(n); err != nil {
			return wrong(i, err)
		}
	}
	return nil
}

// output is the value of the output, which a network can end with.
func (r *reader) output(name string) (*value, error) {
	out := r.values[name]
	if out == nil || out.constant != nil {
		return nil, fmt.Errorf("the output %.60q does not depend on the input", name)
	}
	if out.zeros != nil {
		return nil, fmt.Errorf("the output %.60q is an image padded with zeros; only a convolution and an average pooling take padding", name)
	}
	out, err := out.settle()
	if err != nil {
		return nil, err
	}
	if out.order != nil {
		return nil, fmt.Errorf("the output %.60q is an image made flat; let the network end before that, because images have the order height, width, channels here", name)
	}
	return out, nil
}

// outputOf is the name of the output that is asked for.
func outputOf(g *onnx.Graph, name string) (string, error) {
	var names []string
	for _, v := range g.Outputs {
		names = append(names, v.Name)
		if v.Name == name {
			return name, nil
		}
	}
	switch {
	case name != "":
		return "", fmt.Errorf("the graph has no output %.60q; its outputs are %.200q", name, names)
	case len(names) != 1:
		if len(names) == 0 {
			return "", errors.New("the graph has no output")
		}
		return "", advice.Errorf("the graph has the outputs %.200q, and a network has one; %v, or another", names, advice.Set("Output", names[0]))
	}
	return names[0], nil
}

// needs reports which nodes an output is computed from.
func needs(g *onnx.Graph, output string) []bool {
	used := map[string]bool{output: true}
	needed := make([]bool, len(g.Nodes))
	for i := len(g.Nodes) - 1; i >= 0; i-- {
		n := g.Nodes[i]
		for _, out := range n.Outputs {
			needed[i] = needed[i] || used[out] && out != ""
		}
		if needed[i] {
			for _, in := range n.Inputs {
				used[in] = true
			}
		}
	}
	return needed
}

// called is the name of a node for a message, or its number.
func called(n *onnx.Node, i int) string {
	if n.Name == "" {
		return fmt.Sprintf("%d", i)
	}
	return fmt.Sprintf("%.60q", n.Name)
}
