// Package importer makes networks from ONNX graphs that were trained elsewhere.
//
// A chain of layers becomes an nn.Chain, with residual connections (sums of two roads from one
// tensor, such as x + f(x)); what is no chain becomes an nn.Graph. Weights become numbers, so that uncertain inputs pass through someone else's network at once, or, with
// Options.Random, Normals around the trained values, ready for training. Elementwise
// operators, alone or in groups, become functions or formulas. Images are height × width ×
// channels here, whatever the graph has.
package importer

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"

	"utvi/internal/inputfile"
	"utvi/internal/onnx"
	"utvi/model"
	"utvi/nn"
)

// Options say how a graph becomes a network.
type Options struct {
	// Input is the size of one row, in the order of the graph, where the graph leaves it
	// open: features, or channels, height and width.
	Input []int
	// Output is the name of the output, where the graph has several; several names with
	// commas are outputs side by side.
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
	for _, e := range m.Metadata {
		if e.Key == onnx.MetadataOfFacts+onnx.SignatureFact {
			r.known = onnx.ParseSignature(e.Value)
		}
	}
	outs, err := r.graph(m.Graph, o)
	if err != nil {
		return nil, err
	}
	n, err := assemble(outs, r.inputs, o)
	if err != nil {
		return nil, err
	}
	names, err := outputsOf(m.Graph, o.Output)
	if err != nil {
		return nil, err
	}
	n.Facts.More = maps.Clone(n.Facts.More)
	if n.Facts.More == nil {
		n.Facts.More = map[string]string{}
	}
	n.Facts.More[onnx.SignatureFact] = signature(r.inputs, outs, names).Text()
	return n, nil
}

// A reader follows a graph from its input to its output.
type reader struct {
	values map[string]*value
	beside fs.FS
	opset  int

	held, asked int // numbers in the file's tensors, and in those of the layers
	counted     map[*layer]bool

	known  *onnx.Signature // of a graph that this module wrote; nil of others
	inputs []*value        // those that are needed, in the order of the graph
	used   map[string]bool // the values that the outputs need
}

// maxAsked is how many numbers layers may have beyond twice those of the file: groups and
// dilations are written out, and a tensor may be used by many layers.
const maxAsked = 1 << 27

// count adds the numbers of the new layers behind a value, and names them after the node.
func (r *reader) count(v *value, n *onnx.Node) error {
	if v == nil || v.layer == nil || v.layer.input() || r.counted[v.layer] {
		return nil
	}
	l := v.layer
	r.counted[l] = true
	l.node = n.Name
	if l.node == "" {
		l.node = n.Op
	}
	for _, from := range l.from {
		if err := r.count(from, n); err != nil {
			return err
		}
	}
	if !fits(l.shape) {
		return fmt.Errorf("its output would be %d×%d×%d; at most %d numbers are allowed", l.shape.H, l.shape.W, l.shape.C, mostInputs)
	}
	for _, t := range l.tensors {
		r.asked += len(t)
	}
	if r.asked > maxAsked+2*r.held {
		return fmt.Errorf("the layers up to here have %d weights, but the file holds %d numbers; tensors that many layers share, and groups and dilations, which are written out, may add at most %d", r.asked, r.held, maxAsked)
	}
	return nil
}

// fits reports whether a signal is not too large.
func fits(s nn.Shape) bool {
	return s.H <= mostInputs && s.W <= mostInputs/max(1, s.H) && s.C <= mostInputs/max(1, s.H*s.W)
}

// graph returns the outputs.
func (r *reader) graph(g *onnx.Graph, o Options) (outs []*value, err error) {
	if g.Sparse > 0 {
		return nil, fmt.Errorf("the graph has sparse tensors, which are not taken")
	}
	if err := r.constants(g); err != nil {
		return nil, err
	}
	names, err := outputsOf(g, o.Output)
	if err != nil {
		return nil, err
	}
	needed := r.needs(g, names)
	if err := taken(g, needed); err != nil {
		return nil, err
	}
	if err := r.inputsOf(g, o); err != nil {
		return nil, err
	}
	if err := r.nodes(g, needed); err != nil {
		return nil, err
	}
	for _, name := range names {
		out, err := r.output(name)
		if err != nil {
			return nil, err
		}
		outs = append(outs, out)
	}
	return outs, nil
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

// inputsOf finds the inputs of the graph that are needed; with one input, it counts as needed.
func (r *reader) inputsOf(g *onnx.Graph, o Options) error {
	var inputs []*onnx.Value
	for i, v := range g.Inputs {
		if r.values[v.Name] == nil { // old files list their weights among the inputs
			inputs = append(inputs, &g.Inputs[i])
		}
	}
	if len(inputs) == 0 {
		return fmt.Errorf("the graph has no input")
	}
	if len(inputs) > 1 {
		inputs = slices.DeleteFunc(inputs, func(v *onnx.Value) bool { return !r.used[v.Name] })
	}
	if len(inputs) > 1 && o.Input != nil {
		return fmt.Errorf("the size %v is given, but the graph has %d inputs; their sizes must be in the graph", o.Input, len(inputs))
	}
	for _, v := range inputs {
		x := r.state(g, v)
		if x == nil {
			var err error
			x, err = inputValue(v, o.Input, r.orderOf(g, v))
			if err != nil {
				return fmt.Errorf("the input %.60q: %w", v.Name, err)
			}
		}
		r.values[v.Name] = x
		r.inputs = append(r.inputs, x)
	}
	if len(inputs) == 0 {
		return fmt.Errorf("the output does not depend on the input")
	}
	return nil
}

// taken reports an operator that is not. It comes first: inputs, and the nodes that prepare theirs, would be
// refused for reasons that help nobody.
func taken(g *onnx.Graph, needed []bool) error {
	for i, n := range g.Nodes {
		if _, taken := operators[n.Op]; needed[i] && ours(n) && !taken {
			return wrongNode(g, i, errNotTaken())
		}
	}
	return nil
}

// nodes computes the nodes that are needed.
func (r *reader) nodes(g *onnx.Graph, needed []bool) error {
	for i, n := range g.Nodes {
		if !needed[i] {
			continue
		}
		if err := r.node(n); err != nil {
			return wrongNode(g, i, err)
		}
	}
	return nil
}

func wrongNode(g *onnx.Graph, i int, err error) error {
	return fmt.Errorf("node %s, operator %.40q: %w", called(g.Nodes[i], i), g.Nodes[i].Op, err)
}

// called is the name of a node for a message, or its number.
func called(n *onnx.Node, i int) string {
	if n.Name == "" {
		return fmt.Sprintf("%d", i)
	}
	return fmt.Sprintf("%.60q", n.Name)
}
