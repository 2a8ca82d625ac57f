package pixels

import (
	"errors"
	"fmt"
	"math"
)

// A Format says how an image becomes the inputs of a network: the size, what is done with images
// of another shape, and the mean and standard deviation of each channel, by which numbers become
// (v − mean)/sd.
type Format struct {
	Height   int       `json:"height"`
	Width    int       `json:"width"`
	Channels int       `json:"channels"`          // 1: grey; 3: colour
	Stretch  bool      `json:"stretch,omitempty"` // to the shape; otherwise the middle is cut out
	Mean     []float64 `json:"mean"`
	SD       []float64 `json:"sd"`
}

// MostSide is the largest height and width of the images that a network sees.
const MostSide = 1024

// Size is the number of inputs.
func (f *Format) Size() int { return f.Height * f.Width * f.Channels }

// Check reports a format that is none.
func (f *Format) Check() error {
	switch {
	case f.Height < 1 || f.Width < 1 || f.Height > MostSide || f.Width > MostSide:
		return fmt.Errorf("images of %d × %d pixels; each must be 1 to %d", f.Height, f.Width, MostSide)
	case f.Channels != 1 && f.Channels != 3:
		return fmt.Errorf("images of %d channels; there must be 1, grey, or 3, colours", f.Channels)
	case len(f.Mean) != f.Channels || len(f.SD) != f.Channels:
		return fmt.Errorf("%d means and %d standard deviations of %d channels", len(f.Mean), len(f.SD), f.Channels)
	}
	for i, sd := range f.SD {
		if m := f.Mean[i]; !(sd > 0) || math.IsInf(sd, 0) || m-m != 0 {
			return errors.New("the scale of a channel is not a finite number")
		}
	}
	return nil
}

// Fit gives an image the size and the channels of the format.
func (f *Format) Fit(im *Image) *Image { return f.framed(im).resized(f.Height, f.Width) }

// FitClasses is Fit for an image whose colours are classes: none is mixed of others.
func (f *Format) FitClasses(im *Image) *Image { return f.framed(im).nearest(f.Height, f.Width) }

// framed gives an image the channels of the format, and its shape if it is not stretched.
func (f *Format) framed(im *Image) *Image {
	switch {
	case f.Channels == 1 && im.Channels == 3:
		im = im.grey()
	case f.Channels == 3 && im.Channels == 1:
		im = im.coloured()
	}
	if f.Stretch {
		return im
	}
	return im.cropped(f.Height, f.Width)
}

// Scale writes numbers of an image that has been fitted to dst as a network sees them.
func (f *Format) Scale(pix []float32, dst []float32) {
	c := f.Channels
	for k := range c {
		mean := float32(f.Mean[k])
		scale := float32(1 / f.SD[k])
		for i := k; i < len(dst); i += c {
			dst[i] = (pix[i] - mean) * scale
		}
	}
}

// Encode writes an image to dst, Size numbers, as a network sees it.
func (f *Format) Encode(im *Image, dst []float32) { f.Scale(f.Fit(im).Pix, dst) }

// grey is the brightness of colours, by the weights of television (ITU-R 601), as other programs
// take it.
func (im *Image) grey() *Image {
	out := *im
	out.Channels = 1
	out.Pix = make([]float32, im.Height*im.Width)
	for i := range out.Pix {
		p := im.Pix[3*i : 3*i+3]
		v := float32(0.299*p[0]) + float32(0.587*p[1]) + float32(0.114*p[2])
		if im.Bytes {
			v = OfByte(toByte(v))
		}
		out.Pix[i] = v
	}
	return &out
}

// coloured is a grey image with three channels.
func (im *Image) coloured() *Image {
	out := *im
	out.Channels = 3
	out.Pix = make([]float32, 0, 3*len(im.Pix))
	for _, v := range im.Pix {
		out.Pix = append(out.Pix, v, v, v)
	}
	return &out
}
