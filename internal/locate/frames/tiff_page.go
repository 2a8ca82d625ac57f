package frames

import (
	"errors"
	"fmt"
	"io"
)

// A page is what a directory of a TIFF file says.
type page struct {
	number
	width, height int
	compression   int
	predictor     int
	samples       int // numbers of a pixel
	fillOrder     int
	subfile       int
	tileWidth     int // of a chunk: a strip is as wide as the page
	tileHeight    int
	tiled         bool
	chunks        []chunk
	description   []byte
	entries       []byte
	values        []byte
}

// A chunk is a strip or a tile.
type chunk struct{ at, bytes int64 }

const (
	uncompressed = 1
	lzwPacked    = 5
	deflated     = 8
	packBits     = 32773
	oldDeflated  = 32946
)

// The tags of TIFF 6.0 that matter.
const (
	tagSubfile      = 254
	tagWidth        = 256
	tagHeight       = 257
	tagBits         = 258
	tagCompression  = 259
	tagFillOrder    = 266
	tagDescription  = 270
	tagStripOffsets = 273
	tagSamples      = 277
	tagRowsPerStrip = 278
	tagStripBytes   = 279
	tagPredictor    = 317
	tagTileWidth    = 322
	tagTileHeight   = 323
	tagTileOffsets  = 324
	tagTileBytes    = 325
	tagSampleFormat = 339
)

// typeBytes are the sizes of TIFF's types of values.
var typeBytes = [...]int{1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 1, 7: 1, 8: 2, 9: 4, 10: 8, 11: 4, 12: 8, 13: 4, 16: 8, 17: 8, 18: 8}

// An entry is one line of a directory.
type entry struct {
	tag, kind int
	count     int64
	at        int64 // of the values
}

// readPage reads a directory into p, whose memory it uses again, and returns where the next one
// is; 0 if there is none.
func (h header) readPage(f io.ReaderAt, at int64, p *page) (next int64, err error) {
	*p = page{compression: uncompressed, predictor: 1, samples: 1, fillOrder: 1,
		chunks: p.chunks[:0], description: p.description[:0], entries: p.entries, values: p.values}
	p.number = number{kind: 'u', order: h.order}
	head, line := int64(2), int64(12)
	if h.big {
		head, line = 8, 20
	}
	b := buffer(&p.entries, int(head))
	if err := readFull(f, b, at); err != nil {
		return 0, err
	}
	n := int64(h.order.Uint16(b))
	if h.big {
		n = int64(h.order.Uint64(b))
	}
	if n < 1 || n > 1<<12 {
		return 0, errors.New("its directory is damaged")
	}
	b = buffer(&p.entries, int(n*line)+h.word())
	if err := readFull(f, b, at+head); err != nil {
		return 0, err
	}
	var strips, bytes entry
	for i := range n {
		e := h.entry(b[i*line:][:line], at+head+i*line)
		switch e.tag {
		case tagStripOffsets, tagTileOffsets:
			strips = e
		case tagStripBytes, tagTileBytes:
			bytes = e
		default:
			if err := h.set(f, p, e); err != nil {
				return 0, err
			}
		}
	}
	next = h.offset(b[n*line:])
	if next < 0 {
		return 0, errors.New("its directory is damaged")
	}
	return next, h.place(f, p, strips, bytes)
}

// word is the size of an offset.
func (h header) word() int {
	if h.big {
		return 8
	}
	return 4
}

func (h header) offset(b []byte) int64 {
	if h.big {
		return int64(h.order.Uint64(b))
	}
	return int64(h.order.Uint32(b))
}

// entry reads a line that stands at a place of the file.
func (h header) entry(b []byte, at int64) entry {
	e := entry{tag: int(h.order.Uint16(b)), kind: int(h.order.Uint16(b[2:])), count: h.offset(b[4:])}
	inline := b[4+h.word():]
	e.at = at + int64(4+h.word())
	if e.bytes() > int64(h.word()) {
		e.at = h.offset(inline)
	}
	return e
}

func (e entry) bytes() int64 {
	if e.kind >= len(typeBytes) || e.count < 0 || e.count > 1<<40 {
		return 0
	}
	return e.count * int64(typeBytes[e.kind])
}

