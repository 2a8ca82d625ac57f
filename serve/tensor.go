package serve

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"

	"utvi/internal/answer"
)

// A tensor is an input of a request of the Open Inference Protocol, or an output.
type tensor struct {
	name     string
	datatype string
	shape    dims

	// The elements, row-major, in one of these.
	floats []float64
	ints   []int64
	texts  [][]byte
	bools  []bool
}

// widths are the bytes of an element; 0: it has a length of its own.
var widths = map[string]int{
	"BOOL": 1, "UINT8": 1, "UINT16": 2, "UINT32": 4, "UINT64": 8, "INT8": 1, "INT16": 2, "INT32": 4, "INT64": 8,
	"FP16": 2, "BF16": 2, "FP32": 4, "FP64": 8, "BYTES": 0,
}

// dims is a shape. It writes itself shortly, however long it is.
type dims []int64

func (d dims) String() string {
	if len(d) > mostDims {
		return fmt.Sprintf("%v… (%d dimensions)", []int64(d[:mostDims]), len(d))
	}
	return fmt.Sprint([]int64(d))
}

// mostDims is the most dimensions of a tensor.
const mostDims = 8

// memory is what n elements take.
func (t *tensor) memory(n int) int64 {
	switch t.datatype {
	case "BYTES":
		return 24 * int64(n)
	case "UINT64": // which may become texts
		return 64 * int64(n)
	case "BOOL":
		return int64(n)
	}
	return 8 * int64(n)
}

// elements is the number of elements that the shape has room for. It checks name, type
// and shape.
func (t *tensor) elements(limits Limits) (int, error) {
	if _, ok := widths[t.datatype]; !ok {
		return 0, failf(invalid, "tensor %.60q has the unknown datatype %.20q", t.name, t.datatype)
	}
	if len(t.shape) == 0 {
		return 0, failf(invalid, "tensor %.60q has no shape; its first dimension is the number of rows", t.name)
	}
	if len(t.shape) > mostDims {
		return 0, failf(invalid, "tensor %.60q has %d dimensions; the server allows %d", t.name, len(t.shape), mostDims)
	}
	n := int64(1)
	const most = 1 << 31
	for _, d := range t.shape {
		if d < 0 {
			return 0, failf(invalid, "tensor %.60q has the shape %s; a dimension cannot be negative", t.name, t.shape)
		}
		if d > most || n*max(d, 1) > most {
			return 0, failf(tooLarge, "tensor %.60q has the shape %s, which is too large", t.name, t.shape)
		}
		n *= d
	}
	if t.shape[0] > int64(limits.Rows) {
		return 0, failf(tooLarge, "the request has %d rows; the server allows %d", t.shape[0], limits.Rows)
	}
	return int(n), nil
}

var le = binary.LittleEndian

// rawFloats read an element of the types that become floats.
var rawFloats = map[string]func(b []byte) float64{
	"FP64": func(b []byte) float64 { return math.Float64frombits(le.Uint64(b)) },
	"FP32": func(b []byte) float64 { return float64(math.Float32frombits(le.Uint32(b))) },
	"BF16": func(b []byte) float64 { return float64(math.Float32frombits(uint32(le.Uint16(b)) << 16)) },
	"FP16": func(b []byte) float64 { return half(le.Uint16(b)) },
}

// rawInts read an element of the types whose numbers fit into int64.
var rawInts = map[string]func(b []byte) int64{
	"INT64":  func(b []byte) int64 { return int64(le.Uint64(b)) },
	"INT32":  func(b []byte) int64 { return int64(int32(le.Uint32(b))) },
	"INT16":  func(b []byte) int64 { return int64(int16(le.Uint16(b))) },
	"INT8":   func(b []byte) int64 { return int64(int8(b[0])) },
	"UINT32": func(b []byte) int64 { return int64(le.Uint32(b)) },
	"UINT16": func(b []byte) int64 { return int64(le.Uint16(b)) },
	"UINT8":  func(b []byte) int64 { return int64(b[0]) },
}

