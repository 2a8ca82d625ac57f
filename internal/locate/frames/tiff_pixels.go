package frames

import (
	"bytes"
	"compress/zlib"
	"errors"
	"fmt"
	"io"

	"golang.org/x/image/tiff/lzw"
)

// read stores the pixels of a page.
func (p *page) read(f io.ReaderAt, dst []float32, s *scratch, size int64) error {
	row := p.tileWidth * p.bytes
	for i, c := range p.chunks {
		x := i % p.across() * p.tileWidth
		y := i / p.across() * p.tileHeight
		rows := p.tileHeight
		if !p.tiled {
			rows = min(rows, p.height-y)
		}
		b, err := p.unpack(f, c, row*rows, s, size)
		if err != nil {
			return err
		}
		if p.compression != uncompressed || p.predictor != 1 {
			p.undoPredictor(b, row)
		}
		wide := min(p.tileWidth, p.width-x)
		for r := range min(rows, p.height-y) {
			if err := p.decode(dst[(y+r)*p.width+x:][:wide], b[r*row:]); err != nil {
				return err
			}
		}
	}
	return nil
}

// unpack returns the n bytes of a chunk.
func (p *page) unpack(f io.ReaderAt, c chunk, n int, s *scratch, size int64) ([]byte, error) {
	if c.at+c.bytes > size {
		return nil, errTruncated
	}
	if p.compression == uncompressed {
		if c.bytes < int64(n) {
			return nil, fmt.Errorf("the strip or tile at byte %d has too few pixels", c.at)
		}
		b := buffer(&s.pixels, n)
		return b, readFull(f, b, c.at)
	}
	raw := buffer(&s.raw, int(c.bytes))
	if err := readFull(f, raw, c.at); err != nil {
		return nil, err
	}
	b := buffer(&s.pixels, n)
	var err error
	switch p.compression {
	case packBits:
		err = unpackBits(b, raw)
	case lzwPacked:
		r := lzw.NewReader(bytes.NewReader(raw), lzw.MSB, 8)
		_, err = io.ReadFull(r, b)
		r.Close()
	default:
		var r io.ReadCloser
		r, err = zlib.NewReader(bytes.NewReader(raw))
		if err == nil {
			_, err = io.ReadFull(r, b)
			r.Close()
		}
	}
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("the strip or tile at byte %d has too few pixels", c.at)
	}
	if err != nil {
		return nil, fmt.Errorf("the strip or tile at byte %d cannot be decompressed", c.at)
	}
	return b, nil
}

// unpackBits undoes the run lengths of Apple's PackBits.
func unpackBits(dst, src []byte) error {
	for len(dst) > 0 {
		if len(src) < 2 {
			return io.ErrUnexpectedEOF
		}
		n := int(int8(src[0]))
		src = src[1:]
		switch {
		case n >= 0:
			n = min(n+1, len(dst))
			if len(src) < n {
				return io.ErrUnexpectedEOF
			}
			copy(dst[:n], src)
			dst, src = dst[n:], src[n:]
		case n != -128:
			n = min(1-n, len(dst))
			for i := range n {
				dst[i] = src[0]
			}
			dst, src = dst[n:], src[1:]
		}
	}
	return nil
}

// undoPredictor turns differences along rows into pixels.
func (p *page) undoPredictor(b []byte, row int) {
	if p.predictor == 1 {
		return
	}
	for ; len(b) >= row; b = b[row:] {
		if p.predictor == 3 {
			p.undoFloats(b[:row])
			continue
		}
		p.undoIntegers(b[:row])
	}
}

func (p *page) undoIntegers(b []byte) {
	sum := uint64(0)
	for ; len(b) >= p.bytes; b = b[p.bytes:] {
		sum += p.bits(b)
		switch p.bytes {
		case 1:
			b[0] = byte(sum)
		case 2:
			p.order.PutUint16(b, uint16(sum))
		case 4:
			p.order.PutUint32(b, uint32(sum))
		default:
			p.order.PutUint64(b, sum)
		}
	}
}

// undoFloats: the bytes of a row are stored plane by plane, the highest first, as differences.
func (p *page) undoFloats(b []byte) {
	for i := 1; i < len(b); i++ {
		b[i] += b[i-1]
	}
	planes := bytes.Clone(b)
	n := len(b) / p.bytes
	for i := range n {
		for k := range p.bytes {
			to := k
			if p.order.String() == "LittleEndian" {
				to = p.bytes - 1 - k
			}
			b[i*p.bytes+to] = planes[k*n+i]
		}
	}
}