// integers calls f with the first values of an entry, at most n.
func (h header) integers(f io.ReaderAt, p *page, e entry, n int, each func(i int, v int64)) error {
	size := 0
	if e.kind < len(typeBytes) {
		size = typeBytes[e.kind]
	}
	whole := e.kind == 1 || e.kind == 3 || e.kind == 4 || e.kind == 13 || e.kind == 16 || e.kind == 18
	if !whole || e.count < 1 {
		return fmt.Errorf("its directory is damaged at tag %d", e.tag)
	}
	n = int(min(int64(n), e.count))
	b := buffer(&p.values, n*size)
	if err := readFull(f, b, e.at); err != nil {
		return err
	}
	for i := range n {
		v := number{'u', size, h.order}.bits(b[i*size:])
		if v > 1<<60 {
			return fmt.Errorf("its directory is damaged at tag %d", e.tag)
		}
		each(i, int64(v))
	}
	return nil
}

// set takes a single value into the page.
func (h header) set(f io.ReaderAt, p *page, e entry) error {
	if e.tag == tagDescription {
		b := p.description
		if cap(b) == 0 {
			b = make([]byte, 0, 512)
		}
		p.description = b[:min(e.bytes(), int64(cap(b)))]
		return readFull(f, p.description, e.at)
	}
	var into *int
	format, bits := 0, 0
	switch e.tag {
	case tagSubfile:
		into = &p.subfile
	case tagWidth:
		into = &p.width
	case tagHeight:
		into = &p.height
	case tagCompression:
		into = &p.compression
	case tagFillOrder:
		into = &p.fillOrder
	case tagSamples:
		into = &p.samples
	case tagPredictor:
		into = &p.predictor
	case tagRowsPerStrip, tagTileHeight:
		into = &p.tileHeight
	case tagTileWidth:
		into = &p.tileWidth
		p.tiled = true
	case tagBits:
		into = &bits
	case tagSampleFormat:
		into = &format
	default:
		return nil
	}
	err := h.integers(f, p, e, 1, func(_ int, v int64) { *into = int(min(v, 1<<32)) })
	if bits > 0 {
		p.bytes = bits / 8
		if bits%8 != 0 {
			p.bytes = 0
		}
	}
	if format > 0 {
		p.kind = "?uif??"[min(format, 5)]
	}
	return err
}

// place finds the strips or tiles.
func (h header) place(f io.ReaderAt, p *page, strips, bytes entry) error {
	if !p.tiled {
		p.tileWidth = p.width
		if p.tileHeight < 1 || p.tileHeight > p.height {
			p.tileHeight = p.height
		}
	}
	if checkSize(p.width, p.height) != nil || checkSize(p.tileWidth, p.tileHeight) != nil || strips.count < 1 {
		return errors.New("its directory is damaged")
	}
	n := p.across() * p.down()
	if strips.count < int64(n) {
		return fmt.Errorf("it has %d strips or tiles; %d×%d pixels need %d", strips.count, p.width, p.height, n)
	}
	err := h.integers(f, p, strips, n, func(_ int, v int64) { p.chunks = append(p.chunks, chunk{at: v}) })
	if err != nil {
		return err
	}
	whole := int64(p.tileWidth) * int64(p.tileHeight) * int64(p.bytes)
	if bytes.count < int64(n) { // some writers leave it out where it follows from the size
		for i := range p.chunks {
			p.chunks[i].bytes = whole
			if !p.tiled {
				p.chunks[i].bytes = min(whole, int64(p.height-i*p.tileHeight)*int64(p.width)*int64(p.bytes))
			}
		}
		return nil
	}
	return h.integers(f, p, bytes, n, func(i int, v int64) { p.chunks[i].bytes = v })
}

func (p *page) across() int { return (p.width + p.tileWidth - 1) / p.tileWidth }
func (p *page) down() int   { return (p.height + p.tileHeight - 1) / p.tileHeight }

// end is where the pixels end in the file.
func (p *page) end() int64 {
	end := int64(0)
	for _, c := range p.chunks {
		end = max(end, c.at+c.bytes)
	}
	return end
}

// check says what cannot be read.
func (p *page) check() error {
	if p.samples != 1 {
		return fmt.Errorf("it is a colour image with %d numbers a pixel; a frame has one", p.samples)
	}
	switch p.compression {
	case uncompressed, lzwPacked, deflated, oldDeflated, packBits:
	default:
		return fmt.Errorf("its compression, number %d, is not read; none, LZW, deflate and PackBits are (tiffcp -c none makes such a file)", p.compression)
	}
	if p.kind == '?' {
		return errors.New("its pixels are not plain integers or floats")
	}
	if p.predictor < 1 || p.predictor > 3 || p.predictor == 3 && p.kind != 'f' {
		return fmt.Errorf("its predictor, number %d, is not known", p.predictor)
	}
	if p.fillOrder != 1 && p.compression != uncompressed {
		return errors.New("its bits are in reversed order (FillOrder 2), which is not read")
	}
	return p.number.check()
}
