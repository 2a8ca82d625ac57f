package images

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/image/tiff"

	"utvi/internal/pixels"
)

// stated reads the size of an image whose bytes a text holds, as a server does.
func stated(b []byte) (pixels.Size, error) {
	return pixels.Reader{Inline: true}.Size(base64.StdEncoding.EncodeToString(b))
}

// webP makes a file of parts, each a name of four letters and its bytes.
func webP(parts ...string) []byte {
	var body []byte
	for i := 0; i < len(parts); i += 2 {
		body = append(body, parts[i]...)
		body = binary.LittleEndian.AppendUint32(body, uint32(len(parts[i+1])))
		body = append(body, parts[i+1]...)
		if len(parts[i+1])%2 == 1 {
			body = append(body, 0)
		}
	}
	b := binary.LittleEndian.AppendUint32([]byte("RIFF"), uint32(4+len(body)))
	return append(append(b, "WEBP"...), body...)
}

// bits are packed from the lowest on.
type bits struct {
	b []byte
	n int
}

func (w *bits) add(v uint32, n int) {
	for range n {
		if w.n%8 == 0 {
			w.b = append(w.b, 0)
		}
		w.b[w.n/8] |= byte(v&1) << (w.n % 8)
		v >>= 1
		w.n++
	}
}

// lossless begins an image without loss: its size is stated, its pixels are missing.
func lossless(width, height int) *bits {
	w := &bits{}
	w.add(0x2f, 8)
	w.add(uint32(width-1), 14)
	w.add(uint32(height-1), 14)
	w.add(0, 1+3)
	return w
}

// extended is the header of a WebP with extensions.
func extended(width, height int) string {
	w, h := width-1, height-1
	return string([]byte{0, 0, 0, 0, byte(w), byte(w >> 8), byte(w >> 16), byte(h), byte(h >> 8), byte(h >> 16)})
}

// The size that is accounted for is that of the pixels, whatever the header before them states.
func TestWebPOfTwoSizes(t *testing.T) {
	small := webP("VP8X", extended(16, 16), "VP8L", string(lossless(16, 16).b))
	if s, err := stated(small); err != nil || s.Width != 16 || s.Height != 16 {
		t.Error(s, err)
	}
	for _, b := range [][]byte{
		webP("VP8X", extended(1, 1), "VP8L", string(lossless(16384, 16384).b)),
		webP("VP8X", extended(1, 1), "ICCP", "odd", "VP8L", string(lossless(16384, 16384).b)),
		webP("VP8X", extended(1, 1), "VP8 ", "\x10\x00\x00\x9d\x01\x2a\xff\x3f\xff\x3f"),
	} {
		if s, err := stated(b); err == nil || !strings.Contains(err.Error(), "it states two sizes") {
			t.Errorf("%v %v", s, err)
		}
		if _, err := pixels.Decode(b); err == nil || !strings.Contains(err.Error(), "it states two sizes") {
			t.Error(err)
		}
	}
}

// allocated is how much decoding takes, whatever comes of it.
func allocated(b []byte) int64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	pixels.Decode(b)
	runtime.ReadMemStats(&after)
	return int64(after.TotalAlloc - before.TotalAlloc)
}

// Reading an image takes no more than its size says, however it was made.
func TestMemoryOfImages(t *testing.T) {
	const side = 300
	deep := image.NewNRGBA64(image.Rect(0, 0, side, side))
	var deepPNG, deepTIFF, plain bytes.Buffer
	png.Encode(&deepPNG, deep)
	tiff.Encode(&deepTIFF, deep, &tiff.Options{Compression: tiff.Deflate})
	jpeg.Encode(&plain, image.NewNRGBA(deep.Rect), nil)
	codes := lossless(4, 4) // one tile, of which the codes are the last of 65,536
	codes.add(0, 1+1)       // no transform, no cache
	codes.add(1, 1)         // tiles with codes of their own,
	codes.add(0, 3)         // of 4 × 4 pixels
	codes.add(0, 1)
	for _, symbol := range []uint32{255, 255, 0, 0, 0} { // green, red: the number of the codes
		codes.add(1, 1)
		codes.add(0, 1)
		codes.add(1, 1)
		codes.add(symbol, 8)
	}
	for name, b := range map[string][]byte{
		"a PNG of 16 bits":      deepPNG.Bytes(),
		"a TIFF of 16 bits":     deepTIFF.Bytes(),
		"a JPEG":                plain.Bytes(),
		"a WebP of many codes":  webP("VP8L", string(codes.b)),
		"a mask of many codes":  webP("VP8X", "\x10"+extended(4, 4)[1:], "ALPH", "\x01"+string(codes.b[5:]), "VP8 ", "\x10\x00\x00\x9d\x01\x2a\x04\x00\x04\x00"),
		"a TIFF of two numbers": tiffOf(8, 8, 1, nil, entry{258, 3, []int{16}}, entry{262, 3, []int{1}}),
	} {
		size, err := stated(b)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		const tables = 64 << 10 // of decoders and their buffers
		if took := allocated(b); took > size.Memory()+tables {
			t.Errorf("%s: %d bytes were taken, %d are stated", name, took, size.Memory())
		}
	}
	if took := allocated(webP("VP8L", string(codes.b))); took < 100<<20 {
		t.Errorf("the codes took %d bytes: this test tests nothing", took)
	}
}

type entry struct {
	tag, kind int
	values    []int
}

