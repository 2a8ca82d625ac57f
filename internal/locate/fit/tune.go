package fit

import (
	"math"
	"slices"
)

// Tune estimates what a stack does not say, from some of its frames: the width of the point's image,
// unless it is given, the noise in terms of what the camera's numbers promise, and usual residuals.
func Tune(sample [][]float32, width, height int, variance []float64, s Settings) Settings {
	s = s.withDefaults()
	given := s.Sigma > 0
	if !given {
		s.Sigma = 1.3
	}
	const turns, few, most = 8, 4, 64
	// A quarter of the frames settles the width; all of them show how point images differ from a Gaussian, or
	// as many as have so many emitters: of 4,000 the strength of what is oval is known to 2 %.
	const enough = 4000
	some := sample[:min(len(sample), max(few, len(sample)/few), most)]
	for turn := 0; turn <= turns; turn++ {
		if turn == turns {
			some = sample
		}
		t := tuning{}
		f := New(width, height, variance, s)
		for _, q := range some {
			f.Frame(q, nil)
			t.add(f)
			if len(t.ovals) >= enough || len(t.widths) >= 2*enough {
				break
			}
		}
		change := common(t.widths)
		s.Width = min(max(s.Sigma*(1+change), 0.5), 3.3)
		if given {
			change = 0
		} else {
			s.Sigma = s.Width
		}
		t.settle(&s)
		const fine = 5e-3
		if turn < turns && math.Abs(change) < fine && math.Abs(f.Noise/s.Noise-1) < 0.02 {
			turn = turns - 1 // once more, with all
		}
	}
	return s
}

// A tuning is what frames say.
type tuning struct {
	widths                            []widthStep
	noises, misfits, ovals, lopsideds []float64
}

// add adds the frame that was fitted last.
func (t *tuning) add(f *Fitter) {
	t.widths = f.widths(t.widths)
	t.noises = f.noises(t.noises)
	t.misfits, t.ovals, t.lopsideds = f.shapes(t.misfits, t.ovals, t.lopsideds)
}

// settle takes over all but the width.
func (t *tuning) settle(s *Settings) {
	s.Noise = blockNoise(t.noises)
	scale := s.Noise * s.Noise
	s.Misfit = typical(t.misfits) / scale
	s.Oval = typical(t.ovals) / scale
	s.Lopsided = typical(t.lopsideds) / scale
}

// A widthStep is what one emitter says: by how much the width should grow, and how surely.
type widthStep struct {
	step, information float64
	apart             float64 // pixels from the nearest other emitter
	light, oval       float64 // quanta; strength of an oval residual
}

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
		var c [shapes]float64
		f.coefficients(e, &c)
		all = append(all, widthStep{s.gradient[2], own * own, apart, e.n, c[0]*c[0] + c[1]*c[1]})
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
	lonely := slices.Clone(all[:n])
	if n < enough || n < len(all)/8 {
		lonely = single(slices.Clone(all[:min(len(all), max(enough, len(all)*2/3))]))
	}
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

// single keeps the emitters that are probably one molecule each: those that are hardly oval and not
// brighter than most. Two that were taken for one are both.
func single(all []widthStep) []widthStep {
	light, oval := make([]float64, len(all)), make([]float64, len(all))
	for i, w := range all {
		light[i] = w.light
		oval[i] = w.oval
	}
	slices.Sort(light)
	slices.Sort(oval)
	return slices.DeleteFunc(all, func(w widthStep) bool {
		return w.light > 1.1*light[len(light)*2/5] || w.oval > oval[len(oval)/2]
	})
}

// noiseSide is that of the blocks of pixels whose mean squared residual is one measurement of the
// noise. A low quantile of many does not heed blocks with something in them that is no emitter.
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
	// A low quantile: in a crowd, most blocks hold something that the fit has missed.
	const quantile, z = 0.2, -0.8416212335729143
	const d = 2. / (9 * noiseSide * noiseSide)
	root := 1 - d + z*math.Sqrt(d)
	return min(max(math.Sqrt(blocks[int(quantile*float64(len(blocks)))]/(root*root*root)), 0.2), 5)
}
