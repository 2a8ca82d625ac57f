package fit

import (
	"math"
	"testing"

	"utvi/internal/locate/scene"
	"utvi/internal/locate/score"
)

// errorsOf fits frames of a scene and returns the errors of matched emitters, in pixels, in units of
// which the bounds are the promise.
func errorsOf(s scene.Scene, frames int, set Settings) (errors []score.Error, found, truth int) {
	f := New(s.Width, s.Height, []float64{s.Camera.ReadVariance()}, set)
	counts := make([]float32, s.Width*s.Height)
	var all []Found
	for i := range frames {
		emitters := s.Frame(i, counts, nil)
		s.Camera.Alike().Quanta(counts)
		all = f.Frame(counts, all[:0])
		var a, b []score.Point
		for _, e := range all {
			a = append(a, score.Point{X: e.X, Y: e.Y})
		}
		for _, e := range emitters {
			b = append(b, score.Point{X: e.X, Y: e.Y})
		}
		found += len(a)
		truth += len(b)
		for k, j := range score.Match(a, b, 2.5) {
			if j >= 0 {
				errors = append(errors, score.Error{DX: a[k].X - b[j].X, DY: a[k].Y - b[j].Y, SX: math.Sqrt(all[k].XX), SY: math.Sqrt(all[k].YY)})
			}
		}
	}
	return errors, found, truth
}

// Molecules that stand alone are found as well as the bound allows, where they are: no shift by a
// part of a pixel, and intervals that hold. n emitters have a standard error of 1/√(4n) in the RMSE
// and of √(0.09/2n) in the share; the bounds are five of them.
func TestIsolated(t *testing.T) {
	for _, c := range []struct{ photons, background float64 }{{3000, 500}, {5000, 10}} {
		s := scene.Standard()
		s.Pattern = scene.Isolated
		s.Photons = c.photons
		s.Background = c.background
		s.Seed = 5
		errors, found, truth := errorsOf(s, 250, Settings{Sigma: 1.088})
		r := score.Summarise(errors, found, truth)
		n := float64(r.Matched)
		if r.Matched != truth || float64(found-truth) > 0.02*n {
			t.Errorf("%v: %d found of %d, %d too many", c, r.Matched, truth, found-r.Matched)
		}
		if x := r.RMSE / r.Median; math.Abs(x-1) > 5/math.Sqrt(4*n)+0.02 {
			t.Errorf("%v: RMSE %.4f pixels, bound %.4f", c, r.RMSE, r.Median)
		}
		if math.Abs(r.Holds-0.9) > 5*math.Sqrt(0.09/2/n) {
			t.Errorf("%v: 90 %% intervals hold %.1f %%", c, 100*r.Holds)
		}
		if r.Bias > 5*r.Median/math.Sqrt(n) {
			t.Errorf("%v: all are shifted by %.4f pixels", c, r.Bias)
		}
	}
}

// Where molecules overlap, the bound with neighbours is truer than that for one alone, and recall and
// error are those that were measured when this was written, with room for other seeds.
func TestCrowded(t *testing.T) {
	s := scene.Standard()
	s.Density = 4.1
	s.Seed = 6
	errors, found, truth := errorsOf(s, 40, Settings{Sigma: 1.088})
	r := score.Summarise(errors, found, truth)
	if r.Jaccard < 0.81 || r.RMSE > 0.25 || r.Holds < 0.7 {
		t.Errorf("at 4.1 per µm²: %+v", r)
	}
}

