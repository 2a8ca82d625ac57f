package experiment

import "utvi/internal/special"

// emitterBound is the Cramér–Rao bound on the variances of unbiased estimates of
// x and y from one image, its pixels Poisson and N known. With ΔX_j the blur's
// integrals over the columns and ∂ the derivative by x, and likewise for y,
//
//	A = Σ ΔX_j,  A' = Σ ∂ΔX_j,  F_x = Σ (∂ΔX_j)²/ΔX_j    and B, B', F_y,
//	I = N·[[F_x·B, A'·B'], [A'·B', A·F_y]],   bound = diag I⁻¹.
func emitterBound(x, y float64) (bx, by float64) {
	return newColumnSums(x).bound(newColumnSums(y))
}

// columnSums are A, A' and F_x of a coordinate.
type columnSums struct{ sum, slope, fisher float64 }

func (x columnSums) bound(y columnSums) (bx, by float64) {
	ixx := x.fisher * y.sum
	ixy := x.slope * y.slope
	iyy := x.sum * y.fisher
	det := emitterPhotons * (ixx*iyy - ixy*ixy)
	return iyy / det, ixx / det
}

func newColumnSums(x float64) (c columnSums) {
	edge := func(j int) float64 { return (float64(j-emitterSide/2) - x) / emitterBlur }
	for j := range emitterSide {
		lo, hi := edge(j), edge(j+1)
		// Of the tail that holds less: there nothing cancels.
		d := special.CDF(hi) - special.CDF(lo)
		if lo > 0 {
			d = special.CDF(-lo) - special.CDF(-hi)
		}
		s := (special.PDF(lo) - special.PDF(hi)) / emitterBlur
		c.sum += d
		c.slope += s
		c.fisher += s * s / d
	}
	return c
}

// An emitterMap is a number for each pixel, row by row.
type emitterMap [emitterPixels]float64

// boundMaps averages over each pixel, on a grid of places, the exact bound, mean
// of x and y, and the paper's σ²/N_i.
func boundMaps() (exact, paper emitterMap) {
	const n = 16 // places a side: the bounds are smooth, midpoints are exact to 1e-4
	var sums [emitterSide * n]columnSums
	for i := range sums {
		sums[i] = newColumnSums((float64(i)+0.5)/n - emitterSide/2)
	}
	for p := range exact {
		var photons float64
		for k := range n * n {
			x, y := sums[p%emitterSide*n+k%n], sums[p/emitterSide*n+k/n]
			bx, by := x.bound(y)
			exact[p] += (bx + by) / 2 / (n * n)
			photons += emitterPhotons * x.sum * y.sum / (n * n)
		}
		// As in the paper, N_i is the mean over the pixel's emitters.
		paper[p] = emitterBlur * emitterBlur / photons
	}
	return exact, paper
}
