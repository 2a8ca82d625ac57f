package frames

import (
	"bytes"
	"compress/lzw"
	"compress/zlib"
	"encoding/binary"
	"math"
	"slices"
	"testing"
)

// A flavour is a way to write a TIFF file.
type flavour struct {
	order              binary.ByteOrder
	big                bool
	kind               byte
	bytes              int
	compression        int
	predictor          int
	tileW, tileH       int // 0: strips
	rowsPerStrip       int
	noCompressionTag   bool
	noCounts           bool
	description        string
	shared             int // pages of pixels behind a single directory, as ImageJ writes
	width, height, num int
}

// value is pixel i of frame f: asymmetric, negative where the type has a sign.
func (v flavour) value(f, i int) float64 {
	x := float64((f*1009 + i*i*7 + i*13) % 251)
	switch {
	case v.kind == 'f':
		return x/8 - 9
	case v.kind == 'i':
		return x - 126
	case v.bytes > 1:
		return x * 100
	}
	return x
}

func (v flavour) put(b []byte, x float64) {
	bits := uint64(int64(x))
	if v.kind == 'f' {
		bits = math.Float64bits(x)
		if v.bytes == 4 {
			bits = uint64(math.Float32bits(float32(x)))
		}
	}
	switch v.bytes {
	case 1:
		b[0] = byte(bits)
	case 2:
		v.order.PutUint16(b, uint16(bits))
	case 4:
		v.order.PutUint32(b, uint32(bits))
	default:
		v.order.PutUint64(b, bits)
	}
}

// chunks are the packed strips or tiles of a frame.
func (v flavour) chunks(t testing.TB, f int) (all [][]byte) {
	w, h := v.tileW, v.tileH
	if w == 0 {
		w, h = v.width, min(max(v.rowsPerStrip, 1), v.height)
	}
	for y := 0; y < v.height; y += h {
		for x := 0; x < v.width; x += w {
			rows := h
			if v.tileW == 0 {
				rows = min(h, v.height-y)
			}
			b := make([]byte, rows*w*v.bytes)
			for r := range min(rows, v.height-y) {
				for c := range min(w, v.width-x) {
					v.put(b[(r*w+c)*v.bytes:], v.value(f, (y+r)*v.width+x+c))
				}
			}
			for r := range rows {
				v.predict(b[r*w*v.bytes:][:w*v.bytes])
			}
			all = append(all, v.pack(t, b))
		}
	}
	return all
}

func (v flavour) predict(row []byte) {
	switch v.predictor {
	case 2:
		n := number{'u', v.bytes, v.order}
		for i := len(row) - v.bytes; i >= v.bytes; i -= v.bytes {
			d := n.bits(row[i:]) - n.bits(row[i-v.bytes:])
			flavour{order: v.order, bytes: v.bytes}.putBits(row[i:], d)
		}
	case 3:
		n := len(row) / v.bytes
		planes := make([]byte, len(row))
		for i := range n {
			for k := range v.bytes {
				from := k
				if v.order == binary.ByteOrder(binary.LittleEndian) {
					from = v.bytes - 1 - k
				}
				planes[k*n+i] = row[i*v.bytes+from]
			}
		}
		for i := len(planes) - 1; i > 0; i-- {
			planes[i] -= planes[i-1]
		}
		copy(row, planes)
	}
}

func (v flavour) putBits(b []byte, x uint64) {
	switch v.bytes {
	case 1:
		b[0] = byte(x)
	case 2:
		v.order.PutUint16(b, uint16(x))
	default:
		v.order.PutUint32(b, uint32(x))
	}
}

func (v flavour) pack(t testing.TB, b []byte) []byte {
	var out bytes.Buffer
	switch v.compression {
	case lzwPacked:
		// Under 254 bytes no code grows, where TIFF and the standard library differ.
		w := lzw.NewWriter(&out, lzw.MSB, 8)
		w.Write(b)
		w.Close()
	case deflated, oldDeflated:
		w := zlib.NewWriter(&out)
		w.Write(b)
		w.Close()
	case packBits:
		for len(b) > 0 {
			run := 1
			for run < len(b) && run < 128 && b[run] == b[0] {
				run++
			}
			if run > 1 {
				out.Write([]byte{byte(1 - run), b[0]})
			} else {
				out.Write([]byte{0, b[0]})
			}
			b = b[run:]
		}
	default:
		return b
	}
	return out.Bytes()
}

