package importer

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"utvi/onnx"
)

// attributes reads the settings of a node.
type attributes struct{ n *onnx.Node }

func (a attributes) int(name string, standard int) int {
	if x := a.n.Attribute(name); x != nil {
		return int(x.Int)
	}
	return standard
}

func (a attributes) float(name string, standard float64) float64 {
	if x := a.n.Attribute(name); x != nil {
		return float64(x.Float)
	}
	return standard
}

func (a attributes) text(name, standard string) string {
	if x := a.n.Attribute(name); x != nil {
		return x.String
	}
	return standard
}

func (a attributes) ints(name string, standard []int) []int {
	x := a.n.Attribute(name)
	if x == nil {
		return standard
	}
	v := make([]int, len(x.Ints))
	for i, d := range x.Ints {
		v[i] = int(max(-1<<31, min(1<<31-1, d)))
	}
	return v
}

// A call is a node with its inputs.
type call struct {
	*reader
	attributes
	op string
	in []*value
}

// x is the first input as a value that is not constant, in settled form.
func (c *call) x() (*value, error) {
	if len(c.in) == 0 || c.in[0] == nil || c.in[0].constant != nil {
		return nil, fmt.Errorf("its first input must depend on the input of the graph")
	}
	return c.in[0].settle()
}

// weight is an input that must be a constant; nil if it is left out.
func (c *call) weight(i int) (*constant, error) {
	if i >= len(c.in) || c.in[i] == nil {
		return nil, nil
	}
	if c.in[i].constant == nil {
		return nil, fmt.Errorf("its input %d depends on the input of the graph; it must be a constant", i)
	}
	return c.in[i].constant, nil
}

// operators are the operators that layers are made from. Elementwise ones are in
// functions and binaries.
var operators map[string]func(c *call) (*value, error)

func init() { // which the map itself cannot: the functions look at it
	operators = map[string]func(c *call) (*value, error){
		"Gemm": gemm, "MatMul": matmul, "Conv": convolution,
		"BatchNormalization": batchNorm, "LayerNormalization": layerNorm,
		"MaxPool": maxPool, "AveragePool": avgPool, "GlobalAveragePool": globalPool, "GlobalMaxPool": globalPool, "ReduceMean": reduceMean,
		"Pad": pad, "Flatten": flatten, "Reshape": reshape, "Squeeze": squeeze, "Unsqueeze": squeeze, "Transpose": transpose, "Shape": shapeOf,
		"Identity": identity, "Dropout": identity, "Cast": cast,
		"Softmax": softmax, "LogSoftmax": softmax,
		"Constant": constantNode, "ConstantOfShape": constantOfShape,
	}
}

func (r *reader) node(n *onnx.Node) error {
	if !ours(n) {
		return fmt.Errorf("it belongs to the operators %.60q, which are not taken", n.Domain)
	}
	c := &call{r, attributes{n}, n.Op, nil}
	folds := len(n.Inputs) > 0
	var constants []*constant
	for _, name := range n.Inputs {
		v, ok := r.values[name]
		if !ok {
			return fmt.Errorf("its input %.60q is not computed before it", name)
		}
		c.in = append(c.in, v)
		if v != nil && v.constant != nil {
			constants = append(constants, v.constant)
		} else if v != nil {
			folds = false
		}
	}
	if len(n.Outputs) == 0 {
		return nil
	}
	if folds && len(constants) > 0 {
		out, ok, err := r.fold(n, constants)
		if err != nil {
			return err
		}
		if ok {
			return r.set(n, &value{constant: out})
		}
	}
	out, err := c.run()
	if err != nil {
		return err
	}
	if err := r.count(out.layer); err != nil {
		return err
	}
	return r.set(n, out)
}

func (c *call) run() (*value, error) {
	if err := c.unpadded(); err != nil {
		return nil, err
	}
	if out, ok, err := c.statistic(); ok || err != nil {
		return out, err
	}
	if f, ok := operators[c.op]; ok {
		return f(c)
	}
	if out, ok, err := c.elementwise(); ok || err != nil {
		return out, err
	}
	return nil, errNotTaken()
}

// ours reports whether a node is one of ONNX's own operators.
func ours(n *onnx.Node) bool { return n.Domain == "" || n.Domain == "ai.onnx" }

// shapers are operators that are taken for constants only, such as sizes.
var shapers = []string{"Concat", "Gather", "Slice", "Floor"}

func errNotTaken() error {
	return fmt.Errorf("the operator is not taken; the operators are %s", strings.Join(Operators(), ", "))
}

// set gives the first output its value. Other outputs, such as the mask of Dropout, have
// none.
func (r *reader) set(n *onnx.Node, v *value) error {
	name := n.Outputs[0]
	if _, ok := r.values[name]; ok {
		return fmt.Errorf("its output %.60q is computed twice", name)
	}
	r.values[name] = v
	return nil
}

// Operators returns the operators that can be imported, sorted.
func Operators() []string {
	all := slices.Collect(maps.Keys(operators))
	for _, m := range []map[string]bool{keys(functions), keys(binaries), {"Clip": true, "PRelu": true, "Where": true, "Not": true, "Pow": true}} {
		all = append(all, slices.Collect(maps.Keys(m))...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func keys[V any](m map[string]V) map[string]bool {
	all := map[string]bool{}
	for k := range m {
		all[k] = true
	}
	return all
}

func identity(c *call) (*value, error) {
	if len(c.in) == 0 || c.in[0] == nil {
		return nil, fmt.Errorf("it has no input")
	}
	return c.in[0], nil
}

func constantNode(c *call) (*value, error) {
	if t := c.n.Attribute("value"); t != nil && t.Tensor != nil {
		k, err := c.tensor(t.Tensor)
		return &value{constant: k}, err
	}
	for _, a := range c.n.Attributes {
		switch a.Name {
		case "value_float":
			return &value{constant: &constant{nil, []float64{float64(a.Float)}}}, nil
		case "value_int":
			return &value{constant: &constant{nil, []float64{float64(a.Int)}}}, nil
		case "value_floats", "value_ints":
			k := &constant{}
			for _, x := range a.Floats {
				k.data = append(k.data, float64(x))
			}
			for _, x := range a.Ints {
				k.data = append(k.data, float64(x))
			}
			k.dims = []int{len(k.data)}
			return &value{constant: k}, nil
		}
	}
	return nil, fmt.Errorf("it holds no numbers")
}

func constantOfShape(c *call) (*value, error) {
	s, err := c.weight(0)
	if err != nil || s == nil {
		return nil, fmt.Errorf("its size is not a constant")
	}
	k := &constant{dims: s.ints()}
	n, x := 1, 0.0
	for _, d := range k.dims {
		if d < 0 || d > 0 && n > 1<<20/d {
			return nil, fmt.Errorf("its size is %v; at most %d elements are allowed", k.dims, 1<<20)
		}
		n *= d
	}
	if t := c.n.Attribute("value"); t != nil && t.Tensor != nil {
		v, err := c.tensor(t.Tensor)
		if err != nil || !v.scalar() {
			return nil, fmt.Errorf("its value is not one number")
		}
		x = v.data[0]
	}
	k.data = repeat(x, n)
	return &value{constant: k}, nil
}
