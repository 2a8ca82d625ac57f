package frames

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// A number is how pixels are stored.
type number struct {
	kind  byte // u: unsigned, i: signed, f: float
	bytes int
	order binary.ByteOrder
}

func (n number) check() error {
	ok := n.bytes == 1 || n.bytes == 2 || n.bytes == 4 || n.bytes == 8
	if n.kind == 'f' {
		ok = n.bytes == 4 || n.bytes == 8
	}
	if !ok {
		return fmt.Errorf("its pixels have %d bits; unsigned and signed integers and floats of 8 to 64 bits are read", 8*n.bytes)
	}
	return nil
}

// decode makes float32 of the numbers in b.
func (n number) decode(dst []float32, b []byte) error {
	switch {
	case n.kind == 'f':
		return n.floats(dst, b)
	case n.kind == 'u' && n.bytes == 1:
		for i := range dst {
			dst[i] = float32(b[i])
		}
	case n.kind == 'u' && n.bytes == 2 && n.order == binary.LittleEndian:
		for i := range dst {
			dst[i] = float32(uint16(b[2*i]) | uint16(b[2*i+1])<<8)
		}
	default:
		for i := range dst {
			x := n.bits(b[i*n.bytes:])
			if n.kind == 'u' {
				dst[i] = float32(x)
				continue
			}
			unused := 64 - 8*n.bytes
			dst[i] = float32(int64(x<<unused) >> unused)
		}
	}
	return nil
}

func (n number) bits(b []byte) uint64 {
	switch n.bytes {
	case 1:
		return uint64(b[0])
	case 2:
		return uint64(n.order.Uint16(b))
	case 4:
		return uint64(n.order.Uint32(b))
	}
	return n.order.Uint64(b)
}

func (n number) floats(dst []float32, b []byte) error {
	for i := range dst {
		x := n.bits(b[i*n.bytes:])
		if n.bytes == 4 {
			dst[i] = math.Float32frombits(uint32(x))
		} else {
			dst[i] = float32(math.Float64frombits(x))
		}
		if v := float64(dst[i]); math.IsNaN(v) || math.IsInf(v, 0) {
			return errors.New("a pixel is not a finite number")
		}
	}
	return nil
}

// A plain layout has its frames one after the other, without gaps.
type plain struct {
	width, height, count int
	start                int64
	number
}

func (p *plain) frames() int               { return p.count }
func (p *plain) size() (width, height int) { return p.width, p.height }

// check compares what the header promises with the size of the file.
func (p *plain) check(size int64) error {
	if err := checkSize(p.width, p.height); err != nil {
		return err
	}
	if p.count < 1 {
		return errors.New("there are no frames in it")
	}
	if err := p.number.check(); err != nil {
		return err
	}
	whole := int((size - p.start) / (int64(p.width) * int64(p.height) * int64(p.bytes)))
	if whole < p.count {
		err := &truncatedError{whole, p.count}
		p.count = whole
		return err
	}
	return nil
}

// A truncatedError is that of a file that ends within a frame.
type truncatedError struct {
	whole    int // frames before the end
	promised int // 0: not known
}

func (e *truncatedError) Error() string {
	what := fmt.Sprintf("the file is truncated: %d of %d frames are whole", e.whole, e.promised)
	if e.promised == 0 {
		what = fmt.Sprintf("the file is truncated: it ends after %d whole frames", e.whole)
	}
	if e.whole > 0 {
		what += fmt.Sprintf("; --frames 1-%d reads these", e.whole)
	}
	return what
}
