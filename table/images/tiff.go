package images

import (
	"bytes"
	"cmp"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"image"
	"io"
	"slices"

	"golang.org/x/image/tiff/lzw"
)

// The entries of a TIFF that say how its pixels are kept.
const (
	tagWidth       = 256
	tagHeight      = 257
	tagCompression = 259
	tagStrips      = 273
	tagRows        = 278
	tagStripSizes  = 279
	tagTileWidth   = 322
	tagTileHeight  = 323
	tagTiles       = 324
	tagTileSizes   = 325
)

var (
	errTIFFEntry  = errors.New("the tiff image cannot be read: an entry of its header has more values than the image has parts")
	errTIFFTile   = errors.New("the tiff image cannot be read: its tiles are much larger than the image")
	errTIFFParts  = errors.New("the tiff image cannot be read: its parts are larger than the file")
	errTIFFUnpack = errors.New("the tiff image cannot be read: its parts unpack to more than its pixels")
)

// A tiffHeader is the first directory of a TIFF.
type tiffHeader struct {
	b       []byte
	order   binary.ByteOrder
	entries map[int][]byte
}

// refuseTIFF reports headers for which the decoder would take more than the image's pixels need. What
// else is wrong the decoder finds out.
func refuseTIFF(b []byte) error {
	h := readTIFF(b)
	width := h.first(tagWidth)
	height := h.first(tagHeight)
	const some = 4096 // values that any entry may have
	for tag, e := range h.entries {
		count := int(h.order.Uint32(e[4:]))
		parts := tag == tagStrips || tag == tagStripSizes || tag == tagTiles || tag == tagTileSizes
		if count > some && !(parts && count <= height+width*height/64) && slices.Contains(decoded, tag) {
			return errTIFFEntry
		}
	}
	const side = 1024 // of a tile, however small the image is
	wide := width
	high := min(height, cmp.Or(h.first(tagRows), height))
	sizes := h.values(tagStripSizes)
	places := h.values(tagStrips)
	if tile := h.first(tagTileWidth); tile != 0 {
		wide = tile
		high = h.first(tagTileHeight)
		if wide > max(side, width+15) || high > max(side, height+15) {
			return errTIFFTile
		}
		sizes = h.values(tagTileSizes)
		places = h.values(tagTiles)
	}
	all := 0
	for _, n := range sizes {
		all += n
		if n > len(b) || all > 2*len(b) {
			return errTIFFParts
		}
	}
	const number, room = 8, 1024
	perPixel := int64(number)
	if h.first(tagFormat) == isFloat && h.first(tagSamples) == ofColours {
		perPixel *= ofColours
	}
	most := int64(wide)*int64(high)*perPixel + room
	for i, n := range sizes {
		if i < len(places) && unpacked(h.first(tagCompression), section(b, places[i], n), most) > most {
			return errTIFFUnpack
		}
	}
	return nil
}

// decoded are the entries that the decoder reads. Others may be long, such as descriptions.
var decoded = []int{256, 257, 258, 259, 262, 266, 273, 278, 279, 292, 293, 317, 320, 322, 323, 324, 325, 338, 339}

func readTIFF(b []byte) *tiffHeader {
	h := &tiffHeader{b: b, order: binary.LittleEndian, entries: map[int][]byte{}}
	if len(b) < 8 {
		return h
	}
	if b[0] == 'M' {
		h.order = binary.BigEndian
	}
	at := int(h.order.Uint32(b[4:]))
	if at+2 > len(b) {
		return h
	}
	const size = 12
	n := int(h.order.Uint16(b[at:]))
	for at += 2; n > 0 && at+size <= len(b); n-- {
		h.entries[int(h.order.Uint16(b[at:]))] = b[at : at+size] // the last of one kind counts
		at += size
	}
	return h
}

// values are those of an entry, none if they do not stand in the file.
func (h *tiffHeader) values(tag int) []int {
	e := h.entries[tag]
	if e == nil {
		return nil
	}
	size := [...]int{1: 1, 2: 1, 3: 2, 4: 4}
	kind := int(h.order.Uint16(e[2:]))
	n := int(h.order.Uint32(e[4:]))
	if kind < 1 || kind >= len(size) {
		return nil
	}
	from := e[8:]
	if n*size[kind] > 4 {
		from = section(h.b, int(h.order.Uint32(e[8:])), n*size[kind])
	}
	if n*size[kind] > len(from) {
		return nil
	}
	out := make([]int, n)
	for i := range out {
		switch size[kind] {
		case 1:
			out[i] = int(from[i])
		case 2:
			out[i] = int(h.order.Uint16(from[2*i:]))
		default:
			out[i] = int(h.order.Uint32(from[4*i:]))
		}
	}
	return out
}

func (h *tiffHeader) first(tag int) int {
	e := h.entries[tag]
	if e == nil || h.order.Uint32(e[4:]) == 0 {
		return 0
	}
	if v := h.values(tag); len(v) > 0 {
		return v[0]
	}
	return 0
}

// section is a part of the bytes of a file, as far as it stands there.
func section(b []byte, from, n int) []byte {
	if from > len(b) {
		return nil
	}
	return b[from:min(from+n, len(b))]
}

// unpacked is how many bytes a part becomes; beyond most it does not matter how many.
func unpacked(compression int, part []byte, most int64) int64 {
	var r io.Reader
	switch compression {
	case 5:
		r = lzw.NewReader(bytes.NewReader(part), lzw.MSB, 8)
	case 8, 32946:
		z, err := zlib.NewReader(bytes.NewReader(part))
		if err != nil {
			return 0
		}
		r = z
	case 32773:
		return unpackedRuns(part)
	default:
		return 0 // as it is, or no more than the lines of a fax
	}
	n, _ := io.Copy(io.Discard, io.LimitReader(r, most+1)) // damage is for the decoder to tell
	return n
}

// unpackedRuns is how many bytes runs and copies of bytes become (PackBits).
func unpackedRuns(part []byte) (n int64) {
	for i := 0; i < len(part); i++ {
		switch code := int(int8(part[i])); {
		case code >= 0:
			n += int64(code) + 1
			i += code + 1
		case code != -128:
			n += int64(1 - code)
			i++
		}
	}
	return n
}

// moreTIFF is what sixteen bits a channel, a part that is unpacked and its buffer's growth take.
func moreTIFF(b []byte, c image.Config) int64 {
	const values = 3 << 20
	more := int64(c.Width)*int64(c.Height)*16 + values
	if h := readTIFF(b); h.first(tagFormat) == isFloat && h.first(tagSamples) == ofColours {
		more += int64(c.Width)*int64(c.Height)*24 + int64(len(b)) // three floats, and the file with another header
	}
	return more
}