// tiffOf makes a grey TIFF with one strip; more entries replace its own.
func tiffOf(width, height, compression int, strip []byte, more ...entry) []byte {
	entries := map[int]entry{}
	for _, e := range append([]entry{{256, 4, []int{width}}, {257, 4, []int{height}}, {258, 3, []int{8}}, {259, 3, []int{compression}}, {262, 3, []int{1}},
		{273, 4, []int{8}}, {278, 4, []int{1<<32 - 1}}, {279, 4, []int{len(strip)}}}, more...) {
		entries[e.tag] = e
	}
	b := append([]byte("II*\x00\x00\x00\x00\x00"), strip...)
	where := map[int]int{}
	for tag, e := range entries {
		where[tag] = len(b)
		for _, v := range e.values {
			if e.kind == 3 {
				b = binary.LittleEndian.AppendUint16(b, uint16(v))
			} else {
				b = binary.LittleEndian.AppendUint32(b, uint32(v))
			}
		}
	}
	binary.LittleEndian.PutUint32(b[4:], uint32(len(b)))
	b = binary.LittleEndian.AppendUint16(b, uint16(len(entries)))
	for tag := range 400 {
		e, ok := entries[tag]
		if !ok {
			continue
		}
		b = binary.LittleEndian.AppendUint16(b, uint16(tag))
		b = binary.LittleEndian.AppendUint16(b, uint16(e.kind))
		b = binary.LittleEndian.AppendUint32(b, uint32(len(e.values)))
		at := where[tag]
		if len(e.values) == 1 {
			at = e.values[0]
		}
		b = binary.LittleEndian.AppendUint32(b, uint32(at))
	}
	return append(b, 0, 0, 0, 0)
}

// deflated are n zeros.
func deflated(n int) []byte {
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	w.Write(make([]byte, n))
	w.Close()
	return b.Bytes()
}

// A TIFF that unpacks to more than its pixels, or whose header speaks of more, is refused before it
// takes memory; what only looks odd is read.
func TestTIFFThatTakesTooMuch(t *testing.T) {
	runs := bytes.Repeat([]byte{129, 0}, 100_000) // 128 zeros each
	many := make([]int, 5000)
	for name, x := range map[string]struct {
		b    []byte
		want error
	}{
		"deflate":          {tiffOf(8, 8, 8, deflated(10_000_000)), errTIFFUnpack},
		"runs":             {tiffOf(8, 8, 32773, runs), errTIFFUnpack},
		"a tile":           {tiffOf(8, 8, 1, nil, entry{322, 4, []int{100_000}}, entry{323, 4, []int{100_000}}), errTIFFTile},
		"a high tile":      {tiffOf(8, 8, 1, nil, entry{322, 4, []int{16}}, entry{323, 4, []int{100_000}}), errTIFFTile},
		"strips":           {tiffOf(8, 8, 1, nil, entry{273, 4, many}), errTIFFEntry},
		"bits":             {tiffOf(8, 8, 1, nil, entry{258, 3, many}), errTIFFEntry},
		"one strip twice":  {tiffOf(8, 8, 1, make([]byte, 1000), entry{279, 4, []int{1000, 1000, 1000, 1000, 1000}}), errTIFFParts},
		"beyond its end":   {tiffOf(8, 8, 1, make([]byte, 64), entry{279, 4, []int{100_000}}), errTIFFParts},
		"sound":            {tiffOf(8, 8, 1, make([]byte, 64)), nil},
		"sound, deflate":   {tiffOf(8, 8, 8, deflated(64)), nil},
		"sound, runs":      {tiffOf(8, 8, 32773, []byte{193, 7}), nil},
		"described":        {tiffOf(8, 8, 1, make([]byte, 64), entry{270, 4, many}), nil},
		"a tile of 16":     {tiffOf(8, 8, 1, make([]byte, 256), entry{322, 4, []int{16}}, entry{323, 4, []int{16}}, entry{324, 4, []int{8}}, entry{325, 4, []int{256}}), nil},
		"a row at a time":  {tiffOf(1, 9000, 1, make([]byte, 9000), entry{273, 4, upTo(9000)}, entry{278, 4, []int{1}}, entry{279, 4, ones(9000)}), nil},
		"a strip too many": {tiffOf(1, 4100, 1, make([]byte, 9000), entry{273, 4, upTo(9000)}, entry{278, 4, []int{1}}, entry{279, 4, ones(9000)}), errTIFFEntry},
	} {
		_, err := stated(x.b)
		_, err2 := pixels.Decode(x.b)
		if x.want == nil && (err != nil || err2 != nil) {
			t.Errorf("%s: %v; %v", name, err, err2)
		}
		if x.want != nil && (err2 != x.want || err == nil || !strings.Contains(err.Error(), x.want.Error())) {
			t.Errorf("%s: %v; %v, want %v", name, err, err2, x.want)
		}
		if x.want != nil {
			if took := allocated(x.b); took > 4<<20 {
				t.Errorf("%s: refusing it took %d bytes", name, took)
			}
		}
	}
}

func upTo(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = 8 + i
	}
	return out
}

func ones(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = 1
	}
	return out
}

// A JPEG that goes over its pixels again and again is refused.
func TestScans(t *testing.T) {
	var b bytes.Buffer
	im := image.NewGray(image.Rect(0, 0, 8, 8))
	im.Set(1, 1, color.White)
	jpeg.Encode(&b, im, nil)
	long := append(b.Bytes(), bytes.Repeat([]byte("\xff\xda\x00\x08\x01\x01\x00\x00\x3f\x00"), mostScans)...)
	if _, err := pixels.Decode(long); err == nil || !strings.Contains(err.Error(), "goes over its pixels more than 1000 times") {
		t.Error(err)
	}
	if _, err := pixels.Decode(long[:len(long)-10]); err != nil {
		t.Error(err)
	}
}
