package list

import (
	"math"

	"gonum.org/v1/gonum/dsp/fourier"
)

// resolve measures the Fourier ring correlation of two halves of the molecules: the resolution is where
// it falls below 1/7 (Nieuwenhuizen et al. 2013).
func (c *Check) resolve(all []Localisation, seed uint64) {
	const side = 1024
	a, b := halves(all, c.Radius/3, seed)
	if len(a) == 0 || len(b) == 0 {
		return
	}
	// The picture holds the middle of what there is, with pixels fine enough for the best resolution.
	pixel := c.Radius / 54
	x0, y0 := middle(all)
	x0 -= side / 2 * pixel
	y0 -= side / 2 * pixel
	fa := spectrum(histogram2(a, x0, y0, pixel, side), side)
	fb := spectrum(histogram2(b, x0, y0, pixel, side), side)
	rings := side / 2
	cross := make([]float64, rings)
	pa, pb := make([]float64, rings), make([]float64, rings)
	for y := range side {
		for x := range side {
			fx, fy := x, y
			if fx > side/2 {
				fx -= side
			}
			if fy > side/2 {
				fy -= side
			}
			r := int(math.Round(math.Hypot(float64(fx), float64(fy))))
			if r >= rings {
				continue
			}
			u, v := fa[y*side+x], fb[y*side+x]
			cross[r] += real(u)*real(v) + imag(u)*imag(v)
			pa[r] += real(u)*real(u) + imag(u)*imag(u)
			pb[r] += real(v)*real(v) + imag(v)*imag(v)
		}
	}
	const smooth = 10 // rings on either side
	for r := range rings {
		var s, p, q float64
		for k := max(1, r-smooth); k <= min(rings-1, r+smooth); k++ {
			s += cross[k]
			p += pa[k]
			q += pb[k]
		}
		if p*q > 0 {
			c.Frequencies = append(c.Frequencies, float64(r)/(side*pixel))
			c.Correlation = append(c.Correlation, s/math.Sqrt(p*q))
		}
	}
	const threshold = 1. / 7
	for i := 1; i < len(c.Correlation); i++ {
		if c.Correlation[i] < threshold && c.Frequencies[i] > 0 {
			c.FRC = 1 / c.Frequencies[i]
			return
		}
	}
}

func middle(all []Localisation) (x, y float64) {
	for i := range all {
		x += all[i].X / float64(len(all))
		y += all[i].Y / float64(len(all))
	}
	return x, y
}

// histogram2 counts localisations in pixels, under a window that falls to 0 at the border.
func histogram2(all []Localisation, x0, y0, pixel float64, side int) []complex128 {
	image := make([]complex128, side*side)
	for i := range all {
		x, y := int(math.Floor((all[i].X-x0)/pixel)), int(math.Floor((all[i].Y-y0)/pixel))
		if x >= 0 && y >= 0 && x < side && y < side {
			image[y*side+x] += complex(tukey(x, side)*tukey(y, side), 0)
		}
	}
	return image
}

func tukey(i, side int) float64 {
	const flat = 8 // the eighth part at either end rises
	at := float64(min(i, side-1-i)) * flat / float64(side)
	if at >= 1 {
		return 1
	}
	return (1 - math.Cos(math.Pi*at)) / 2
}

// spectrum is the Fourier transform of a square image, in place.
func spectrum(image []complex128, side int) []complex128 {
	f := fourier.NewCmplxFFT(side)
	for y := range side {
		row := image[y*side:][:side]
		f.Coefficients(row, row)
	}
	column := make([]complex128, side)
	for x := range side {
		for y := range side {
			column[y] = image[y*side+x]
		}
		f.Coefficients(column, column)
		for y := range side {
			image[y*side+x] = column[y]
		}
	}
	return image
}
