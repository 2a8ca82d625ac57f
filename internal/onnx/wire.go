package onnx

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// The wire format of protobuf: a message is a list of fields, each a key (number and
// type) with a value.
const (
	varint  = 0
	fixed64 = 1
	counted = 2 // a length and that many bytes
	fixed32 = 5
)

// An encoder appends fields to a message. Zero values are left out, as protobuf does.
type encoder struct{ b []byte }

func (e *encoder) key(field, kind int) {
	e.b = binary.AppendUvarint(e.b, uint64(field)<<3|uint64(kind))
}

func (e *encoder) int(field int, v int64) {
	if v != 0 {
		e.key(field, varint)
		e.b = binary.AppendUvarint(e.b, uint64(v))
	}
}

func (e *encoder) float(field int, v float32) {
	e.key(field, fixed32)
	e.b = binary.LittleEndian.AppendUint32(e.b, math.Float32bits(v))
}

func (e *encoder) bytes(field int, v []byte) {
	e.key(field, counted)
	e.b = binary.AppendUvarint(e.b, uint64(len(v)))
	e.b = append(e.b, v...)
}

func (e *encoder) string(field int, v string) {
	if v != "" {
		e.element(field, v)
	}
}

// element is a string of a list, which may be empty.
func (e *encoder) element(field int, v string) {
	e.key(field, counted)
	e.b = binary.AppendUvarint(e.b, uint64(len(v)))
	e.b = append(e.b, v...)
}

// ints is a list of numbers in one field.
func (e *encoder) ints(field int, v []int64) {
	if len(v) == 0 {
		return
	}
	var p []byte
	for _, x := range v {
		p = binary.AppendUvarint(p, uint64(x))
	}
	e.bytes(field, p)
}

func (e *encoder) floats(field int, v []float32) {
	if len(v) == 0 {
		return
	}
	p := make([]byte, 0, 4*len(v))
	for _, x := range v {
		p = binary.LittleEndian.AppendUint32(p, math.Float32bits(x))
	}
	e.bytes(field, p)
}

// message is a message within a message.
func (e *encoder) message(field int, write func(e *encoder)) {
	var in encoder
	write(&in)
	e.bytes(field, in.b)
}

var errShort = errors.New("the file ends in the middle of a message")

// A field is one field of a message that is read.
type field struct {
	number int
	kind   int
	num    uint64 // of a varint or a fixed number
	data   []byte // of a counted one, in the memory of the file
}

// fields calls visit for every field of a message.
func fields(b []byte, visit func(f field) error) error {
	for len(b) > 0 {
		key, n := binary.Uvarint(b)
		if n <= 0 || key>>3 == 0 || key>>3 > math.MaxInt32 {
			return errors.New("a field has no valid number")
		}
		b = b[n:]
		f := field{number: int(key >> 3), kind: int(key & 7)}
		switch f.kind {
		case varint:
			f.num, n = binary.Uvarint(b)
			if n <= 0 {
				return errShort
			}
		case fixed64:
			n = 8
			if len(b) < n {
				return errShort
			}
			f.num = binary.LittleEndian.Uint64(b)
		case fixed32:
			n = 4
			if len(b) < n {
				return errShort
			}
			f.num = uint64(binary.LittleEndian.Uint32(b))
		case counted:
			size, k := binary.Uvarint(b)
			if k <= 0 || size > uint64(len(b)-k) {
				return errShort
			}
			n = k + int(size)
			f.data = b[k:n]
		default:
			return fmt.Errorf("field %d has the type %d, which ONNX files do not use", f.number, f.kind)
		}
		b = b[n:]
		if err := visit(f); err != nil {
			return err
		}
	}
	return nil
}

func (f field) text() string { return string(f.data) }

func (f field) float() float32 { return math.Float32frombits(uint32(f.num)) }

// numbers calls visit for every number of a list, which may lie in one field.
func (f field) numbers(visit func(v uint64)) error {
	if f.kind != counted {
		visit(f.num)
		return nil
	}
	for b := f.data; len(b) > 0; {
		v, n := binary.Uvarint(b)
		if n <= 0 {
			return errShort
		}
		visit(v)
		b = b[n:]
	}
	return nil
}

// fixed calls visit for every number of a list of size bytes each.
func (f field) fixed(size int, visit func(v uint64)) error {
	if f.kind != counted {
		visit(f.num)
		return nil
	}
	if len(f.data)%size != 0 {
		return errShort
	}
	for b := f.data; len(b) > 0; b = b[size:] {
		if size == 4 {
			visit(uint64(binary.LittleEndian.Uint32(b)))
		} else {
			visit(binary.LittleEndian.Uint64(b))
		}
	}
	return nil
}
