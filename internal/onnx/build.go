package onnx

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// A Builder builds a graph. Values are known by their names. A node or a constant that
// exists already is used again: whoever builds need not remember what was computed.
type Builder struct {
	Graph Graph

	seen  map[string]string // by what it computes: the name of its output
	names map[string]int
	scope string
}

// NewBuilder returns a builder of a graph with the given name.
func NewBuilder(name string) *Builder {
	return &Builder{Graph: Graph{Name: name}, seen: map[string]string{}, names: map[string]int{}}
}

// Scope sets the prefix of the names that follow, such as the name of a layer.
func (b *Builder) Scope(name string) { b.scope = name }

// fresh returns a name that no other value has.
func (b *Builder) fresh(name string) string {
	if b.scope != "" {
		name = b.scope + "/" + name
	}
	for unique := name; ; unique = name + "_" + strconv.Itoa(b.names[name]) {
		b.names[name]++
		if unique == name && b.names[name] == 1 {
			return name
		}
		if unique != name && b.names[unique] == 0 {
			b.names[unique]++
			return unique
		}
	}
}

// Reserve keeps names from values that are computed, for outputs that come later.
func (b *Builder) Reserve(names ...string) {
	for _, name := range names {
		b.names[name]++
	}
}

// Input declares an input of the graph. Inputs come before everything that is computed.
func (b *Builder) Input(name string, elem Elem, shape ...Dim) string {
	b.names[name]++
	b.Graph.Inputs = append(b.Graph.Inputs, Value{Name: name, Elem: elem, Shape: shape, Known: true})
	return name
}

// Output makes a value an output of the graph, under a name that was reserved.
func (b *Builder) Output(name, value string, elem Elem, shape ...Dim) {
	if b.names[name] == 0 {
		panic("onnx: the name of an output is not reserved")
	}
	b.Graph.Nodes = append(b.Graph.Nodes, &Node{Name: name, Op: "Identity", Inputs: []string{value}, Outputs: []string{name}})
	b.Graph.Outputs = append(b.Graph.Outputs, Value{Name: name, Elem: elem, Shape: shape, Known: true})
}

// Op adds a node with one output, and returns the name of that.
func (b *Builder) Op(op string, inputs []string, attributes ...Attribute) string {
	return b.Ops(op, 1, inputs, attributes...)[0]
}

// Ops adds a node with several outputs.
func (b *Builder) Ops(op string, outputs int, inputs []string, attributes ...Attribute) []string {
	return b.domain("", op, outputs, inputs, attributes)
}

// ML adds a node with one output of the operators for classical machine learning,
// ai.onnx.ml.
func (b *Builder) ML(op string, inputs []string, attributes ...Attribute) string {
	return b.domain("ai.onnx.ml", op, 1, inputs, attributes)[0]
}

func (b *Builder) domain(domain, op string, outputs int, inputs []string, attributes []Attribute) []string {
	n := &Node{Op: op, Domain: domain, Inputs: slices.Clone(inputs), Attributes: attributes}
	var e encoder
	n.encode(&e)
	key := string(e.b)
	first, ok := b.seen[key]
	if !ok {
		first = b.fresh(op)
		b.seen[key] = first
		n.Name = first
		for i := range outputs {
			n.Outputs = append(n.Outputs, output(first, i))
		}
		b.Graph.Nodes = append(b.Graph.Nodes, n)
	}
	names := make([]string, outputs)
	for i := range names {
		names[i] = output(first, i)
	}
	return names
}

// output is the name of an output of a node.
func output(node string, i int) string {
	if i == 0 {
		return node
	}
	return node + ":" + strconv.Itoa(i)
}

// Floats adds a constant. Its name is for people.
func (b *Builder) Floats(name string, v []float32, dims ...int) string {
	raw := make([]byte, 0, 4*len(v))
	for _, x := range v {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(x))
	}
	return b.constant(name, Float, raw, dims)
}

// Float adds a number.
func (b *Builder) Float(v float64) string {
	return b.Floats("c", []float32{float32(v)})
}

// Doubles adds numbers in float64: one without dimensions, or a list.
func (b *Builder) Doubles(name string, v ...float64) string {
	raw := make([]byte, 0, 8*len(v))
	for _, x := range v {
		raw = binary.LittleEndian.AppendUint64(raw, math.Float64bits(x))
	}
	if len(v) == 1 {
		return b.constant(name, Double, raw, nil)
	}
	return b.constant(name, Double, raw, []int{len(v)})
}

// Ints adds a list of whole numbers.
func (b *Builder) Ints(v ...int) string {
	raw := make([]byte, 0, 8*len(v))
	for _, x := range v {
		raw = binary.LittleEndian.AppendUint64(raw, uint64(x))
	}
	return b.constant("i", Int64, raw, []int{len(v)})
}

// Index adds one whole number.
func (b *Builder) Index(v int) string {
	return b.constant("i", Int64, binary.LittleEndian.AppendUint64(nil, uint64(v)), nil)
}

// Texts adds a list of strings.
func (b *Builder) Texts(name string, v []string) string {
	t := &Tensor{Elem: String, Dims: []int64{int64(len(v))}, Strings: v}
	return b.add(name, "texts"+strings.Join(v, "\x00")+fmt.Sprint(len(v)), t)
}

func (b *Builder) constant(name string, elem Elem, raw []byte, dims []int) string {
	t := &Tensor{Elem: elem, Raw: raw}
	for _, d := range dims {
		t.Dims = append(t.Dims, int64(d))
	}
	return b.add(name, fmt.Sprint(elem, dims, ":")+string(raw), t)
}

// add adds a tensor unless there is an equal one. A large one is not looked for.
func (b *Builder) add(name, key string, t *Tensor) string {
	const large = 1 << 12
	if len(key) <= large {
		if have, ok := b.seen[key]; ok {
			return have
		}
	}
	scope := b.scope
	if len(key) <= large { // shared by layers
		b.scope = ""
	}
	t.Name = b.fresh(name)
	b.scope = scope
	if len(key) <= large {
		b.seen[key] = t.Name
	}
	b.Graph.Initializers = append(b.Graph.Initializers, t)
	return t.Name
}

// Int is an attribute of one whole number.
func Int(name string, v int) Attribute {
	return Attribute{Name: name, Kind: KindInt, Int: int64(v)}
}

// IntList is an attribute of whole numbers.
func IntList(name string, v ...int) Attribute {
	a := Attribute{Name: name, Kind: KindInts}
	for _, x := range v {
		a.Ints = append(a.Ints, int64(x))
	}
	return a
}

// Number is an attribute of one number.
func Number(name string, v float64) Attribute {
	return Attribute{Name: name, Kind: KindFloat, Float: float32(v)}
}

// FloatList is an attribute of numbers.
func FloatList(name string, v []float32) Attribute {
	return Attribute{Name: name, Kind: KindFloats, Floats: v}
}

// TextList is an attribute of strings.
func TextList(name string, v []string) Attribute {
	return Attribute{Name: name, Kind: KindStrings, Strings: v}
}

// Text is an attribute of one string.
func Text(name, v string) Attribute {
	return Attribute{Name: name, Kind: KindString, String: v}
}

// Model returns the graph as a file.
func (b *Builder) Model() *Model {
	m := &Model{IRVersion: IRVersion, Producer: "utvi", Opsets: []OperatorSet{{Version: Opset}}, Graph: &b.Graph}
	for _, n := range b.Graph.Nodes {
		if n.Domain != "" {
			m.Opsets = append(m.Opsets, OperatorSet{n.Domain, 3})
			break
		}
	}
	return m
}
