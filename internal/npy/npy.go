// Package npy reads the headers and the numbers of NumPy arrays in .npy files.
package npy

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// Magic is how a .npy file begins.
const Magic = "\x93NUMPY"

// A Header says what an array holds.
type Header struct {
	Kind    string // of NumPy, such as f8, without the byte order
	Fortran bool   // the first axis runs fastest
	Shape   []int
	Written string // the shape as the file has it
	Start   int64  // of the numbers, in bytes

	order  binary.ByteOrder
	decode func(o binary.ByteOrder, b []byte) float64
}

// Size is that of a number, in bytes.
func (h *Header) Size() int { return int(h.Kind[1] - '0') }

// Number is the number whose bytes begin b.
func (h *Header) Number(b []byte) float64 { return h.decode(h.order, b) }

var fields = map[string]*regexp.Regexp{
	"descr":         regexp.MustCompile(`'descr': *'([^']*)'`),
	"fortran_order": regexp.MustCompile(`'fortran_order': *(True|False)`),
	"shape":         regexp.MustCompile(`'shape': *\(([0-9, ]*)\)`),
}

// Read reads the header of a .npy file and leaves r at the numbers. (npyio,
// which the tests write with, trusts the sizes in a header.)
func Read(r io.Reader) (*Header, error) {
	var fixed [10]byte
	if _, err := io.ReadFull(r, fixed[:]); err != nil {
		return nil, ErrTruncated
	}
	if string(fixed[:6]) != Magic {
		return nil, errors.New("not a NumPy array")
	}
	length := int(binary.LittleEndian.Uint16(fixed[8:]))
	if fixed[6] > 1 {
		var high [2]byte
		if _, err := io.ReadFull(r, high[:]); err != nil {
			return nil, ErrTruncated
		}
		length |= int(binary.LittleEndian.Uint16(high[:])) << 16
	}
	if length > 1<<20 {
		return nil, errDamaged
	}
	text := make([]byte, length)
	if _, err := io.ReadFull(r, text); err != nil {
		return nil, ErrTruncated
	}
	h, err := parse(string(text))
	if err == nil {
		h.Start = int64(len(fixed) + length)
		if fixed[6] > 1 {
			h.Start += 2
		}
	}
	return h, err
}

// ErrTruncated is the error about a file that ends too early.
var ErrTruncated = errors.New("the file is truncated")

// errDamaged is what is wrong with a header that cannot be read.
var errDamaged = errors.New("the header is damaged")

// parse reads the header of an array, a Python dictionary.
func parse(header string) (*Header, error) {
	field := map[string]string{}
	for name, re := range fields {
		m := re.FindStringSubmatch(header)
		switch {
		case m != nil:
			field[name] = m[1]
		case name == "descr" && strings.Contains(header, "'descr'"):
			return nil, errors.New("the array holds records; plain numbers are needed, one array for each column")
		default:
			return nil, errDamaged
		}
	}
	h := &Header{order: binary.LittleEndian, Fortran: field["fortran_order"] == "True", Written: field["shape"]}
	if err := h.parseShape(); err != nil {
		return nil, err
	}
	descr := field["descr"]
	if strings.HasPrefix(descr, ">") {
		h.order = binary.BigEndian
	}
	h.Kind = strings.TrimLeft(descr, "<>|=")
	h.decode = decoders[h.Kind]
	if h.decode == nil {
		return nil, fmt.Errorf("the array holds %s; numbers are needed: float64, float32, an integer type or bool", shownType(descr))
	}
	return h, nil
}

// shownType is the type of an array for a message: as it stands if it can be read.
func shownType(descr string) string {
	const longest = 40
	unreadable := func(r rune) bool { return r < ' ' || r > '~' }
	if len(descr) > longest || strings.ContainsFunc(descr, unreadable) {
		return fmt.Sprintf("%.*q", longest, descr)
	}
	return descr
}

// parseShape reads the sides of the array.
func (h *Header) parseShape() error {
	for s := range strings.SplitSeq(h.Written, ",") {
		s = strings.TrimSpace(s)
		if s == "" {
			continue
		}
		n, err := strconv.Atoi(s) // what an int cannot hold, no memory can
		if err != nil {
			return errDamaged
		}
		h.Shape = append(h.Shape, n)
	}
	return nil
}

// decoders read one number.
var decoders = map[string]func(o binary.ByteOrder, b []byte) float64{
	"f8": func(o binary.ByteOrder, b []byte) float64 { return math.Float64frombits(o.Uint64(b)) },
	"f4": func(o binary.ByteOrder, b []byte) float64 { return float64(math.Float32frombits(o.Uint32(b))) },
	"f2": func(o binary.ByteOrder, b []byte) float64 { return half(o.Uint16(b)) },
	"i8": func(o binary.ByteOrder, b []byte) float64 { return float64(int64(o.Uint64(b))) },
	"i4": func(o binary.ByteOrder, b []byte) float64 { return float64(int32(o.Uint32(b))) },
	"i2": func(o binary.ByteOrder, b []byte) float64 { return float64(int16(o.Uint16(b))) },
	"i1": func(o binary.ByteOrder, b []byte) float64 { return float64(int8(b[0])) },
	"u8": func(o binary.ByteOrder, b []byte) float64 { return float64(o.Uint64(b)) },
	"u4": func(o binary.ByteOrder, b []byte) float64 { return float64(o.Uint32(b)) },
	"u2": func(o binary.ByteOrder, b []byte) float64 { return float64(o.Uint16(b)) },
	"u1": func(o binary.ByteOrder, b []byte) float64 { return float64(b[0]) },
	"b1": func(o binary.ByteOrder, b []byte) float64 { return float64(b[0]) },
}

// half is a float16: 1 bit of sign, 5 of exponent, 10 of mantissa.
func half(b uint16) float64 {
	exp, frac := int(b>>10&31), float64(b&1023)
	v := math.Ldexp(1024+frac, exp-25)
	switch {
	case exp == 0:
		v = math.Ldexp(frac, -24)
	case exp == 31 && frac == 0:
		v = math.Inf(1)
	case exp == 31:
		return math.NaN()
	}
	if b>>15 == 1 {
		return -v
	}
	return v
}
