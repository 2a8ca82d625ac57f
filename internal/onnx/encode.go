package onnx

import (
	"encoding/binary"
	"errors"
	"io"
	"math"
)

// Write writes the file.
func (m *Model) Write(w io.Writer) error {
	b, err := m.Marshal()
	if err == nil {
		_, err = w.Write(b)
	}
	return err
}

// Marshal returns the bytes of the file. Files larger than 2 GiB cannot be read by
// protobuf and are refused.
func (m *Model) Marshal() ([]byte, error) {
	var e encoder
	e.int(1, m.IRVersion)
	e.string(2, m.Producer)
	e.string(3, m.Version)
	e.string(6, m.Doc)
	if m.Graph != nil {
		e.message(7, m.Graph.encode)
	}
	for _, o := range m.Opsets {
		e.message(8, func(e *encoder) {
			e.string(1, o.Domain)
			e.int(2, o.Version)
		})
	}
	for _, x := range m.Metadata {
		e.message(14, x.encode)
	}
	if len(e.b) > math.MaxInt32 {
		return nil, errors.New("the graph is larger than 2 GiB, which is the most that an ONNX file can hold")
	}
	return e.b, nil
}

func (x Entry) encode(e *encoder) {
	e.string(1, x.Key)
	e.string(2, x.Value)
}

func (g *Graph) encode(e *encoder) {
	for _, n := range g.Nodes {
		e.message(1, n.encode)
	}
	e.string(2, g.Name)
	for _, t := range g.Initializers {
		e.message(5, t.encode)
	}
	e.string(10, g.Doc)
	for i, values := range [][]Value{g.Inputs, g.Outputs, g.Values} {
		for _, v := range values {
			e.message(11+i, v.encode)
		}
	}
}

func (n *Node) encode(e *encoder) {
	for _, x := range n.Inputs {
		e.element(1, x)
	}
	for _, x := range n.Outputs {
		e.element(2, x)
	}
	e.string(3, n.Name)
	e.string(4, n.Op)
	for _, a := range n.Attributes {
		e.message(5, a.encode)
	}
	e.string(7, n.Domain)
}

func (a Attribute) encode(e *encoder) {
	e.string(1, a.Name)
	switch a.Kind {
	case KindFloat:
		e.float(2, a.Float)
	case KindInt: // also if it is 0
		e.key(3, varint)
		e.b = binary.AppendUvarint(e.b, uint64(a.Int))
	case KindString:
		e.element(4, a.String)
	case KindTensor:
		e.message(5, a.Tensor.encode)
	case KindFloats:
		for _, x := range a.Floats {
			e.float(7, x)
		}
	case KindInts:
		for _, x := range a.Ints { // one field each: older readers expect it
			e.key(8, varint)
			e.b = binary.AppendUvarint(e.b, uint64(x))
		}
	case KindStrings:
		for _, x := range a.Strings {
			e.element(9, x)
		}
	}
	e.int(20, int64(a.Kind))
}

func (v Value) encode(e *encoder) {
	e.string(1, v.Name)
	e.message(2, func(e *encoder) {
		e.message(1, func(e *encoder) {
			e.int(1, int64(v.Elem))
			if v.Shape == nil {
				return
			}
			e.message(2, func(e *encoder) {
				for _, d := range v.Shape {
					e.message(1, d.encode)
				}
			})
		})
	})
	e.string(3, v.Doc)
}

func (d Dim) encode(e *encoder) {
	e.int(1, d.Size)
	e.string(2, d.Name)
}

func (t *Tensor) encode(e *encoder) {
	e.ints(1, t.Dims)
	e.int(2, int64(t.Elem))
	e.floats(4, t.Floats)
	var small []int64
	for _, x := range t.Int32s {
		small = append(small, int64(x))
	}
	e.ints(5, small)
	for _, s := range t.Strings {
		e.element(6, s)
	}
	e.ints(7, t.Int64s)
	e.string(8, t.Name)
	if t.Raw != nil {
		e.bytes(9, t.Raw)
	}
	if len(t.Doubles) > 0 {
		var p []byte
		for _, x := range t.Doubles {
			p = binary.LittleEndian.AppendUint64(p, math.Float64bits(x))
		}
		e.bytes(10, p)
	}
	var large []int64
	for _, x := range t.Uint64s {
		large = append(large, int64(x))
	}
	e.ints(11, large)
	for _, x := range t.External {
		e.message(13, x.encode)
	}
	if t.Outside {
		e.int(14, 1)
	}
}
