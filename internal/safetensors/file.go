// Package safetensors reads and writes named tensors in the safetensors format.
//
//	8 bytes   length of the header, little-endian
//	header    {"__metadata__":{"key":"value",…},
//	           "name":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]},…}
//	data      the tensors, little-endian, without gaps
//
// The same File always gives the same bytes: tensors in the order given,
// metadata sorted, the header padded with spaces to a multiple of 8.
//
// # Checksum
//
// A file written here begins its header with
//
//	{"__metadata__":{"checksum":"sha256:<64 hex digits>"
//
// the SHA-256 of the whole file with those digits replaced by zeros. So every
// change of a single byte is refused: in the digits and everything they cover
// because the sums differ, in the words that announce them because Read
// refuses a header that begins almost so. Files of other programs begin
// otherwise and are read without a check; File.HasChecksum tells.
//
// Other readers ignore the checksum. A program that rewrites such a file must
// drop the key.
package safetensors

import (
	"errors"
	"fmt"
	"math/bits"
)

// A File is a list of tensors with textual metadata.
type File struct {
	Metadata map[string]string // without the checksum
	Tensors  []Tensor          // in the order of their data

	// HasChecksum is set by Read where a checksum was found, and matched. Write
	// ignores it and always stores one.
	HasChecksum bool
}

// A Tensor is a named array in row-major order. Exactly one of the slices is
// not nil, also where the tensor is empty; its length is the product of Shape,
// 1 for a scalar, whose Shape is empty.
type Tensor struct {
	Name  string
	Shape []int

	F32 []float32
	F64 []float64
	I64 []int64
	U64 []uint64
	U8  []uint8
}

// dtypeSize holds the bytes per element of the types in Tensor.
var dtypeSize = map[string]uint64{"F32": 4, "F64": 8, "I64": 8, "U64": 8, "U8": 1}

// dtype names the slice that holds the data, and gives its length.
func (t *Tensor) dtype() (name string, n int, err error) {
	set := func(is bool, dtype string, length int) {
		if !is {
			return
		}
		if name != "" {
			err = errors.New("has data of two types")
		}
		name, n = dtype, length
	}
	set(t.F32 != nil, "F32", len(t.F32))
	set(t.F64 != nil, "F64", len(t.F64))
	set(t.I64 != nil, "I64", len(t.I64))
	set(t.U64 != nil, "U64", len(t.U64))
	set(t.U8 != nil, "U8", len(t.U8))
	if name == "" {
		err = errors.New("has no data: an empty tensor needs an empty slice, not nil")
	}
	return name, n, err
}

// maxDims is the limit of NumPy, and keeps error messages short.
const maxDims = 64

// byteSize returns the bytes that a tensor of this shape takes.
func byteSize(dtype string, shape []int) (uint64, error) {
	if len(shape) > maxDims {
		return 0, fmt.Errorf("has %d dimensions, more than %d", len(shape), maxDims)
	}
	size := dtypeSize[dtype]
	empty := false
	overflow := uint64(0)
	for _, d := range shape {
		if d < 0 {
			return 0, fmt.Errorf("has a negative dimension in its shape %v", shape)
		}
		if d == 0 {
			empty = true
			continue
		}
		var hi uint64
		hi, size = bits.Mul64(size, uint64(d))
		overflow |= hi | size>>62 // below 2⁶², sums of sizes are safe too
	}
	if empty {
		return 0, nil // whatever the other dimensions are
	}
	if overflow != 0 {
		return 0, fmt.Errorf("has the impossible shape %v", shape)
	}
	return size, nil
}
