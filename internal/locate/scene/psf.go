package scene

import "math"

// A PSF is the image of a point: a sum of Gaussians, integrated over pixels.
type PSF struct {
	Lobes []Lobe
	// Free turns the image of each emitter by an angle of its own, as dipoles do; otherwise
	// all are turned by Angle.
	Free  bool
	Angle float64
}

// A Lobe is one Gaussian of a PSF, in pixels from the point.
type Lobe struct{ Share, X, Y, Sigma float64 }

// Gaussian is the usual PSF.
func Gaussian(sigma float64) PSF { return PSF{Lobes: []Lobe{{Share: 1, Sigma: sigma}}} }

// Lopsided has a share of the light beside the rest.
func Lopsided(sigma, share, aside float64, free bool) PSF {
	return PSF{Lobes: []Lobe{{1 - share, 0, 0, sigma}, {share, aside, 0, sigma}}, Free: free}
}

// Airy has the core of an Airy disc whose best Gaussian is sigma wide, and its first ring: 84 % and
// 16 % of the light. The ring is eight lobes.
func Airy(sigma float64) PSF {
	const lobes, ring = 8, 0.14
	p := PSF{Lobes: []Lobe{{1 - ring, 0, 0, 0.98 * sigma}}}
	for i := range lobes {
		sin, cos := math.Sincos(2 * math.Pi * float64(i) / lobes)
		p.Lobes = append(p.Lobes, Lobe{ring / lobes, 3.9 * sigma * cos, 3.9 * sigma * sin, 0.7 * sigma})
	}
	return p
}

// reach is how far from its centre a Gaussian is drawn, in its standard deviations.
const reach = 5

// add draws an emitter of so many photons.
func (p PSF) add(image []float64, width, height int, e Emitter, angle float64) {
	sin, cos := math.Sincos(angle)
	var across, down [128]float64
	for _, l := range p.Lobes {
		x := e.X + l.X*cos - l.Y*sin
		y := e.Y + l.X*sin + l.Y*cos
		x0, nx := integrals(across[:], x, l.Sigma, width)
		y0, ny := integrals(down[:], y, l.Sigma, height)
		for i := range ny {
			row := image[(y0+i)*width+x0:][:nx]
			for j := range row {
				row[j] += float64(e.Photons * l.Share * down[i] * across[j])
			}
		}
	}
}

// integrals are those of a Gaussian over the pixels first … first+n−1.
func integrals(q []float64, at, sigma float64, side int) (first, n int) {
	first = max(0, int(math.Floor(at-reach*sigma)))
	end := min(side, int(math.Ceil(at+reach*sigma)))
	n = min(max(0, end-first), len(q))
	first = min(first, side-1)
	s := 1 / (math.Sqrt2 * sigma)
	low := math.Erf((float64(first) - at) * s)
	for i := range n {
		high := math.Erf((float64(first+i+1) - at) * s)
		q[i] = (high - low) / 2
		low = high
	}
	return first, n
}
