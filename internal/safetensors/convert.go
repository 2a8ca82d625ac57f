package safetensors

import (
	"encoding/binary"
	"io"
	"slices"
)

// chunkBytes are converted at a time: few enough to stay in cache.
const chunkBytes = 1 << 16

type element interface {
	float32 | float64 | int64 | uint64 | uint8
}

// encode writes the data of t through buf.
func (t *Tensor) encode(w io.Writer, buf []byte) error {
	switch {
	case t.F32 != nil:
		return encode(w, buf, t.F32)
	case t.F64 != nil:
		return encode(w, buf, t.F64)
	case t.I64 != nil:
		return encode(w, buf, t.I64)
	case t.U64 != nil:
		return encode(w, buf, t.U64)
	default:
		return encode(w, buf, t.U8)
	}
}

// decode reads n elements of data into t through buf.
func (t *Tensor) decode(r io.Reader, buf []byte, dtype string, n int) (err error) {
	switch dtype {
	case "F32":
		t.F32, err = decode[float32](r, buf, n)
	case "F64":
		t.F64, err = decode[float64](r, buf, n)
	case "I64":
		t.I64, err = decode[int64](r, buf, n)
	case "U64":
		t.U64, err = decode[uint64](r, buf, n)
	case "U8":
		t.U8, err = decode[uint8](r, buf, n)
	default:
		panic("safetensors: unchecked dtype")
	}
	return err
}

// encode and decode hand package binary whole slices: those it converts without
// reflection, on machines of either byte order.
func encode[T element](w io.Writer, buf []byte, x []T) error {
	for c := range slices.Chunk(x, len(buf)/binary.Size(T(0))) {
		n, err := binary.Encode(buf, binary.LittleEndian, c)
		if err != nil {
			return err
		}
		if _, err := w.Write(buf[:n]); err != nil {
			return err
		}
	}
	return nil
}

func decode[T element](r io.Reader, buf []byte, n int) ([]T, error) {
	size := binary.Size(T(0))
	x := make([]T, n)
	for c := range slices.Chunk(x, len(buf)/size) {
		b := buf[:len(c)*size]
		if _, err := io.ReadFull(r, b); err != nil {
			return nil, err
		}
		if _, err := binary.Decode(b, binary.LittleEndian, c); err != nil {
			return nil, err
		}
	}
	return x, nil
}
