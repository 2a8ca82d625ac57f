package images

import (
	"bytes"
	"errors"
	"image"
	"image/color"
	"slices"

	"golang.org/x/image/tiff"

	"utvi/internal/locate/frames"
	"utvi/internal/pixels"
)

// What an entry says of the numbers of a TIFF.
const (
	tagSamples   = 277
	tagPlanar    = 284
	tagPredictor = 317
	tagFormat    = 339
	isFloat      = 3
	ofColours    = 3
)

// floats is an image of floats, which stay as they are.
type floats struct {
	width, height, channels int
	pix                     []float32
}

func (*floats) ColorModel() color.Model   { return color.Gray16Model }
func (f *floats) Bounds() image.Rectangle { return image.Rect(0, 0, f.width, f.height) }
func (f *floats) At(x, y int) color.Color {
	return color.Gray16{Y: uint16(min(max(f.pix[(y*f.width+x)*f.channels], 0), 1) * 65535)}
}

func (f *floats) numbers() *pixels.Image {
	return &pixels.Image{Height: f.height, Width: f.width, Channels: f.channels, Pix: f.pix}
}

var errFloatColours = errors.New("its floats are not three colours beside each other in each pixel, without a predictor; such floats and grey ones are read")

// A floatPage is the first page of a TIFF whose numbers are floats, one or three of each pixel.
type floatPage struct {
	*frames.First
	channels, columns int
}

// floatTIFF returns that page; nil if the numbers are whole. Three colours of a pixel stand where three grey
// pixels would.
func floatTIFF(b []byte) (*floatPage, error) {
	h := readTIFF(b)
	if h.first(tagFormat) != isFloat {
		return nil, nil
	}
	p := &floatPage{channels: max(1, h.first(tagSamples))}
	if p.channels > 1 {
		if p.channels != ofColours || h.first(tagPlanar) > 1 || h.first(tagPredictor) > 1 {
			return nil, errFloatColours
		}
		h = readTIFF(slices.Clone(b))
		h.put(tagWidth, ofColours*h.first(tagWidth))
		h.put(tagTileWidth, ofColours*h.first(tagTileWidth))
		h.put(tagSamples, 1)
	}
	var err error
	p.First, err = frames.FirstPage(h.b)
	if err == nil {
		p.columns = p.Width / p.channels
	}
	return p, err
}

// put changes an entry to one number, if there is such an entry.
func (h *tiffHeader) put(tag, v int) {
	const long = 4
	if e := h.entries[tag]; e != nil {
		h.order.PutUint16(e[2:], long)
		h.order.PutUint32(e[4:], 1)
		h.order.PutUint32(e[8:], uint32(v))
	}
}

func configTIFF(b []byte) (image.Config, error) {
	f, err := floatTIFF(b)
	if err != nil || f == nil {
		c, failed := tiff.DecodeConfig(bytes.NewReader(b))
		if err == nil {
			err = failed
		}
		return c, err
	}
	c := image.Config{ColorModel: color.Gray16Model, Width: f.columns, Height: f.Height}
	if f.channels > 1 {
		c.ColorModel = color.RGBA64Model
	}
	return c, nil
}

func decodeTIFF(b []byte) (image.Image, error) {
	f, err := floatTIFF(b)
	if err != nil {
		return nil, err
	}
	if f == nil {
		return tiff.Decode(bytes.NewReader(b))
	}
	pix, err := f.Read()
	return &floats{f.columns, f.Height, f.channels, pix}, err
}
