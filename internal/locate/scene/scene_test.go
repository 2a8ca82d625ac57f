package scene

import (
	"math"
	"slices"
	"testing"
)

// The light of an emitter falls where the emitter is: its centre of mass, with the first pixel's
// centre at one half, and its sum.
func TestLight(t *testing.T) {
	image := make([]float64, 40*30)
	Gaussian(1.3).add(image, 40, 30, Emitter{X: 17.3, Y: 11.9, Photons: 500}, 0)
	var sum, x, y float64
	for i, v := range image {
		sum += v
		x += v * (float64(i%40) + 0.5)
		y += v * (float64(i/40) + 0.5)
	}
	if math.Abs(sum-500) > 0.01 || math.Abs(x/sum-17.3) > 1e-4 || math.Abs(y/sum-11.9) > 1e-4 {
		t.Errorf("%v photons at %v, %v; want 500 at 17.3, 11.9", sum, x/sum, y/sum)
	}
}

// Counts have the mean and the variance that the camera promises, with and without EM register.
func TestCounts(t *testing.T) {
	for _, em := range []float64{0, 100} {
		s := Standard()
		s.Density = 0
		s.Background = 50
		s.Camera.EM = em
		s.Camera.Gain = 2
		s.Camera.QE = 0.8
		s.Camera.Read = 3 * max(1, em)
		counts := make([]float32, 32*32)
		var n, sum, squares float64
		for i := range 40 {
			s.Frame(i, counts, nil)
			for _, c := range counts {
				x := float64(c) - s.Camera.Offset
				n++
				sum += x
				squares += x * x
			}
		}
		mean := sum / n
		variance := squares/n - mean*mean
		gain := max(1, em) / 2 // counts of a photoelectron
		excess := 1.0
		if em > 0 {
			excess = 2
		}
		wantMean := 40 * gain
		wantVariance := (40*excess+9)*gain*gain + 1./12
		if math.Abs(mean-wantMean) > 5*math.Sqrt(wantVariance/n) || math.Abs(variance/wantVariance-1) > 5*math.Sqrt(2.5/n) {
			t.Errorf("EM %g: mean %.3f, variance %.3f; want %.3f, %.3f", em, mean, variance, wantMean, wantVariance)
		}
	}
}

// A frame does not depend on what was drawn before; emitters stay on for their lifetime and keep
// their place; the density is the one asked for.
func TestEmitters(t *testing.T) {
	s := Standard()
	s.Lifetime = 3
	s.Density = 2
	counts, again := make([]float32, 32*32), make([]float32, 32*32)
	seen := map[uint64]int{}
	place := map[uint64]Emitter{}
	total := 0
	for i := range 300 {
		all := s.emitters(i, nil)
		total += len(all)
		for _, e := range all {
			seen[e.ID]++
			if p, ok := place[e.ID]; ok && p != e {
				t.Fatalf("emitter %d moved from %v to %v", e.ID, p, e)
			}
			place[e.ID] = e
		}
	}
	perFrame := float64(total) / 300
	if math.Abs(perFrame-s.perFrame()) > 5*math.Sqrt(3*s.perFrame()/300)*1.5 {
		t.Errorf("%v emitters a frame, want %v", perFrame, s.perFrame())
	}
	life := float64(total) / float64(len(seen))
	if math.Abs(life-3) > 0.25 {
		t.Errorf("emitters are on for %v frames, want 3", life)
	}
	first := s.Frame(7, counts, nil)
	s.Frame(3, again, nil)
	second := s.Frame(7, again, nil)
	if !slices.Equal(first, second) || !slices.Equal(counts, again) {
		t.Error("frame 7 is another one the second time")
	}
}
