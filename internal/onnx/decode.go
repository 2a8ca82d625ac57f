package onnx

import (
	"fmt"
	"math"
)

// The most that a file may hold of each thing, so that a small file does not take much
// memory.
const (
	maxNodes      = 1 << 20
	maxDims       = 64
	maxAttributes = 256
)

// Unmarshal reads the bytes of a file. Tensors share the memory of b.
func Unmarshal(b []byte) (*Model, error) {
	m := &Model{}
	err := fields(b, func(f field) error {
		switch f.number {
		case 1:
			m.IRVersion = int64(f.num)
		case 2:
			m.Producer = f.text()
		case 3:
			m.Version = f.text()
		case 6:
			m.Doc = f.text()
		case 7:
			if m.Graph == nil {
				m.Graph = &Graph{}
			}
			return m.Graph.decode(f.data)
		case 8:
			return within(&m.Opsets, maxNodes, "operator sets", func(o *OperatorSet) error {
				return fields(f.data, func(f field) error {
					switch f.number {
					case 1:
						o.Domain = f.text()
					case 2:
						o.Version = int64(f.num)
					}
					return nil
				})
			})
		case 14:
			return within(&m.Metadata, maxNodes, "entries of metadata", func(x *Entry) error { return x.decode(f.data) })
		case 25:
			m.Functions++
		}
		return nil
	})
	if err == nil && m.Graph == nil {
		err = fmt.Errorf("the file holds no graph")
	}
	if err != nil {
		return nil, fmt.Errorf("not an ONNX file: %w", err)
	}
	return m, nil
}

// within appends an element to a list that has at most so many.
func within[E any](list *[]E, most int, what string, read func(e *E) error) error {
	if len(*list) >= most {
		return fmt.Errorf("the file holds more than %d %s", most, what)
	}
	var e E
	if err := read(&e); err != nil {
		return err
	}
	*list = append(*list, e)
	return nil
}

func (x *Entry) decode(b []byte) error {
	return fields(b, func(f field) error {
		switch f.number {
		case 1:
			x.Key = f.text()
		case 2:
			x.Value = f.text()
		}
		return nil
	})
}

func (g *Graph) decode(b []byte) error {
	return fields(b, func(f field) error {
		switch f.number {
		case 1:
			return within(&g.Nodes, maxNodes, "nodes", func(n **Node) error {
				*n = &Node{}
				return (*n).decode(f.data)
			})
		case 2:
			g.Name = f.text()
		case 5:
			return within(&g.Initializers, maxNodes, "tensors", func(t **Tensor) error {
				*t = &Tensor{}
				return (*t).decode(f.data)
			})
		case 10:
			g.Doc = f.text()
		case 11, 12, 13:
			list := []*[]Value{&g.Inputs, &g.Outputs, &g.Values}[f.number-11]
			return within(list, maxNodes, "values", func(v *Value) error { return v.decode(f.data) })
		case 15:
			g.Sparse++
		}
		return nil
	})
}

func (n *Node) decode(b []byte) error {
	names := func(list *[]string, f field) error {
		return within(list, maxNodes, "inputs of a node", func(s *string) error {
			*s = f.text()
			return nil
		})
	}
	return fields(b, func(f field) error {
		switch f.number {
		case 1:
			return names(&n.Inputs, f)
		case 2:
			return names(&n.Outputs, f)
		case 3:
			n.Name = f.text()
		case 4:
			n.Op = f.text()
		case 5:
			return within(&n.Attributes, maxAttributes, "attributes of a node", func(a *Attribute) error { return a.decode(f.data) })
		case 7:
			n.Domain = f.text()
		}
		return nil
	})
}

func (a *Attribute) decode(b []byte) error {
	return fields(b, func(f field) error {
		switch f.number {
		case 1:
			a.Name = f.text()
		case 2:
			a.Float = f.float()
		case 3:
			a.Int = int64(f.num)
		case 4:
			a.String = f.text()
		case 5:
			a.Tensor = &Tensor{}
			return a.Tensor.decode(f.data)
		case 7:
			return f.fixed(4, func(v uint64) { a.Floats = append(a.Floats, math.Float32frombits(uint32(v))) })
		case 8:
			return f.numbers(func(v uint64) { a.Ints = append(a.Ints, int64(v)) })
		case 9:
			a.Strings = append(a.Strings, f.text())
		case 20:
			a.Kind = Kind(f.num)
		}
		return nil
	})
}

func (v *Value) decode(b []byte) error {
	tensor := func(f field) error {
		v.Known = true
		return fields(f.data, func(f field) error {
			switch f.number {
			case 1:
				v.Elem = Elem(f.num)
			case 2:
				v.Shape = []Dim{}
				return fields(f.data, func(f field) error {
					if f.number != 1 {
						return nil
					}
					return within(&v.Shape, maxDims, "dimensions of a value", func(d *Dim) error { return d.decode(f.data) })
				})
			}
			return nil
		})
	}
	return fields(b, func(f field) error {
		switch f.number {
		case 1:
			v.Name = f.text()
		case 2:
			return fields(f.data, func(f field) error {
				if f.number == 1 {
					return tensor(f)
				}
				return nil
			})
		case 3:
			v.Doc = f.text()
		}
		return nil
	})
}

func (d *Dim) decode(b []byte) error {
	return fields(b, func(f field) error {
		switch f.number {
		case 1:
			d.Size = int64(f.num)
		case 2:
			d.Name = f.text()
		}
		return nil
	})
}

func (t *Tensor) decode(b []byte) error {
	return fields(b, func(f field) error {
		switch f.number {
		case 1:
			return t.decodeDims(f)
		case 2:
			t.Elem = Elem(f.num)
		case 4:
			return f.fixed(4, func(v uint64) { t.Floats = append(t.Floats, math.Float32frombits(uint32(v))) })
		case 5:
			return f.numbers(func(v uint64) { t.Int32s = append(t.Int32s, int32(v)) })
		case 6:
			t.Strings = append(t.Strings, f.text())
		case 7:
			return f.numbers(func(v uint64) { t.Int64s = append(t.Int64s, int64(v)) })
		case 8:
			t.Name = f.text()
		case 9:
			t.Raw = f.data
		case 10:
			return f.fixed(8, func(v uint64) { t.Doubles = append(t.Doubles, math.Float64frombits(v)) })
		case 11:
			return f.numbers(func(v uint64) { t.Uint64s = append(t.Uint64s, v) })
		case 13:
			return within(&t.External, maxAttributes, "entries of external data", func(x *Entry) error { return x.decode(f.data) })
		case 14:
			t.Outside = f.num == 1
		}
		return nil
	})
}

func (t *Tensor) decodeDims(f field) error {
	err := f.numbers(func(v uint64) {
		if len(t.Dims) <= maxDims {
			t.Dims = append(t.Dims, int64(v))
		}
	})
	if err == nil && len(t.Dims) > maxDims {
		err = fmt.Errorf("a tensor has more than %d dimensions", maxDims)
	}
	return err
}
