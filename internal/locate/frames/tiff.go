package frames

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
)

// A tiff is a file of pages, each of which is a frame.
type tiff struct {
	header
	width, height int
	pages         []int64 // where the directory of each page is
}

// A header is the begin of a TIFF file, and what depends on it.
type header struct {
	order binary.ByteOrder
	big   bool
	size  int64 // of the file
}

func (t *tiff) frames() int               { return len(t.pages) }
func (t *tiff) size() (width, height int) { return t.width, t.height }

// foreign are formats of microscopes that are not read.
var foreign = map[string]string{
	".nd2": "Nikon's NIS-Elements", ".czi": "Zeiss's ZEN", ".lif": "Leica's LAS X", ".ims": "Imaris",
	".stk": "MetaMorph", ".dax": "Insight3", ".oif": "Olympus", ".oib": "Olympus", ".vsi": "Olympus", ".dcimg": "Hamamatsu",
}

func openTIFF(f io.ReaderAt, size int64, ext string) (layout, error) {
	h, first, err := readHeader(f, size, ext)
	if err != nil {
		return nil, err
	}
	t := &tiff{header: h}
	var p page
	turtle := int64(0) // Brent's way to see that the chain bites its tail
	laps := 0
	limit := 1
	for at := first; at != 0; laps++ {
		if laps == limit {
			turtle = at
			laps = 0
			limit *= 2
		}
		next, err := h.readPage(f, at, &p)
		if errors.Is(err, errTruncated) || at >= size {
			return t, &truncatedError{whole: len(t.pages)}
		}
		if err != nil {
			return nil, fmt.Errorf("page %d: %w", len(t.pages)+1, err)
		}
		if err := t.add(f, at, &p); err != nil {
			return t, err
		}
		if next != 0 && next == turtle {
			return nil, fmt.Errorf("the chain of its pages comes back to page %d or before; the file is damaged", len(t.pages))
		}
		at = next
	}
	if len(t.pages) == 0 {
		return nil, errors.New("there are no frames in it")
	}
	if len(t.pages) == 1 {
		return imageJ(f, t, &p)
	}
	return t, nil
}

// add takes a page as a frame, unless it is a small preview of another.
func (t *tiff) add(f io.ReaderAt, at int64, p *page) error {
	const preview = 1
	if p.subfile&preview != 0 {
		return nil
	}
	if err := p.check(); err != nil {
		return fmt.Errorf("page %d: %w", len(t.pages)+1, err)
	}
	if len(t.pages) == 0 {
		t.width = p.width
		t.height = p.height
	}
	if p.width != t.width || p.height != t.height {
		return fmt.Errorf("page %d is %d×%d, the pages before are %d×%d; the frames of a stack have one size", len(t.pages)+1, p.width, p.height, t.width, t.height)
	}
	if p.end() > t.header.size {
		return &truncatedError{whole: len(t.pages)}
	}
	t.pages = append(t.pages, at)
	return nil
}

func readHeader(f io.ReaderAt, size int64, ext string) (h header, first int64, err error) {
	var b [16]byte
	if err := readFull(f, b[:8], 0); err != nil {
		return h, 0, err
	}
	h.size = size
	switch {
	case bytes.HasPrefix(b[:], []byte("II")):
		h.order = binary.LittleEndian
	case bytes.HasPrefix(b[:], []byte("MM")):
		h.order = binary.BigEndian
	case foreign[ext] != "":
		return h, 0, fmt.Errorf("files of %s are not read; Fiji (File › Import › Bio-Formats, then File › Save As › Tiff) or bfconvert makes a TIFF of it", foreign[ext])
	default:
		return h, 0, errors.New("it is not a TIFF file; stacks are .tif, .raw with .yaml beside it, or .npy")
	}
	switch h.order.Uint16(b[2:]) {
	case 42:
		return h, int64(h.order.Uint32(b[4:])), nil
	case 43:
		h.big = true
		if err := readFull(f, b[:], 0); err != nil {
			return h, 0, err
		}
		first = int64(h.order.Uint64(b[8:]))
		if h.order.Uint16(b[4:]) != 8 || first < 0 {
			return h, 0, errors.New("the header of the BigTIFF is damaged")
		}
		return h, first, nil
	}
	return h, 0, errors.New("it is not a TIFF file: its third and fourth byte are neither 42 nor 43; the byte order may be wrong")
}

var imageJFrames = regexp.MustCompile(`(?m)^images=([0-9]+)`)

// imageJ reads a single page by ImageJ that stands for many: their pixels follow each other,
// because 4 GB have no room for more pages.
func imageJ(f io.ReaderAt, t *tiff, p *page) (layout, error) {
	m := imageJFrames.FindSubmatch(p.description)
	if m == nil || !bytes.HasPrefix(p.description, []byte("ImageJ=")) || p.compression != uncompressed {
		return t, nil
	}
	count, err := strconv.Atoi(string(m[1]))
	if err != nil || count < 2 {
		return t, nil
	}
	stack := &plain{width: t.width, height: t.height, count: count, start: p.chunks[0].at, number: p.number}
	return stack, stack.check(t.header.size)
}

// read implements layout.
func (t *tiff) read(f io.ReaderAt, i int, dst []float32, s *scratch) error {
	if _, err := t.readPage(f, t.pages[i], &s.page); err != nil {
		return err
	}
	p := &s.page
	if p.width != t.width || p.height != t.height {
		return errors.New("the file has changed")
	}
	if err := p.check(); err != nil {
		return err
	}
	return p.read(f, dst, s, t.header.size)
}
