package fit

import "math"

// The Normal distribution and its density in steps of 1/64, between which cubics with the right
// slopes run: they are off by less than 1e-9.
const (
	tableStep = 1. / 64
	tableEnd  = 6
	tableSize = 2*tableEnd*64 + 1
)

type tableLine struct{ cdf, pdf, slope float64 }

var normalTable = func() (t [tableSize]tableLine) {
	for i := range t {
		z := float64(i)*tableStep - tableEnd
		pdf := math.Exp(-z*z/2) / math.Sqrt(2*math.Pi)
		t[i] = tableLine{cdf: math.Erfc(-z/math.Sqrt2) / 2, pdf: pdf, slope: -z * pdf}
	}
	return t
}()

// normal returns Φ(z) and φ(z).
func normal(z float64) (cdf, pdf float64) {
	if !(z > -tableEnd) {
		return 0, 0
	}
	if z >= tableEnd {
		return 1, 0
	}
	at := (z + tableEnd) * (1 / tableStep)
	i := int(at)
	u := at - float64(i)
	a, b := &normalTable[i], &normalTable[i+1]
	v := 1 - u
	begin, end := v*v*(1+2*u), u*u*(1+2*v)
	rise, fall := u*v*v*tableStep, -u*u*v*tableStep
	cdf = begin*a.cdf + end*b.cdf + rise*a.pdf + fall*b.pdf
	pdf = begin*a.pdf + end*b.pdf + rise*a.slope + fall*b.slope
	return cdf, pdf
}

// maxWindow bounds the pixels of a side of an emitter's window.
const maxWindow = 25

// A profile is a Gaussian along one axis, integrated over pixels.
type profile struct {
	first, n int
	light    [maxWindow]float64 // of each pixel
	slope    [maxWindow]float64 // its derivative by the place of the emitter
}

// set draws a Gaussian at a place, on the pixels up to radius around it that are within the frame.
func (p *profile) set(at, sigma float64, radius, side int) {
	middle := min(max(int(math.Floor(at)), 0), side-1)
	p.first = max(0, middle-radius)
	p.n = min(side, middle+radius+1) - p.first
	s := 1 / sigma
	cdf, pdf := normal((float64(p.first) - at) * s)
	for i := range p.n {
		nextCDF, nextPDF := normal((float64(p.first+i+1) - at) * s)
		p.light[i] = nextCDF - cdf
		p.slope[i] = (pdf - nextPDF) * s
		cdf, pdf = nextCDF, nextPDF
	}
}
