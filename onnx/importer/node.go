package importer

import (
	"fmt"

	"utvi/internal/onnx"
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

// given is the first input, which is not constant, as it is: a function may be open.
func (c *call) given() (*value, error) {
	if len(c.in) == 0 || c.in[0] == nil || c.in[0].constant != nil {
		return nil, fmt.Errorf("its first input must depend on the input of the graph")
	}
	if c.in[0].stat != nil {
		return c.in[0].settle()
	}
	return c.in[0], nil
}

// image is the first input as an image or a line whose channels come last here.
func (c *call) image() (*value, error) {
	x, err := c.x()
	if err != nil {
		return nil, err
	}
	return x.image()
}

func (v *value) image() (*value, error) {
	if v.first() {
		return v, nil
	}
	n := len(v.at)
	if !v.at.rowsFirst() || n < 3 || n > 4 {
		return nil, fmt.Errorf("its input must be an image or a line with the channels first; a row has the size %v", v.row())
	}
	sides := [3]axis{nil, v.at[n-1], v.at[1]}
	if n == 4 {
		sides[0] = v.at[2]
	}
	return v.arranged(sides)
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

// node computes the value of a node, whose inputs were computed before.
func (r *reader) node(n *onnx.Node) error {
	if !ours(n) {
		return fmt.Errorf("it belongs to the operators %.60q, which are not taken", n.Domain)
	}
	c := &call{r, attributes{n}, n.Op, nil}
	for _, name := range n.Inputs {
		v, ok := r.values[name]
		if !ok {
			return fmt.Errorf("its input %.60q is not computed before it", name)
		}
		c.in = append(c.in, v)
	}
	if len(n.Outputs) == 0 {
		return nil
	}
	out, err := c.run()
	if err != nil {
		return err
	}
	for _, v := range out {
		err := r.count(v, n)
		if err != nil {
			return err
		}
	}
	return r.set(n, out...)
}

// run computes a node: from constants, as a step of a normalisation that is spelt out, or as its
// operator says.
func (c *call) run() ([]*value, error) {
	o := operators[c.op]
	if in := c.constants(); in != nil && o.constant != nil {
		out, ok, err := o.constant(c.attributes, in)
		if err != nil {
			return nil, err
		}
		if ok {
			return []*value{{constant: out.typed(c, in)}}, nil
		}
	}
	if err := c.unpadded(o); err != nil {
		return nil, err
	}
	if out, ok, err := c.statistic(); ok || err != nil {
		return []*value{out}, err
	}
	if o.values != nil {
		return o.values(c)
	}
	if o.value == nil {
		return nil, fmt.Errorf("it is taken for constants only, and its input depends on the input of the graph")
	}
	out, err := o.value(c)
	return []*value{out}, err
}

// typed says whether what a node computed of constants are whole numbers.
func (k *constant) typed(c *call, in []*constant) *constant {
	out := *k
	out.whole = true
	for i, x := range in {
		if c.op != "Where" || i > 0 {
			out.whole = out.whole && x.whole
		}
	}
	if c.op == "Cast" {
		out.whole = !fractions(c.to())
	}
	return &out
}

// constants are the inputs that are there, nil if one of them is no constant.
func (c *call) constants() (all []*constant) {
	for _, v := range c.in {
		switch {
		case v == nil:
		case v.constant == nil:
			return nil
		default:
			all = append(all, v.constant)
		}
	}
	return all
}

// ours reports whether a node is one of ONNX's own operators.
func ours(n *onnx.Node) bool { return n.Domain == "" || n.Domain == "ai.onnx" }

// set gives the first outputs their values. Others, such as the mask of Dropout, have none.
func (r *reader) set(n *onnx.Node, values ...*value) error {
	for i, v := range values {
		if i >= len(n.Outputs) || n.Outputs[i] == "" {
			continue
		}
		name := n.Outputs[i]
		if _, ok := r.values[name]; ok {
			return fmt.Errorf("its output %.60q is computed twice", name)
		}
		r.values[name] = v
	}
	return nil
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
			return &value{constant: &constant{data: []float64{float64(a.Float)}}}, nil
		case "value_int":
			return &value{constant: &constant{data: []float64{float64(a.Int)}, whole: true}}, nil
		case "value_floats", "value_ints":
			k := &constant{whole: a.Name == "value_ints"}
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
	n := 1
	x := 0.0
	for i, d := range k.dims {
		if d == batch {
			d = 1 // the same for all rows
			k.dims[i] = d
		}
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
		k.whole = v.whole
	}
	k.data = repeat(x, n)
	return &value{constant: k}, nil
}
