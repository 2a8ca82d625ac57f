package images

import (
	"bytes"
	"errors"
	"image"
	"image/color"

	"golang.org/x/image/tiff"

	"utvi/internal/locate/frames"
	"utvi/internal/pixels"
)

// What an entry says of the numbers of a TIFF.
const (
	tagSamples = 277
	tagFormat  = 339
	isFloat    = 3
)

// floats is an image of floats, which stay as they are.
type floats struct {
	width, height int
	pix           []float32
}

func (*floats) ColorModel() color.Model   { return color.Gray16Model }
func (f *floats) Bounds() image.Rectangle { return image.Rect(0, 0, f.width, f.height) }
func (f *floats) At(x, y int) color.Color {
	return color.Gray16{Y: uint16(min(max(f.pix[y*f.width+x], 0), 1) * 65535)}
}

func (f *floats) numbers() *pixels.Image {
	return &pixels.Image{Height: f.height, Width: f.width, Channels: 1, Pix: f.pix}
}

var errFloatColours = errors.New("it has colours in floats; grey floats, or colours of 8 or 16 bits are read")

// floatTIFF is the first page of a TIFF whose numbers are floats; nil if they are whole.
func floatTIFF(b []byte) (*frames.First, error) {
	h := readTIFF(b)
	if h.first(tagFormat) != isFloat {
		return nil, nil
	}
	if h.first(tagSamples) > 1 {
		return nil, errFloatColours
	}
	return frames.FirstPage(b)
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
	return image.Config{ColorModel: color.Gray16Model, Width: f.Width, Height: f.Height}, nil
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
	return &floats{f.Width, f.Height, pix}, err
}
