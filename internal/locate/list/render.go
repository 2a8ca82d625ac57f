package list

import (
	"fmt"
	"image"
	"image/color"
	"math"
	"slices"
)

// A Picture is a rendered table: each localisation is a Gaussian of its own standard deviations, with
// the sum 1.
type Picture struct {
	Width, Height int
	Pixel         float64 // nm
	X, Y          float64 // nm of the top left corner
	Light         []float32
}

// maxPicture bounds the pixels of a picture.
const maxPicture = 1 << 28

// Render draws places in nm, with pixels of so many nm. A width and a height of 0 stand for what the
// localisations need.
func Render(all []Localisation, pixel, width, height float64) (*Picture, error) {
	p := &Picture{Pixel: pixel}
	if width == 0 || height == 0 {
		for i := range all {
			width = max(width, all[i].X+pixel)
			height = max(height, all[i].Y+pixel)
		}
	}
	w, h := math.Ceil(width/pixel), math.Ceil(height/pixel)
	if !(w*h <= maxPicture) {
		return nil, fmt.Errorf("a picture of %.0f×%.0f pixels is too large; take larger ones than %g nm", w, h, pixel)
	}
	p.Width = max(1, int(w))
	p.Height = max(1, int(h))
	p.Light = make([]float32, p.Width*p.Height)
	for i := range all {
		p.Add(&all[i])
	}
	return p, nil
}

// Add draws one localisation: what a Gaussian has in each pixel, three standard deviations far.
func (p *Picture) Add(l *Localisation) {
	const reach, least = 3, 0.35 // the least width in pixels still falls on the right ones
	var across, down [256]float64
	x0, nx := share(across[:], l.X/p.Pixel, max(l.SX/p.Pixel, least), reach, p.Width)
	y0, ny := share(down[:], l.Y/p.Pixel, max(l.SY/p.Pixel, least), reach, p.Height)
	for i := range ny {
		row := p.Light[(y0+i)*p.Width+x0:][:nx]
		for j := range row {
			row[j] += float32(down[i] * across[j])
		}
	}
}

func share(q []float64, at, sigma, reach float64, side int) (first, n int) {
	first = max(0, int(math.Floor(at-reach*sigma)))
	end := min(side, int(math.Ceil(at+reach*sigma)))
	n = min(max(0, end-first), len(q))
	s := 1 / (math.Sqrt2 * sigma)
	low := math.Erf((float64(first) - at) * s)
	for i := range n {
		high := math.Erf((float64(first+i+1) - at) * s)
		q[i] = (high - low) / 2
		low = high
	}
	if n == 0 {
		first = 0
	}
	return first, n
}

// full is the light that is drawn as white: a high quantile of what is not dark.
func (p *Picture) full() float32 {
	var lit []float32
	for _, v := range p.Light {
		if v > 0.01 {
			lit = append(lit, v)
		}
	}
	if len(lit) == 0 {
		return 1
	}
	slices.Sort(lit)
	const quantile = 0.995
	return lit[int(quantile*float64(len(lit)-1))]
}

// Gray is the picture in 16 bits, for programs: linear, 65535 is the brightest pixel.
func (p *Picture) Gray() []uint16 {
	most := max(slices.Max(p.Light), 1e-30)
	out := make([]uint16, len(p.Light))
	for i, v := range p.Light {
		out[i] = uint16(v/most*math.MaxUint16 + 0.5)
	}
	return out
}

// Image is the picture for eyes: black, red, yellow, white, with a scale bar.
func (p *Picture) Image() *image.RGBA {
	out := image.NewRGBA(image.Rect(0, 0, p.Width, p.Height))
	full := p.full()
	for i, v := range p.Light {
		x := math.Sqrt(float64(min(v/full, 1))) // faint places are seen, too
		out.SetRGBA(i%p.Width, i/p.Width, hot(x))
	}
	p.bar(out)
	return out
}

func hot(x float64) color.RGBA {
	part := func(from float64) uint8 { return uint8(255 * min(max((x-from)*3, 0), 1)) }
	return color.RGBA{part(0), part(1. / 3), part(2. / 3), 255}
}

// Bar is the length of the scale bar in nm: 1, 2 or 5 times a power of ten, about a fifth of the width.
func (p *Picture) Bar() float64 {
	aim := float64(p.Width) * p.Pixel / 5
	unit := math.Pow(10, math.Floor(math.Log10(aim)))
	for _, k := range []float64{5, 2} {
		if k*unit <= aim {
			return k * unit
		}
	}
	return unit
}

func (p *Picture) bar(out *image.RGBA) {
	length := int(p.Bar() / p.Pixel)
	thick := max(2, p.Height/100)
	margin := 3 * thick
	for y := p.Height - margin - thick; y < p.Height-margin; y++ {
		for x := p.Width - margin - length; x < p.Width-margin; x++ {
			if x >= 0 && y >= 0 {
				out.SetRGBA(x, y, color.RGBA{255, 255, 255, 255})
			}
		}
	}
}
