package report

import (
	"image/color"
	"math"
)

// viridis (van der Walt & Smith 2015) at nine even steps: lightness rises evenly,
// for every kind of colour vision and in print.
var viridis = [...]color.NRGBA{
	{0x44, 0x01, 0x54, 0xFF}, {0x47, 0x2D, 0x7B, 0xFF}, {0x3B, 0x52, 0x8B, 0xFF},
	{0x2C, 0x72, 0x8E, 0xFF}, {0x21, 0x90, 0x8C, 0xFF}, {0x27, 0xAD, 0x81, 0xFF},
	{0x5D, 0xC8, 0x63, 0xFF}, {0xAA, 0xDC, 0x32, 0xFF}, {0xFD, 0xE7, 0x25, 0xFF},
}

// heat is the colour of a share from 0 to 1; NaN is grey.
func heat(share float64) color.NRGBA {
	if math.IsNaN(share) {
		return fade(grey, 0.35)
	}
	x := min(max(share, 0), 1) * float64(len(viridis)-1)
	i := min(int(x), len(viridis)-2)
	f := x - float64(i)
	mix := func(a, b uint8) uint8 { return uint8(math.Round(float64(a)*(1-f) + float64(b)*f)) }
	a, b := viridis[i], viridis[i+1]
	return color.NRGBA{mix(a.R, b.R), mix(a.G, b.G), mix(a.B, b.B), 0xFF}
}
