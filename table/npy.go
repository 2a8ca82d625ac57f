package table

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

const npyMagic = "\x93NUMPY"

// An array is the header of a .npy file: a matrix, or a vector, which is one column.
type array struct {
	kind    string // of NumPy, such as f8, without the byte order
	order   binary.ByteOrder
	fortran bool
	shape   []int
	start   int64 // of the numbers, in bytes
}

func (a *array) rows() int { return a.shape[0] }
func (a *array) cols() int {
	if len(a.shape) == 1 {
		return 1
	}
	return a.shape[1]
}
func (a *array) size() int { return int(a.kind[1] - '0') } // of a number, in bytes

// columns names the columns: the vector's own name, the matrix's with numbers.
func (a *array) columns(name string) []string {
	if len(a.shape) == 1 {
		return []string{name}
	}
	return numbered(name, a.cols())
}

var npyFields = map[string]*regexp.Regexp{
	"descr":         regexp.MustCompile(`'descr': *'([^']*)'`),
	"fortran_order": regexp.MustCompile(`'fortran_order': *(True|False)`),
	"shape":         regexp.MustCompile(`'shape': *\(([0-9, ]*)\)`),
}

// readArray reads the header of a .npy file and leaves r at the numbers. (npyio,
// which the tests write with, trusts the sizes in a header.)
func readArray(r io.Reader) (*array, error) {
	var fixed [10]byte
	if _, err := io.ReadFull(r, fixed[:]); err != nil {
		return nil, errBreaksOff
	}
	if string(fixed[:6]) != npyMagic {
		return nil, errors.New("not a NumPy array")
	}
	length := int(binary.LittleEndian.Uint16(fixed[8:]))
	if fixed[6] > 1 {
		var high [2]byte
		if _, err := io.ReadFull(r, high[:]); err != nil {
			return nil, errBreaksOff
		}
		length |= int(binary.LittleEndian.Uint16(high[:])) << 16
	}
	if length > 1<<20 {
		return nil, errDamagedHeader
	}
	text := make([]byte, length)
	if _, err := io.ReadFull(r, text); err != nil {
		return nil, errBreaksOff
	}
	a, err := parseArray(string(text))
	if err == nil {
		a.start = int64(len(fixed) + length)
		if fixed[6] > 1 {
			a.start += 2
		}
	}
	return a, err
}

var errBreaksOff = errors.New("the file is truncated")

// errDamagedHeader is what is wrong with a header that cannot be read.
var errDamagedHeader = errors.New("the header is damaged")

// parseArray reads the header of an array, a Python dictionary.
func parseArray(header string) (*array, error) {
	field := map[string]string{}
	for name, re := range npyFields {
		m := re.FindStringSubmatch(header)
		switch {
		case m != nil:
			field[name] = m[1]
		case name == "descr" && strings.Contains(header, "'descr'"):
			return nil, errors.New("the array holds records; plain numbers are needed, one array for each column")
		default:
			return nil, errDamagedHeader
		}
	}
	a := &array{order: binary.LittleEndian, fortran: field["fortran_order"] == "True"}
	if err := a.parseShape(field["shape"]); err != nil {
		return nil, err
	}
	descr := field["descr"]
	if strings.HasPrefix(descr, ">") {
		a.order = binary.BigEndian
	}
	a.kind = strings.TrimLeft(descr, "<>|=")
	if _, ok := decoders[a.kind]; !ok {
		return nil, fmt.Errorf("the array holds %s; numbers are needed: float64, float32, an integer type or bool", shownType(descr))
	}
	return a, nil
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

// parseShape reads the shape of a matrix or a vector.
func (a *array) parseShape(text string) error {
	for s := range strings.SplitSeq(text, ",") {
		s = strings.TrimSpace(s)
		if s == "" {
			continue
		}
		n, err := strconv.Atoi(s) // what an int cannot hold, no memory can
		if err != nil {
			return errDamagedHeader
		}
		a.shape = append(a.shape, n)
	}
	if len(a.shape) != 1 && len(a.shape) != 2 {
		return fmt.Errorf("the array has the shape (%.60s); two dimensions are needed, rows and columns", text)
	}
	if a.cols() < 1 || a.cols() > 1<<20 || a.rows() > math.MaxInt/2/(8*a.cols()) {
		return fmt.Errorf("the array has the shape (%.60s)", text)
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
