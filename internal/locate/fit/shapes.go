package fit

import "math"

// Derivatives of an image of a point by its place, up to the third, show how the real image differs
// from the Gaussian: two of the second order make it oval, four of the third lopsided. What is left
// of a frame is projected on them. With the right image each coefficient is a unit Normal.
const (
	ovals  = 2
	shapes = 6
)

// shapes appends the misfit of each emitter that stands alone, and its mean squared coefficients. Where
// hardly any stands alone, those count whose nearest neighbour is farther away than that of most.
func (f *Fitter) shapes(misfits, oval, lopsided []float64) (_, _, _ []float64) {
	f.sort()
	const alone, crowded = 6, 4
	least := alone * alone
	if len(f.emitters)*crowded*crowded > len(f.model) {
		least = crowded * crowded
	}
	for i := range f.emitters {
		e := &f.emitters[i]
		near := f.neighbours(i, alone, 2)
		if len(near) > 1 && distance2(e, &f.emitters[near[1]]) < float64(least) {
			continue
		}
		sum, n := f.misfit(e)
		misfits = append(misfits, sum/float64(n))
		var c [shapes]float64
		f.coefficients(e, &c)
		a, b := 0.0, 0.0
		for _, x := range c[:ovals] {
			a += x * x / ovals
		}
		for _, x := range c[ovals:] {
			b += x * x / (shapes - ovals)
		}
		oval = append(oval, a)
		lopsided = append(lopsided, b)
	}
	return misfits, oval, lopsided
}

// typical is the mean of what is not far too large: an emitter that is two is no shape. Of nothing
// it is 1.
func typical(all []float64) float64 {
	const most = 10
	sum, n := 0.0, 0.0
	for _, x := range all {
		if x < most {
			sum += x
			n++
		}
	}
	if n == 0 {
		return 1
	}
	return max(sum/n, 0.01)
}

// misfit is the sum of squared residuals in the window of an emitter in terms of their variances, and
// the number of pixels.
func (f *Fitter) misfit(e *emitter) (sum float64, n int) {
	for y := range e.down.n {
		from := (e.down.first+y)*f.width + e.across.first
		for k := from; k < from+e.across.n; k++ {
			sum += f.weighted[k] * f.weighted[k] / f.weight[k]
		}
	}
	return sum, e.down.n * e.across.n
}

// coefficients projects the residuals on the shapes, less what light and place of the emitter have
// taken of them.
func (f *Fitter) coefficients(e *emitter, c *[shapes]float64) {
	var x2, x3, y2, y3 [maxWindow]float64
	bend(&e.across, e.x, f.Sigma, &x2, &x3)
	bend(&e.down, e.y, f.Sigma, &y2, &y3)
	const fitted = 3
	var product, square [shapes]float64
	var taken [shapes][fitted]float64
	var own [fitted]float64
	for i := range e.down.n {
		from := (e.down.first+i)*f.width + e.across.first
		l, d := e.down.light[i], e.down.slope[i]
		dd, ddd := y2[i], y3[i]
		for j := range e.across.n {
			a, b := e.across.light[j], e.across.slope[j]
			h := [shapes]float64{x2[j]*l - a*dd, b * d,
				x3[j]*l + b*dd, a*ddd + x2[j]*d, x3[j]*l - 3*b*dd, a*ddd - 3*x2[j]*d}
			g := [fitted]float64{a * l, b * l, a * d}
			w, wr := f.weight[from+j], f.weighted[from+j]
			for p, x := range g {
				own[p] += w * x * x
			}
			for k, x := range h {
				product[k] += wr * x
				square[k] += w * x * x
				for p, y := range g {
					taken[k][p] += w * x * y
				}
			}
		}
	}
	for k := range c {
		variance := square[k]
		for p := range fitted {
			variance -= taken[k][p] * taken[k][p] / own[p]
		}
		c[k] = product[k] / math.Sqrt(max(variance, 1e-3*square[k]))
	}
}

// bend writes the second and the third derivative of a profile by the place.
func bend(p *profile, at, sigma float64, second, third *[maxWindow]float64) {
	edge := func(i int) (a, b float64) {
		z := (float64(p.first+i) - at) / sigma
		_, pdf := normal(z)
		return z * pdf, (1 - z*z) * pdf
	}
	s2 := 1 / (sigma * sigma)
	a, b := edge(0)
	for i := range p.n {
		nextA, nextB := edge(i + 1)
		second[i] = (a - nextA) * s2
		third[i] = (nextB - b) * s2 / sigma
		a, b = nextA, nextB
	}
}
