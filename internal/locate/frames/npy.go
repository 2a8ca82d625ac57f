package frames

import (
	"encoding/binary"
	"errors"
	"io"
	"regexp"
	"strconv"
	"strings"
)

var (
	npyType    = regexp.MustCompile(`'descr': *'([^']*)'`)
	npyFortran = regexp.MustCompile(`'fortran_order': *True`)
	npyShape   = regexp.MustCompile(`'shape': *\(([0-9, ]*)\)`)
)

// openNpy reads the header of a NumPy array: frames × height × width, or one frame.
func openNpy(f io.ReaderAt, size int64) (layout, error) {
	var fixed [12]byte
	if err := readFull(f, fixed[:], 0); err != nil {
		return nil, err
	}
	if string(fixed[:6]) != "\x93NUMPY" {
		return nil, errors.New("it is not a NumPy array, in spite of its name")
	}
	start := int64(10)
	length := int64(binary.LittleEndian.Uint16(fixed[8:]))
	if fixed[6] > 1 {
		start = 12
		length = int64(binary.LittleEndian.Uint32(fixed[8:]))
	}
	if length > 1<<20 {
		return nil, errors.New("the header is damaged")
	}
	text := make([]byte, length)
	if err := readFull(f, text, start); err != nil {
		return nil, err
	}
	kind, shape := npyType.FindSubmatch(text), npyShape.FindSubmatch(text)
	if kind == nil || shape == nil {
		return nil, errors.New("the header is damaged, or the array holds records")
	}
	if npyFortran.Match(text) {
		return nil, errors.New("the array is in Fortran order; numpy.ascontiguousarray turns it")
	}
	n, err := namedNumber(string(kind[1]))
	if err != nil {
		return nil, err
	}
	var sides []int
	for _, s := range strings.FieldsFunc(string(shape[1]), func(r rune) bool { return r == ',' || r == ' ' }) {
		side, err := strconv.Atoi(s)
		if err != nil {
			return nil, errors.New("the header is damaged")
		}
		sides = append(sides, side)
	}
	if len(sides) == 2 {
		sides = append([]int{1}, sides...)
	}
	if len(sides) != 3 {
		return nil, errors.New("the array does not have three axes: frame, row, column")
	}
	p := &plain{width: sides[2], height: sides[1], count: sides[0], start: start + length, number: n}
	return p, p.check(size)
}
