package fit

import (
	"math"
	"slices"
)

// Tune estimates what a stack does not say, from some of its frames: the width of the point's image,
// unless it is given, and the noise in terms of what the camera's numbers promise.
func Tune(sample [][]float32, width, height int, variance []float64, s Settings) Settings {
	s = s.withDefaults()
	given := s.Sigma > 0
	if !given {
		s.Sigma = 1.3
	}
	const turns = 8
	for range turns {
		f := New(width, height, variance, s)
		var widths []widthStep
		var noises []float64
		for _, q := range sample {
			f.Frame(q, nil)
			widths = f.widths(widths)
			noises = f.noises(noises)
		}
		change := 0.0
		if !given {
			change = common(widths)
			s.Sigma = min(max(s.Sigma*(1+change), 0.5), 3.3)
		}
		s.Noise = blockNoise(noises)
		if math.Abs(change) < 1e-3 && len(noises) > 0 && math.Abs(f.Noise/s.Noise-1) < 0.02 {
			break
		}
	}
	return s
}

// A widthStep is what one emitter says: by how much the width should grow, and how surely.
type widthStep struct{ step, information, apart float64 }

// widths appends the step of each emitter towards its own best width, with its light and a background
// of its own free as well.
func (f *Fitter) widths(all []widthStep) []widthStep {
	f.sort()
	for i := range f.emitters {
		e := &f.emitters[i]
		near := f.neighbours(i, 8, 2)
		apart := 8.0
		if len(near) > 1 {
			apart = math.Sqrt(distance2(e, &f.emitters[near[1]]))
		}
		s := &f.block
		s.reset(3)
		f.widen(e, s)
		if !s.factor() {
			continue
		}
		s.solve()
		own := s.matrix[2*3+2] // of the width, all else free: the root is last
		all = append(all, widthStep{s.gradient[2], own * own, apart})
	}
	return all
}

// widen adds up the equations for light, background and the logarithm of the width.
func (f *Fitter) widen(e *emitter, s *system) {
	var gx, gy [maxWindow]float64
	broaden(&e.across, e.x, f.Sigma, &gx)
	broaden(&e.down, e.y, f.Sigma, &gy)
	for i := range e.down.n {
		from := (e.down.first+i)*f.width + e.across.first
		for j := range e.across.n {
			w, wr := f.weight[from+j], f.weighted[from+j]
			jac := [3]float64{e.n * e.across.light[j] * e.down.light[i], 1,
				e.n * (gx[j]*e.down.light[i] + e.across.light[j]*gy[i])}
			for a := range jac {
				s.gradient[a] += wr * jac[a]
				for b := range a + 1 {
					s.add(a, b, w*jac[a]*jac[b])
				}
			}
		}
	}
}

// broaden is the derivative of a profile by the logarithm of its width.
func broaden(p *profile, at, sigma float64, out *[maxWindow]float64) {
	z := (float64(p.first) - at) / sigma
	_, pdf := normal(z)
	last := z * pdf
	for i := range p.n {
		z := (float64(p.first+i+1) - at) / sigma
		_, pdf := normal(z)
		out[i] = last - z*pdf
		last = z * pdf
	}
}

// common is the median of what emitters say that stand alone, or of the most lonely quarter.
func common(all []widthStep) float64 {
	const alone, enough = 7, 60
	if len(all) == 0 {
		return 0
	}
	slices.SortStableFunc(all, func(a, b widthStep) int {
		switch {
		case a.apart > b.apart:
			return -1
		case a.apart < b.apart:
			return 1
		}
		return 0
	})
	n := 0
	for n < len(all) && all[n].apart > alone {
		n++
	}
	if n < enough {
		n = min(len(all), max(enough, len(all)/4))
	}
	lonely := slices.Clone(all[:n])
	slices.SortStableFunc(lonely, func(a, b widthStep) int {
		switch {
		case a.step < b.step:
			return -1
		case a.step > b.step:
			return 1
		}
		return 0
	})
	total, below := 0.0, 0.0
	for _, w := range lonely {
		total += w.information
	}
	for _, w := range lonely {
		below += w.information
		if below >= total/2 {
			return min(max(w.step, -0.2), 0.2)
		}
	}
	return 0
}

// noiseSide is that of the blocks of pixels whose mean squared residual is one measurement of the
// noise. The median of many does not heed blocks with something in them that is no emitter.
const noiseSide = 8

// noises appends the mean squared residuals of blocks, in terms of the variance that is expected
// without Settings.Noise.
func (f *Fitter) noises(all []float64) []float64 {
	pixels := float64(len(f.model))
	free := pixels - float64(perEmitter*len(f.emitters)+len(f.tiles.level))
	for y := 0; y+noiseSide <= f.height; y += noiseSide {
		for x := 0; x+noiseSide <= f.width; x += noiseSide {
			sum := 0.0
			for i := y; i < y+noiseSide; i++ {
				for k := i*f.width + x; k < i*f.width+x+noiseSide; k++ {
					sum += f.weighted[k] * f.weighted[k] / f.weight[k]
				}
			}
			all = append(all, sum/(noiseSide*noiseSide)*pixels/max(free, pixels/2))
		}
	}
	return all
}

func blockNoise(blocks []float64) float64 {
	if len(blocks) == 0 {
		return 1
	}
	slices.Sort(blocks)
	const d = 2. / (9 * noiseSide * noiseSide)
	const medianOfChi2 = (1 - d) * (1 - d) * (1 - d)
	return min(max(math.Sqrt(blocks[len(blocks)/2]/medianOfChi2), 0.2), 5)
}