// file is the stack as a file.
func (v flavour) file(t testing.TB) []byte {
	var b []byte
	if v.order == binary.ByteOrder(binary.LittleEndian) {
		b = append(b, "II"...)
	} else {
		b = append(b, "MM"...)
	}
	a := v.order.(binary.AppendByteOrder)
	word := func(x int) {
		if v.big {
			b = a.AppendUint64(b, uint64(x))
		} else {
			b = a.AppendUint32(b, uint32(x))
		}
	}
	if v.big {
		b = a.AppendUint16(b, 43)
		b = a.AppendUint16(b, 8)
		b = a.AppendUint16(b, 0)
	} else {
		b = a.AppendUint16(b, 42)
	}
	link := len(b)
	word(0)
	setLink := func(to int) {
		if v.big {
			v.order.PutUint64(b[link:], uint64(to))
		} else {
			v.order.PutUint32(b[link:], uint32(to))
		}
	}
	pages := v.num
	if v.shared > 0 {
		pages = 1
	}
	for f := range pages {
		var offsets, counts []int
		for more := range max(1, v.shared) {
			for _, c := range v.chunks(t, f+more) {
				offsets, counts = append(offsets, len(b)), append(counts, len(c))
				b = append(b, c...)
			}
		}
		per := len(offsets) / max(1, v.shared)
		offsets, counts = offsets[:per], counts[:per]
		at := 0
		b = v.directory(b, offsets, counts, func(to int) { at = to })
		setLink(at)
		link = len(b) - 4
		if v.big {
			link = len(b) - 8
		}
	}
	return b
}

func (v flavour) directory(b []byte, offsets, counts []int, placed func(at int)) []byte {
	a := v.order.(binary.AppendByteOrder)
	type line struct {
		tag, kind int
		values    []int
		text      string
	}
	format := map[byte]int{'u': 1, 'i': 2, 'f': 3}[v.kind]
	lines := []line{{tag: tagWidth, kind: 3, values: []int{v.width}}, {tag: tagHeight, kind: 3, values: []int{v.height}},
		{tag: tagBits, kind: 3, values: []int{8 * v.bytes}}}
	add := func(tag, kind int, values ...int) { lines = append(lines, line{tag: tag, kind: kind, values: values}) }
	if !v.noCompressionTag {
		add(tagCompression, 3, max(1, v.compression))
	}
	if v.description != "" {
		lines = append(lines, line{tag: tagDescription, kind: 2, text: v.description})
	}
	place, size := tagStripOffsets, tagStripBytes
	if v.tileW > 0 {
		place, size = tagTileOffsets, tagTileBytes
		add(tagTileWidth, 3, v.tileW)
		add(tagTileHeight, 3, v.tileH)
	} else {
		add(tagRowsPerStrip, 3, v.rowsPerStrip)
	}
	add(place, 4, offsets...)
	if !v.noCounts {
		add(size, 4, counts...)
	}
	add(tagPredictor, 3, max(1, v.predictor))
	add(tagSampleFormat, 3, format)
	slices.SortFunc(lines, func(x, y line) int { return x.tag - y.tag })
	var outside [][]byte
	var body []byte
	for _, l := range lines {
		values := []byte(l.text)
		n := len(l.text)
		for _, x := range l.values {
			if l.kind == 3 {
				values = a.AppendUint16(values, uint16(x))
			} else {
				values = a.AppendUint32(values, uint32(x))
			}
			n++
		}
		body = a.AppendUint16(body, uint16(l.tag))
		body = a.AppendUint16(body, uint16(l.kind))
		room := 4
		if v.big {
			room = 8
			body = a.AppendUint64(body, uint64(n))
		} else {
			body = a.AppendUint32(body, uint32(n))
		}
		if len(values) > room {
			at := len(b)
			for _, o := range outside {
				at += len(o)
			}
			outside = append(outside, values)
			if v.big {
				values = a.AppendUint64(nil, uint64(at))
			} else {
				values = a.AppendUint32(nil, uint32(at))
			}
		}
		body = append(body, append(values, make([]byte, room-len(values))...)...)
	}
	for _, o := range outside {
		b = append(b, o...)
	}
	placed(len(b))
	if v.big {
		b = a.AppendUint64(b, uint64(len(lines)))
		return append(append(b, body...), make([]byte, 8)...)
	}
	b = a.AppendUint16(b, uint16(len(lines)))
	return append(append(b, body...), make([]byte, 4)...)
}
