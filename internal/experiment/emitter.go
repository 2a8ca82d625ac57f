package experiment

import (
	"utvi/data"
	"utvi/gauss"
	"utvi/internal/localization"
	"utvi/rng"
)

// The paper's simulated microscope (§4.3): a fluorescent molecule lies at
// r ~ N(0, 2²·I) pixels from the centre of a sensor of 8×8 pixels. On average it sends
// 100 photons, blurred by a Gaussian of 1.05 pixels. Pixel (i, j) is number 8i+j of an
// image: row i counts from y = −4, column j from x = −4.
const (
	emitterSide    = 8
	emitterPixels  = emitterSide * emitterSide
	emitterSpread  = 2    // standard deviation of the position
	emitterBlur    = 1.05 // standard deviation of the blur
	emitterPhotons = 100
	emitterTargets = 3 // x, y, expected photons
)

// microscope draws the images.
var microscope = localization.Emitters{Side: emitterSide, Spread: emitterSpread, Blur: emitterBlur, Photons: emitterPhotons}

// emitterSource never repeats an emitter; an epoch has rows of them.
func emitterSource(rows int) data.Source {
	return microscope.Source(rows)
}

// An emitterSet is a fixed set of images and their targets.
type emitterSet struct {
	x gauss.Batch[float32]
	y []float32
}

func (s emitterSet) row(i int) (image, targets []float32) {
	return s.x.Mean[i*emitterPixels : (i+1)*emitterPixels], s.y[i*emitterTargets : (i+1)*emitterTargets]
}

// divide scales the photon counts of the images; by 0 it leaves them.
func (s emitterSet) divide(by float64) {
	if by == 0 {
		return
	}
	for i := range s.x.Mean {
		s.x.Mean[i] /= float32(by)
	}
}

func makeEmitters(rows int, draw func(row uint64, image, y []float32)) emitterSet {
	s := emitterSet{gauss.Fixed(emitterPixels, make([]float32, rows*emitterPixels)), make([]float32, rows*emitterTargets)}
	for i := range rows {
		image, y := s.row(i)
		draw(uint64(i), image, y)
	}
	return s
}

// newEmitters draws emitters as in training. A smaller set of the same key is the
// beginning of a larger one.
func newEmitters(key rng.Key, rows int) emitterSet {
	return makeEmitters(rows, func(row uint64, image, y []float32) { microscope.Row(key, row, image, y) })
}

// newPixelEmitters draws each emitters uniformly within every pixel, pixel after
// pixel.
func newPixelEmitters(key rng.Key, each int) emitterSet {
	places := key.Sub(0, 1) // the numbers of photons use the counters of key
	return makeEmitters(emitterPixels*each, func(row uint64, image, y []float32) {
		pixel := int(row) / each
		within := func(i uint64, at int) float32 {
			return float32(at) - emitterSide/2 + float32(rng.Uniform(places, 2*row+i))
		}
		microscope.At(key, row, within(0, pixel%emitterSide), within(1, pixel/emitterSide), image, y)
	})
}