// The gradient and the information are those of the Poisson likelihood: the gradient against
// finite differences of it, the information against the gradient's slope where the data are the model.
func TestDerivatives(t *testing.T) {
	f := New(24, 20, []float64{3}, Settings{Sigma: 1.3})
	f.quanta = make([]float32, 24*20)
	for i := range f.ground0 {
		f.ground0[i] = 7
	}
	truth := []emitter{{x: 9.3, y: 8.8, n: 300}, {x: 11.1, y: 9.9, n: 200}}
	f.emitters = truth
	draw := func() {
		for i := range f.emitters {
			f.shape(&f.emitters[i])
		}
		f.redraw()
	}
	draw()
	for i := range f.quanta {
		f.quanta[i] = float32(f.model[i])
	}
	fisher := func() *system {
		s := &system{}
		s.reset(6)
		f.own(&f.emitters[0], s, 0)
		f.own(&f.emitters[1], s, 3)
		f.cross(&f.emitters[1], &f.emitters[0], s, 3, 0)
		return s
	}
	draw()
	information := fisher()
	const h = 1e-3
	for k := range 6 {
		gradients := [2][6]float64{}
		for side, step := range []float64{h, -h} {
			f.emitters = append([]emitter(nil), truth...)
			e := &f.emitters[k/3]
			switch k % 3 {
			case atX:
				e.x += step
			case atY:
				e.y += step
			case atN:
				e.n *= math.Exp(step)
			}
			draw()
			copy(gradients[side][:], fisher().gradient[:6])
		}
		for j := range 6 {
			slope := -(gradients[0][j] - gradients[1][j]) / (2 * h)
			row, column := max(j, k), min(j, k)
			want := information.matrix[row*6+column]
			if math.Abs(slope-want) > 2e-3*(math.Abs(want)+20) {
				t.Errorf("parameters %d and %d: the gradient changes by %.3f, the information is %.3f", j, k, slope, want)
			}
		}
	}
}

// Width and noise are learnt from the frames, also where the gain is wrong.
func TestTune(t *testing.T) {
	s := scene.Standard()
	s.PSF = scene.Gaussian(1.4)
	s.Density = 0.8
	for _, gain := range []float64{1, 2} {
		c := s.Camera
		c.Gain *= gain
		c.Read *= gain
		var sample [][]float32
		for i := range 20 {
			q := make([]float32, s.Width*s.Height)
			s.Frame(i, q, nil)
			c.Alike().Quanta(q)
			sample = append(sample, q)
		}
		got := Tune(sample, s.Width, s.Height, []float64{c.ReadVariance()}, Settings{})
		want := math.Sqrt(gain * gain * 800 / (gain*500 + gain*gain*300))
		if math.Abs(got.Sigma/1.4-1) > 0.02 || math.Abs(got.Noise/want-1) > 0.04 {
			t.Errorf("gain %g: width %.3f, noise %.3f; want 1.4, %.3f", gain, got.Sigma, got.Noise, want)
		}
	}
}

// A width that is given and wrong is seen to be wrong, in crowds as well: what is left of
// the error is less than a third.
func TestTuneSeesTheWidth(t *testing.T) {
	for _, density := range []float64{0.5, 3} {
		s := scene.Standard()
		s.PSF = scene.Gaussian(1.2)
		s.Density = density
		var sample [][]float32
		for i := range 40 {
			q := make([]float32, s.Width*s.Height)
			s.Frame(i, q, nil)
			s.Camera.Alike().Quanta(q)
			sample = append(sample, q)
		}
		for _, given := range []float64{1.2, 1.32, 1.05} {
			got := Tune(sample, s.Width, s.Height, []float64{s.Camera.ReadVariance()}, Settings{Sigma: given})
			if got.Sigma != given || math.Abs(got.Width/1.2-1) > math.Abs(given/1.2-1)/3+0.01 {
				t.Errorf("%g per µm²: given %g, seen %.3f, want 1.2", density, given, got.Width)
			}
		}
	}
}

// Fitting allocates nothing once the memory has grown.
func TestNoAllocation(t *testing.T) {
	s := scene.Standard()
	counts := make([]float32, s.Width*s.Height)
	s.Frame(1, counts, nil)
	s.Camera.Alike().Quanta(counts)
	f := New(s.Width, s.Height, []float64{s.Camera.ReadVariance()}, Settings{Sigma: 1.088})
	all := f.Frame(counts, nil)
	if n := testing.AllocsPerRun(5, func() { all = f.Frame(counts, all[:0]) }); n > 0 {
		t.Errorf("%v allocations to fit a frame", n)
	}
}

func TestNormal(t *testing.T) {
	for z := -7.03; z < 7; z += 0.0137 {
		cdf, pdf := normal(z)
		if math.Abs(cdf-math.Erfc(-z/math.Sqrt2)/2) > 1e-8 || math.Abs(pdf-math.Exp(-z*z/2)/math.Sqrt(2*math.Pi)) > 1e-7 {
			t.Fatalf("at %g: %g, %g", z, cdf, pdf)
		}
	}
}
