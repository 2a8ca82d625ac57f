package images

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"
	"strings"
	"testing"

	"utvi/internal/pixels"
)

// plainTIFF writes an uncompressed TIFF of one strip.
func plainTIFF(order binary.AppendByteOrder, width, height, samples, bits, kind int, body []byte) []byte {
	b := []byte("II*\x00")
	if order.String() == "BigEndian" {
		b = []byte("MM\x00*")
	}
	b = order.AppendUint32(b, uint32(8+len(body)))
	b = append(b, body...)
	entries := [][2]int{{256, width}, {257, height}, {258, bits}, {259, 1}, {262, 1}, {273, 8}, {277, samples}, {278, height}, {279, len(body)}, {339, kind}}
	b = order.AppendUint16(b, uint16(len(entries)))
	for _, e := range entries {
		b = order.AppendUint16(b, uint16(e[0]))
		b = order.AppendUint16(b, 4)
		b = order.AppendUint32(b, 1)
		b = order.AppendUint32(b, uint32(e[1]))
	}
	return order.AppendUint32(b, 0)
}

// Floats are read as they are stored, in both byte orders and sizes; what is no number is refused.
func TestFloatTIFF(t *testing.T) {
	want := []float32{0, 0.25, -3, 1e6, 2.5, 7}
	for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
		var four, eight []byte
		for _, v := range want {
			four = order.AppendUint32(four, math.Float32bits(v))
			eight = order.AppendUint64(eight, math.Float64bits(float64(v)))
		}
		for bits, body := range map[int][]byte{32: four, 64: eight} {
			b := plainTIFF(order, 3, 2, 1, bits, 3, body)
			im, err := pixels.Decode(b)
			if err != nil {
				t.Fatalf("%v, %d bits: %v", order, bits, err)
			}
			if im.Width != 3 || im.Height != 2 || im.Channels != 1 || im.Bytes || !slices.Equal(im.Pix, want) {
				t.Errorf("%v, %d bits: %+v", order, bits, im)
			}
			im, err = pixels.Decode(plainTIFF(order, 1, 2, 3, bits, 3, body))
			if err != nil {
				t.Fatalf("colours, %v, %d bits: %v", order, bits, err)
			}
			if im.Width != 1 || im.Height != 2 || im.Channels != 3 || im.Bytes || !slices.Equal(im.Pix, want) {
				t.Errorf("colours, %v, %d bits: %+v", order, bits, im)
			}
			if _, err := pixels.Decode(b[:40]); err == nil {
				t.Errorf("%v: the begin of a file is read", order)
			}
		}
	}
	order := binary.LittleEndian
	nan := order.AppendUint32(nil, math.Float32bits(float32(math.NaN())))
	for what, b := range map[string][]byte{
		"a pixel is not a finite number": plainTIFF(order, 1, 1, 1, 32, 3, nan),
		"its floats are not three":       plainTIFF(order, 1, 1, 4, 32, 3, bytes.Repeat(nan, 4)),
		"million":                        plainTIFF(order, 8192, 8000, 1, 32, 3, nan),
	} {
		if _, err := pixels.Decode(b); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%v; want %s", err, what)
		}
	}
}
