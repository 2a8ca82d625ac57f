package onnx

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path"
	"strconv"
)

// maxElements bounds a tensor, so that products of its sizes do not overflow.
const maxElements = 1 << 31

// Len returns the number of elements.
func (t *Tensor) Len() (int, error) {
	n := int64(1)
	for _, d := range t.Dims {
		if d < 0 || d > 0 && n > maxElements/d {
			return 0, fmt.Errorf("the tensor %.60q has the size %v; at most %d elements are allowed", t.Name, t.Dims, maxElements)
		}
		n *= d
	}
	return int(n), nil
}

// widths are the sizes of elements in bytes.
var widths = map[Elem]int{Float: 4, Uint8: 1, Int8: 1, Uint16: 2, Int16: 2, Int32: 4, Int64: 8, Bool: 1, Float16: 2, Double: 8, Uint32: 4, Uint64: 8, BFloat16: 2}

// Float64s returns the elements of a tensor of numbers. Data outside of the file are read
// from beside, the folder of the file; nil refuses them. Sizes are checked before memory
// is taken.
func (t *Tensor) Float64s(beside fs.FS) ([]float64, error) {
	n, err := t.Len()
	if err != nil {
		return nil, err
	}
	width, ok := widths[t.Elem]
	if !ok {
		return nil, fmt.Errorf("the tensor %.60q does not hold numbers of a known type", t.Name)
	}
	raw := t.Raw
	if t.Outside {
		raw, err = t.outside(beside, n*width)
		if err != nil {
			return nil, fmt.Errorf("the tensor %.60q: %w", t.Name, err)
		}
	}
	if raw != nil {
		if len(raw) != n*width {
			return nil, fmt.Errorf("the tensor %.60q has %d bytes; its size %v needs %d", t.Name, len(raw), t.Dims, n*width)
		}
		v := make([]float64, n)
		for i := range v {
			v[i] = number(t.Elem, raw[i*width:])
		}
		return v, nil
	}
	var have int
	var at func(i int) float64
	switch t.Elem {
	case Float:
		have, at = len(t.Floats), func(i int) float64 { return float64(t.Floats[i]) }
	case Double:
		have, at = len(t.Doubles), func(i int) float64 { return t.Doubles[i] }
	case Int64:
		have, at = len(t.Int64s), func(i int) float64 { return float64(t.Int64s[i]) }
	case Uint32, Uint64:
		have, at = len(t.Uint64s), func(i int) float64 { return float64(t.Uint64s[i]) }
	default:
		have, at = len(t.Int32s), func(i int) float64 {
			var b [4]byte
			binary.LittleEndian.PutUint32(b[:], uint32(t.Int32s[i]))
			return number(t.Elem, b[:])
		}
	}
	if have != n {
		return nil, fmt.Errorf("the tensor %.60q has %d elements; its size %v needs %d", t.Name, have, t.Dims, n)
	}
	v := make([]float64, n)
	for i := range v {
		v[i] = at(i)
	}
	return v, nil
}

// number is one element.
func number(e Elem, b []byte) float64 {
	le := binary.LittleEndian
	switch e {
	case Float:
		return float64(math.Float32frombits(le.Uint32(b)))
	case Double:
		return math.Float64frombits(le.Uint64(b))
	case Float16:
		return half(le.Uint16(b))
	case BFloat16:
		return float64(math.Float32frombits(uint32(le.Uint16(b)) << 16))
	case Int8:
		return float64(int8(b[0]))
	case Uint8, Bool:
		return float64(b[0])
	case Int16:
		return float64(int16(le.Uint16(b)))
	case Uint16:
		return float64(le.Uint16(b))
	case Int32:
		return float64(int32(le.Uint32(b)))
	case Uint32:
		return float64(le.Uint32(b))
	case Uint64:
		return float64(le.Uint64(b))
	}
	return float64(int64(le.Uint64(b)))
}

// half is a number of 16 bits.
func half(b uint16) float64 {
	sign := 1.0
	exponent := int(b >> 10 & 31)
	fraction := float64(b & 1023)
	if b>>15 != 0 {
		sign = -1
	}
	switch {
	case exponent == 31 && fraction != 0:
		return math.NaN()
	case exponent == 31:
		return sign * math.Inf(1)
	case exponent == 0:
		return sign * math.Ldexp(fraction, -24)
	}
	return sign * math.Ldexp(1024+fraction, exponent-25)
}

// outside reads size bytes from a file beside the model.
func (t *Tensor) outside(beside fs.FS, size int) ([]byte, error) {
	name, offset, err := t.location(size)
	if beside == nil {
		return nil, errors.New("the data lie in another file, which cannot be read here")
	}
	if err != nil {
		return nil, err
	}
	f, err := beside.Open(name)
	if reason, ok := errors.AsType[*fs.PathError](err); ok {
		return nil, fmt.Errorf("cannot read %s, which holds its data: %w", name, reason.Err)
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size()-int64(size) < offset {
		return nil, fmt.Errorf("the file %s has %d bytes; %d from byte %d are needed", name, info.Size(), size, offset)
	}
	if _, err := io.CopyN(io.Discard, f, offset); err != nil {
		return nil, err
	}
	b := make([]byte, size)
	_, err = io.ReadFull(f, b)
	return b, err
}

// location is where size bytes lie outside: a file beside the model, and the place in it.
func (t *Tensor) location(size int) (name string, offset int64, err error) {
	entry := map[string]string{}
	for _, x := range t.External {
		entry[x.Key] = x.Value
	}
	name = entry["location"]
	if !fs.ValidPath(name) || path.Base(name) != name {
		return "", 0, fmt.Errorf("the data lie in %.80q; only a file beside the model is read", name)
	}
	length := int64(size)
	for key, to := range map[string]*int64{"offset": &offset, "length": &length} {
		if text := entry[key]; text != "" {
			*to, err = strconv.ParseInt(text, 10, 64)
			if err != nil || *to < 0 {
				return "", 0, fmt.Errorf("the %s %.40q is not a number of bytes", key, text)
			}
		}
	}
	if length != int64(size) {
		return "", 0, fmt.Errorf("%d bytes lie outside; the size needs %d", length, size)
	}
	return name, offset, nil
}
