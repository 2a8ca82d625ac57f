package fit

import (
	"math"
	"slices"
)

// search looks for emitters in what the model does not explain, and returns how many it added. The
// filter is the best one for a single emitter in the noise that the model predicts:
//
//	N = Σ g·r/v / Σ g²/v,   N/σ = Σ g·r/v / √(Σ g²/v)
//
// for residuals r with variance v, and an emitter's light g.
func (f *Fitter) search(round int) int {
	k := f.kernel.light[:f.kernel.n]
	f.filter(f.weighted, f.score, k)
	f.filter(f.weight, f.strength, f.squares[:len(k)])
	for i, b := range f.strength {
		f.strength[i] = math.Sqrt(max(b, 1e-300))
		f.score[i] /= f.strength[i]
	}
	f.sort()
	known := len(f.emitters)
	limit := f.Threshold * f.Noise
	for y := range f.height {
		for x := range f.width {
			i := y*f.width + x
			if f.score[i] >= limit && f.peak(x, y) && (round == 0 || f.free(x, y, known)) {
				f.add(x, y)
			}
		}
	}
	f.weighRange(0, len(f.model))
	return len(f.emitters) - known
}

// filter correlates an image with a kernel along both axes; beyond the border there is nothing.
func (f *Fitter) filter(image, out, kernel []float64) {
	r := len(kernel) / 2
	for y := range f.height {
		row, to := image[y*f.width:][:f.width], f.passed[y*f.width:][:f.width]
		for x := range to {
			from, end := max(0, x-r), min(f.width, x+r+1)
			sum := 0.0
			k := kernel[from-x+r:]
			for j, v := range row[from:end] {
				sum += k[j] * v
			}
			to[x] = sum
		}
	}
	clear(out)
	for y := range f.height {
		to := out[y*f.width:][:f.width]
		for i := max(0, y-r); i < min(f.height, y+r+1); i++ {
			k := kernel[i-y+r]
			for x, v := range f.passed[i*f.width:][:f.width] {
				to[x] += k * v
			}
		}
	}
}

// peak reports whether no neighbour of a pixel scores more.
func (f *Fitter) peak(x, y int) bool {
	at := y*f.width + x
	for i := max(0, y-1); i <= min(f.height-1, y+1); i++ {
		for j := max(0, x-1); j <= min(f.width-1, x+1); j++ {
			k := i*f.width + j
			if f.score[k] > f.score[at] || f.score[k] == f.score[at] && k < at {
				return false
			}
		}
	}
	return true
}

// free reports whether no known emitter is so near that what is left is rather its own error.
func (f *Fitter) free(x, y, known int) bool {
	const tooNear = 0.8
	px, py := float64(x)+0.5, float64(y)+0.5
	for k := range f.emitters[:known] {
		e := &f.emitters[k]
		if math.Abs(e.x-px) < tooNear && math.Abs(e.y-py) < tooNear {
			return false
		}
	}
	return true
}

// add puts an emitter at a peak, between the pixels as a parabola through the scores says.
func (f *Fitter) add(x, y int) {
	at := y*f.width + x
	e := emitter{x: float64(x) + 0.5, y: float64(y) + 0.5, n: max(1, f.score[at]/f.strength[at])}
	if x > 0 && x < f.width-1 {
		e.x += vertex(f.score[at-1], f.score[at], f.score[at+1])
	}
	if y > 0 && y < f.height-1 {
		e.y += vertex(f.score[at-f.width], f.score[at], f.score[at+f.width])
	}
	f.shape(&e)
	f.emitters = append(f.emitters, e)
	f.light(&e, 1)
}

func vertex(before, at, after float64) float64 {
	bend := 2*at - before - after
	if bend <= 0 {
		return 0
	}
	return min(max((after-before)/(2*bend), -0.5), 0.5)
}

// prune removes emitters that are no brighter than four standard deviations, and makes one of two
// that are within 0.8 pixels. It reports whether there were any.
func (f *Fitter) prune() bool {
	const leastSNR, together = 4, 0.8
	f.sort()
	f.drop = slices.Grow(f.drop[:0], len(f.emitters))[:len(f.emitters)]
	drop := f.drop
	clear(drop)
	any := false
	for i := range f.emitters {
		e := &f.emitters[i]
		if drop[i] {
			continue
		}
		near := f.neighbours(i, together, 2)
		if len(near) > 1 && !drop[near[1]] {
			o := &f.emitters[near[1]]
			e.x = (e.x*e.n + o.x*o.n) / (e.n + o.n)
			e.y = (e.y*e.n + o.y*o.n) / (e.n + o.n)
			e.n += o.n
			e.settled = false
			f.shape(e)
			drop[near[1]] = true
			any = true
			continue
		}
		outside := e.x < 0 || e.y < 0 || e.x >= float64(f.width) || e.y >= float64(f.height)
		if outside || f.singleSNR(e) < leastSNR*f.Noise {
			drop[i] = true
			any = true
		}
	}
	if !any {
		return false
	}
	kept := f.emitters[:0]
	for i, e := range f.emitters {
		if !drop[i] {
			kept = append(kept, e)
		}
	}
	f.emitters = kept
	return true
}

// singleSNR is an emitter's light over its standard deviation, all else known.
func (f *Fitter) singleSNR(e *emitter) float64 {
	s := &f.block
	s.reset(perEmitter)
	f.own(e, s, 0)
	return math.Sqrt(s.matrix[atN*s.n+atN])
}