// readRaw reads n elements from bytes, little-endian.
func (t *tensor) readRaw(raw []byte, n int) error {
	width := widths[t.datatype]
	if t.datatype == "BYTES" {
		return t.readTexts(raw, n)
	}
	if len(raw) != n*width {
		return failf(invalid, "tensor %.60q has %d bytes; its shape %s of %s needs %d", t.name, len(raw), t.shape, t.datatype, n*width)
	}
	at := func(i int) []byte { return raw[i*width:] }
	if read, ok := rawFloats[t.datatype]; ok {
		t.floats = make([]float64, n)
		for i := range t.floats {
			t.floats[i] = read(at(i))
		}
		return nil
	}
	if read, ok := rawInts[t.datatype]; ok {
		t.ints = make([]int64, n)
		for i := range t.ints {
			t.ints[i] = read(at(i))
		}
		return nil
	}
	switch t.datatype {
	case "UINT64":
		t.unsigned(n, func(i int) uint64 { return le.Uint64(at(i)) })
	case "BOOL":
		t.bools = make([]bool, n)
		for i := range t.bools {
			t.bools[i] = raw[i] != 0
		}
	}
	return nil
}

// unsigned sets integers; those beyond int64 are identifiers, and all become texts.
func (t *tensor) unsigned(n int, at func(i int) uint64) {
	t.ints = make([]int64, n)
	for i := range t.ints {
		v := at(i)
		if v > math.MaxInt64 {
			t.ints = nil
			break
		}
		t.ints[i] = int64(v)
	}
	if t.ints == nil {
		t.texts = make([][]byte, n)
		for i := range t.texts {
			t.texts[i] = strconv.AppendUint(nil, at(i), 10)
		}
	}
}

// readTexts reads texts, each behind its length of four bytes.
func (t *tensor) readTexts(raw []byte, n int) error {
	if n > len(raw)/4 {
		return failf(invalid, "tensor %.60q has %d bytes, too few for %d texts", t.name, len(raw), n)
	}
	t.texts = make([][]byte, n)
	for i := range t.texts {
		if len(raw) < 4 || uint64(binary.LittleEndian.Uint32(raw)) > uint64(len(raw)-4) {
			return failf(invalid, "tensor %.60q ends within text %d of %d", t.name, i+1, n)
		}
		size := int(binary.LittleEndian.Uint32(raw))
		t.texts[i], raw = raw[4:4+size], raw[4+size:]
	}
	if len(raw) > 0 {
		return failf(invalid, "tensor %.60q has %d bytes behind its last text", t.name, len(raw))
	}
	return nil
}

// half is a number of 16 bits.
func half(b uint16) float64 {
	sign := 1.0
	exponent := int(b >> 10 & 31)
	fraction := float64(b & 1023)
	if b>>15 == 1 {
		sign = -1
	}
	switch exponent {
	case 0:
		return sign * math.Ldexp(fraction, -24)
	case 31:
		if fraction != 0 {
			return math.NaN()
		}
		return math.Inf(int(sign))
	}
	return sign * math.Ldexp(1024+fraction, exponent-25)
}

// appendRaw appends the elements as bytes.
func (t *tensor) appendRaw(out []byte) []byte {
	for _, v := range t.floats {
		out = binary.LittleEndian.AppendUint64(out, math.Float64bits(v))
	}
	for _, s := range t.texts {
		out = append(binary.LittleEndian.AppendUint32(out, uint32(len(s))), s...)
	}
	for _, b := range t.bools {
		if b {
			out = append(out, 1)
		} else {
			out = append(out, 0)
		}
	}
	return out
}

// rawSize is how many bytes appendRaw appends.
func (t *tensor) rawSize() int {
	n := 8*len(t.floats) + len(t.bools)
	for _, s := range t.texts {
		n += 4 + len(s)
	}
	return n
}

// appendJSON appends the elements as a list.
func (t *tensor) appendJSON(out []byte) []byte {
	out = append(out, '[')
	comma := func(i int) {
		if i > 0 {
			out = append(out, ',')
		}
	}
	for i, v := range t.floats {
		comma(i)
		out = answer.AppendFloat(out, v)
	}
	for i, s := range t.texts {
		comma(i)
		out = append(out, answer.Quote(string(s))...)
	}
	for i, b := range t.bools {
		comma(i)
		out = strconv.AppendBool(out, b)
	}
	return append(out, ']')
}
