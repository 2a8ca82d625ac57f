// Package onnx reads and writes ONNX files: the messages of the format that a network
// needs, their wire format (protobuf), and a builder of graphs.
//
// Package onnx/export writes networks of this module as graphs, onnx/importer makes
// networks from graphs.
package onnx

// The version of the file format and of the operators that this module writes.
const (
	IRVersion = 8
	Opset     = 17
)

// A Model is an ONNX file.
type Model struct {
	IRVersion int64
	Producer  string
	Version   string // of the producer
	Doc       string
	Opsets    []OperatorSet
	Metadata  []Entry
	Graph     *Graph

	// Functions is the number of functions that the file defines itself.
	Functions int
}

// An OperatorSet is a version of the operators of a domain; the domain of the standard
// operators is empty.
type OperatorSet struct {
	Domain  string
	Version int64
}

// An Entry is a key with its value.
type Entry struct{ Key, Value string }

// A Graph is a list of nodes, each after the nodes whose outputs it uses.
type Graph struct {
	Name         string
	Doc          string
	Nodes        []*Node
	Initializers []*Tensor
	Inputs       []Value
	Outputs      []Value
	Values       []Value // shapes of other values, where they are known

	// Sparse is the number of sparse initializers.
	Sparse int
}

// A Node is one operation. An input or output that is left out is "".
type Node struct {
	Name       string
	Op         string
	Domain     string
	Inputs     []string
	Outputs    []string
	Attributes []Attribute
}

// Attribute returns an attribute by its name, or nil.
func (n *Node) Attribute(name string) *Attribute {
	for i := range n.Attributes {
		if n.Attributes[i].Name == name {
			return &n.Attributes[i]
		}
	}
	return nil
}

// A Kind says which field of an Attribute is set.
type Kind int32

// The kinds of attributes that this package reads; of others it keeps the kind alone.
const (
	KindFloat   Kind = 1
	KindInt     Kind = 2
	KindString  Kind = 3
	KindTensor  Kind = 4
	KindGraph   Kind = 5
	KindFloats  Kind = 6
	KindInts    Kind = 7
	KindStrings Kind = 8
)

// An Attribute is a setting of a node.
type Attribute struct {
	Name    string
	Kind    Kind
	Float   float32
	Int     int64
	String  string
	Tensor  *Tensor
	Floats  []float32
	Ints    []int64
	Strings []string
}

// An Elem is the type of the elements of a tensor.
type Elem int32

// The types of elements.
const (
	Float    Elem = 1
	Uint8    Elem = 2
	Int8     Elem = 3
	Uint16   Elem = 4
	Int16    Elem = 5
	Int32    Elem = 6
	Int64    Elem = 7
	String   Elem = 8
	Bool     Elem = 9
	Float16  Elem = 10
	Double   Elem = 11
	Uint32   Elem = 12
	Uint64   Elem = 13
	BFloat16 Elem = 16
)

// A Value is the name, type and shape of an input, an output or an intermediate result.
// A nil Shape is not known.
type Value struct {
	Name  string
	Elem  Elem
	Shape []Dim
	Doc   string
	// Known is set if the type is that of a tensor; sequences, maps and others are not.
	Known bool
}

// A Dim is a size: a number, or a name for a size that is known only when the graph
// runs. Both are zero if nothing is known.
type Dim struct {
	Size int64
	Name string
}

// A Tensor is a constant. One of the fields from Raw on holds the elements.
type Tensor struct {
	Name string
	Elem Elem
	Dims []int64

	Raw     []byte // little-endian
	Floats  []float32
	Int32s  []int32 // also of all smaller integers, and the bits of Float16
	Int64s  []int64
	Doubles []float64
	Uint64s []uint64
	Strings []string

	// External says where the elements lie if they are in another file: "location",
	// "offset", "length".
	External []Entry
	Outside  bool
}
