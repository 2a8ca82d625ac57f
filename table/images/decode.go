// Package images reads PNG, JPEG, GIF, BMP, WebP and TIFF. Importing it makes package fit and models of
// images read such files: a program that predicts from numbers need not link decoders of images.
package images

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/gif"
	"image/jpeg"
	"image/png"

	"golang.org/x/image/bmp"
	"golang.org/x/image/webp"

	"utvi/internal/pixels"
)

// A format is a kind of image file.
type format struct {
	name   string
	is     func(b []byte) bool
	config func(b []byte) (image.Config, error)
	decode func(b []byte) (image.Image, error)
	refuse func(b []byte) error // before anything is read; nil: nothing

	// more is what decoding takes beyond what all formats take, in bytes; nil: nothing.
	more func(b []byte, c image.Config) int64
}

func starts(magic ...string) func(b []byte) bool {
	return func(b []byte) bool {
		for _, m := range magic {
			if bytes.HasPrefix(b, []byte(m)) {
				return true
			}
		}
		return false
	}
}

var formats = []format{
	{"png", starts("\x89PNG\r\n\x1a\n"),
		func(b []byte) (image.Config, error) { return png.DecodeConfig(bytes.NewReader(b)) },
		func(b []byte) (image.Image, error) { return png.Decode(bytes.NewReader(b)) }, nil, moreDeep},
	{"jpeg", starts("\xff\xd8"),
		func(b []byte) (image.Config, error) { return jpeg.DecodeConfig(bytes.NewReader(b)) },
		func(b []byte) (image.Image, error) { return jpeg.Decode(bytes.NewReader(b)) }, refuseScans, nil},
	{"gif", starts("GIF87a", "GIF89a"),
		func(b []byte) (image.Config, error) { return gif.DecodeConfig(bytes.NewReader(b)) },
		func(b []byte) (image.Image, error) { return gif.Decode(bytes.NewReader(b)) }, refuseAnimatedGIF, nil},
	{"bmp", starts("BM"),
		func(b []byte) (image.Config, error) { return bmp.DecodeConfig(bytes.NewReader(b)) },
		func(b []byte) (image.Image, error) { return bmp.Decode(bytes.NewReader(b)) }, nil, nil},
	{"webp", func(b []byte) bool { return len(b) > 12 && string(b[:4]) == "RIFF" && string(b[8:12]) == "WEBP" },
		configWebP,
		func(b []byte) (image.Image, error) { return webp.Decode(bytes.NewReader(b)) }, refuseAnimatedWebP, moreWebP},
	{"tiff", starts("II*\x00", "MM\x00*"),
		configTIFF, decodeTIFF, refuseTIFF, moreTIFF},
}

func init() {
	for i := range formats {
		f := &formats[i]
		pixels.Register(pixels.Codec{Name: f.name, Is: f.is, Size: f.size, Decode: f.read})
	}
}

// size reads what the header of an image states.
func (f *format) size(b []byte) (pixels.Size, error) {
	if f.refuse != nil {
		if err := f.refuse(b); err != nil {
			return pixels.Size{}, err
		}
	}
	c, err := f.config(b)
	if err != nil {
		return pixels.Size{}, f.damaged(err)
	}
	s := pixels.Size{Height: c.Height, Width: c.Width, Channels: 3, More: f.extra(b, c)}
	if c.ColorModel == color.GrayModel || c.ColorModel == color.Gray16Model {
		s.Channels = 1
	}
	if f.name == "jpeg" && orientation(b) >= 5 {
		s.Height = c.Width
		s.Width = c.Height
	}
	return s, nil
}

// read decodes an image once its header shows that it fits.
func (f *format) read(b []byte) (im *pixels.Image, err error) {
	defer func() { // decoders meet every kind of damaged file
		if recover() != nil {
			im, err = nil, fmt.Errorf("the %s image is damaged", f.name)
		}
	}()
	if f.refuse != nil {
		if err := f.refuse(b); err != nil {
			return nil, err
		}
	}
	c, err := f.config(b)
	if err != nil {
		return nil, f.damaged(err)
	}
	if err := pixels.Fits(pixels.Size{Height: c.Height, Width: c.Width, More: f.extra(b, c)}); err != nil {
		return nil, err
	}
	if c.ColorModel == color.CMYKModel {
		return nil, errors.New("its colours are CMYK, inks of a printer; save it as RGB")
	}
	decoded, err := f.decode(b)
	if err != nil {
		return nil, f.damaged(err)
	}
	im = numbers(decoded)
	im.Kind = f.name
	if f.name == "jpeg" {
		im = upright(im, orientation(b))
	}
	return im, nil
}

func (f *format) extra(b []byte, c image.Config) int64 {
	if f.more == nil {
		return 0
	}
	return f.more(b, c)
}

func (f *format) damaged(err error) error {
	return fmt.Errorf("the %s image cannot be read: %w", f.name, err)
}

// moreDeep is what sixteen bits a channel take, and the passes of an image that comes in them.
func moreDeep(_ []byte, c image.Config) int64 {
	if c.ColorModel != color.RGBA64Model && c.ColorModel != color.NRGBA64Model {
		return 0
	}
	return 8 * int64(c.Width) * int64(c.Height)
}

// numbers are the pixels of an image. What is transparent is laid on white.
func numbers(from image.Image) *pixels.Image {
	b := from.Bounds()
	im := &pixels.Image{Height: b.Dy(), Width: b.Dx(), Channels: 3}
	switch src := from.(type) {
	case *floats:
		return src.numbers()
	case *image.Gray:
		im.Channels = 1
		im.Bytes = true
		im.Pix = make([]float32, im.Height*im.Width)
		for y := range im.Height {
			for x, v := range src.Pix[y*src.Stride:][:im.Width] {
				im.Pix[y*im.Width+x] = pixels.OfByte(v)
			}
		}
	case *image.Gray16:
		im.Channels = 1
		im.Pix = make([]float32, im.Height*im.Width)
		for i := range im.Pix {
			at := i/im.Width*src.Stride + i%im.Width*2
			im.Pix[i] = ofWord(src.Pix[at], src.Pix[at+1])
		}
	case *image.RGBA64, *image.NRGBA64:
		deep(im, from)
	default:
		flat(im, from)
	}
	return im
}

func ofWord(high, low byte) float32 { return float32(int(high)<<8|int(low)) / 65535 }
func white(bounds image.Rectangle, on draw.Image) {
	draw.Draw(on, bounds, image.White, image.Point{}, draw.Src)
}

// flat reads colours of eight bits.
func flat(im *pixels.Image, from image.Image) {
	b := from.Bounds()
	out := image.NewRGBA(b)
	white(b, out)
	draw.Draw(out, b, from, b.Min, draw.Over)
	im.Bytes = true
	im.Pix = make([]float32, 0, im.Height*im.Width*3)
	for i := 0; i < len(out.Pix); i += 4 {
		im.Pix = append(im.Pix, pixels.OfByte(out.Pix[i]), pixels.OfByte(out.Pix[i+1]), pixels.OfByte(out.Pix[i+2]))
	}
}

// deep reads colours of sixteen bits.
func deep(im *pixels.Image, from image.Image) {
	b := from.Bounds()
	out := image.NewRGBA64(b)
	white(b, out)
	draw.Draw(out, b, from, b.Min, draw.Over)
	im.Pix = make([]float32, 0, im.Height*im.Width*3)
	for i := 0; i < len(out.Pix); i += 8 {
		p := out.Pix[i : i+6]
		im.Pix = append(im.Pix, ofWord(p[0], p[1]), ofWord(p[2], p[3]), ofWord(p[4], p[5]))
	}
}
