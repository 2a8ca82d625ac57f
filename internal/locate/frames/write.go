package frames

import (
	"encoding/binary"
	"io"
)

// A Writer writes 16-bit frames as a TIFF file of one page each: BigTIFF if 4 GB are too few.
type Writer struct {
	w                     io.Writer
	width, height, frames int
	big                   bool
	at                    int64
	b                     []byte
	written               int
}

// NewWriter begins a file of so many frames.
func NewWriter(w io.Writer, width, height, frames int) *Writer {
	t := &Writer{w: w, width: width, height: height, frames: frames}
	t.big = int64(frames)*(int64(width)*int64(height)*2+256) >= 1<<32
	t.at = 8
	if t.big {
		t.at = 16
	}
	return t
}

const writtenTags = 10

// directory is the size of a page's directory.
func (t *Writer) directory() int64 {
	if t.big {
		return 8 + writtenTags*20 + 8
	}
	return 2 + writtenTags*12 + 4
}

// Write adds a frame, row by row from the top.
func (t *Writer) Write(frame []uint16) error {
	le := binary.LittleEndian
	t.b = t.b[:0]
	if t.written == 0 {
		t.b = append(t.b, "II*\x00\x08\x00\x00\x00"...)
		if t.big {
			t.b = append(t.b[:0], "II+\x00\x08\x00\x00\x00\x10\x00\x00\x00\x00\x00\x00\x00"...)
		}
	}
	pixels := int64(2 * t.width * t.height)
	data := t.at + t.directory()
	t.written++
	next := data + pixels
	if t.written == t.frames {
		next = 0
	}
	if t.big {
		t.b = le.AppendUint64(t.b, writtenTags)
	} else {
		t.b = le.AppendUint16(t.b, writtenTags)
	}
	const short, long = 3, 4
	t.tag(tagWidth, long, int64(t.width))
	t.tag(tagHeight, long, int64(t.height))
	t.tag(tagBits, short, 16)
	t.tag(tagCompression, short, uncompressed)
	const photometric, blackIsZero = 262, 1
	t.tag(photometric, short, blackIsZero)
	t.tag(tagStripOffsets, t.offsetKind(), data)
	t.tag(tagSamples, short, 1)
	t.tag(tagRowsPerStrip, long, int64(t.height))
	t.tag(tagStripBytes, long, pixels)
	t.tag(tagSampleFormat, short, 1)
	t.word(next)
	for _, x := range frame {
		t.b = le.AppendUint16(t.b, x)
	}
	t.at = data + pixels
	_, err := t.w.Write(t.b)
	return err
}

func (t *Writer) offsetKind() uint16 {
	if t.big {
		return 16
	}
	return 4
}

func (t *Writer) word(x int64) {
	if t.big {
		t.b = binary.LittleEndian.AppendUint64(t.b, uint64(x))
	} else {
		t.b = binary.LittleEndian.AppendUint32(t.b, uint32(x))
	}
}

func (t *Writer) tag(tag, kind uint16, value int64) {
	t.b = binary.LittleEndian.AppendUint16(t.b, tag)
	t.b = binary.LittleEndian.AppendUint16(t.b, kind)
	t.word(1)
	t.word(value)
}
