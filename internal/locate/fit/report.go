package fit

import "math"

// Found is a fitted emitter. Places are in pixels from the corner of the first pixel, whose centre is
// at one half; light is in quanta (see package camera).
type Found struct {
	X, Y       float64
	N          float64
	Background float64 // of a pixel
	// Variances and covariance of the place by the Cramér–Rao bound, all neighbours unknown.
	XX, YY, XY float64
	LogN       float64 // variance of the logarithm of N, likewise
	Ground     float64 // variance of the background, likewise
	Single     float64 // standard deviation of the place if it were alone
	Misfit     float64 // mean squared residual of the window in terms of its variance; 1 is right
	Near       int     // emitters within five pixels
	index      int
}

// groundPixels is how many pixels beside the window tell of the background.
const groundPixels = 150

// report appends what was found, in the order of rows.
func (f *Fitter) report(all []Found) []Found {
	f.sort()
	for i := range f.emitters {
		e := &f.emitters[i]
		if e.x < 0 || e.y < 0 || e.x >= float64(f.width) || e.y >= float64(f.height) {
			continue
		}
		found := Found{X: e.x, Y: e.y, N: e.n, index: i}
		found.Background = f.ground0[int(e.y)*f.width+int(e.x)]
		if f.bound(i, &found) {
			all = append(all, found)
		}
	}
	return all
}

// bound takes the Cramér–Rao bound from the Fisher information on an emitter, its neighbours and the
// background.
func (f *Fitter) bound(i int, found *Found) bool {
	const reach = 5
	near := f.neighbours(i, reach, maxBlock)
	found.Near = len(near) - 1
	scale := f.Noise * f.Noise
	var c [perEmitter][perEmitter]float64
	ground := 0.0
	if !f.invert(near[:1], &c, &ground) {
		return false
	}
	found.Single = math.Sqrt(scale * (c[atX][atX] + c[atY][atY]) / 2)
	for len(near) > 1 && !f.invert(near, &c, &ground) {
		near = near[:len(near)-1]
	}
	found.XX = scale * c[atX][atX]
	found.YY = scale * c[atY][atY]
	found.XY = scale * c[atX][atY]
	found.LogN = scale * c[atN][atN]
	found.Ground = scale * ground
	sum, n := f.misfit(&f.emitters[i])
	found.Misfit = sum / float64(n)
	return true
}

// groundWeight is the information of a pixel on the background around an emitter.
func (f *Fitter) groundWeight(e *emitter) float64 {
	if f.alike {
		return f.weight[int(e.y)*f.width+int(e.x)]
	}
	sum := 0.0
	for i := range e.down.n {
		for _, w := range f.weight[(e.down.first+i)*f.width+e.across.first:][:e.across.n] {
			sum += w
		}
	}
	return sum / float64(e.across.n*e.down.n)
}

// Read is the variance of the read-out under the image of an emitter of the last frame, each pixel as
// bright as it is.
func (f *Fitter) Read(e *Found) float64 {
	if f.alike {
		return f.variance[0]
	}
	own := &f.emitters[e.index]
	var sum, light float64
	for i, d := range own.down.light[:own.down.n] {
		row := f.variance[(own.down.first+i)*f.width+own.across.first:]
		for j, a := range own.across.light[:own.across.n] {
			sum += a * d * row[j]
			light += a * d
		}
	}
	return sum / light
}

// invert stores the covariance of the first emitter, and the variance of the background. It reports false,
// and stores nothing, where emitters cannot be told apart.
func (f *Fitter) invert(near []int32, c *[perEmitter][perEmitter]float64, ground *float64) bool {
	s := &f.block
	last := perEmitter * len(near)
	s.reset(last + 1)
	for a, k := range near {
		e := &f.emitters[k]
		f.own(e, s, perEmitter*a)
		for b, l := range near[:a] {
			f.cross(e, &f.emitters[l], s, perEmitter*a, perEmitter*b)
		}
		f.ground(e, s, perEmitter*a, last)
	}
	e := &f.emitters[near[0]]
	w := f.groundWeight(e)
	_, end := overlap(&e.across, &e.across)
	pixels := float64(groundPixels + (end-e.across.first)*e.down.n)
	s.add(last, last, pixels*w)
	if !s.factor() {
		return false
	}
	s.covariance(c)
	*ground = s.lastVariance()
	return true
}

// Window stores what lies around an emitter of the last frame, on side × side pixels around its own:
// the residuals in standard deviations, and the light of its neighbours in terms of its own light.
// Beyond the frame both are 0.
func (f *Fitter) Window(e *Found, side int, residual, others []float32) {
	own := &f.emitters[e.index]
	x0, y0 := int(e.X)-side/2, int(e.Y)-side/2
	clear(residual[:side*side])
	clear(others[:side*side])
	for i := range side {
		for j := range side {
			x, y := x0+j, y0+i
			if x < 0 || y < 0 || x >= f.width || y >= f.height {
				continue
			}
			k := y*f.width + x
			residual[i*side+j] = float32(f.weighted[k] / math.Sqrt(f.weight[k]))
			light := f.model[k] - f.ground0[k]
			a, d := x-own.across.first, y-own.down.first
			if a >= 0 && d >= 0 && a < own.across.n && d < own.down.n {
				light -= own.n * own.across.light[a] * own.down.light[d]
			}
			others[i*side+j] = float32(light / own.n)
		}
	}
}
