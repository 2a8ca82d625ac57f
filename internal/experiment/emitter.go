package experiment

import (
	"math"

	"utvi/data"
	"utvi/gauss"
	"utvi/internal/compute"
	"utvi/internal/special"
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

// emitterRow draws the image of an emitter at a random place, and its targets.
func emitterRow(key rng.Key, row uint64, image, y []float32) {
	z := rng.Normals(key, row, 0, 0)
	emitterAt(key, row, emitterSpread*z[0], emitterSpread*z[1], image, y)
}

// emitterAt draws the image of an emitter at (x, y). Photons are drawn one by
// one: their number is Poisson, each lands at r + 1.05·ε. So the pixels are
// independent and Poisson, and each mean is the blur's integral over the pixel,
// which need not be computed.
func emitterAt(key rng.Key, row uint64, x, y float32, image, targets []float32) {
	clear(image)
	const group = 64 // units of the stream, of four numbers each: two photons
	var z [4 * group]float32
	left := rng.Poisson(key, row, emitterPhotons)
	for unit := 1; left > 0; unit += group { // unit 0 drew the position
		n := min(group, (left+1)/2)
		compute.Normals(z[:4*n], key, row, unit, n, 4)
		photons := min(left, 2*n)
		across, down := z[:photons], z[2*n:][:photons]
		for i, a := range across {
			j := x + float32(emitterBlur*a) + emitterSide/2
			i := y + float32(emitterBlur*down[i]) + emitterSide/2
			if i >= 0 && i < emitterSide && j >= 0 && j < emitterSide {
				image[int(i)*emitterSide+int(j)]++
			}
		}
		left -= photons
	}
	targets[0], targets[1] = x, y
	targets[2] = float32(emitterCount(float64(x), float64(y)))
}

// emitterCount is the mean number of photons that hit the sensor.
func emitterCount(x, y float64) float64 {
	return emitterPhotons * caughtBy(x) * caughtBy(y)
}

// caughtBy is the share of the blur around x that lies between −4 and 4. With |x| the
// differences of the distribution function do not cancel.
func caughtBy(x float64) float64 {
	x = math.Abs(x)
	return special.CDF((emitterSide/2-x)/emitterBlur) - special.CDF((-emitterSide/2-x)/emitterBlur)
}

// emitterSource never repeats an emitter; an epoch has rows of them.
func emitterSource(rows int) data.Source {
	return &data.Generator{N: rows, In: emitterPixels, Out: emitterTargets, Generate: emitterRow}
}

// An emitterSet is a fixed set of images and their targets.
type emitterSet struct {
	x gauss.Batch[float32]
	y []float32
}

func (s emitterSet) row(i int) (image, targets []float32) {
	return s.x.Mean[i*emitterPixels : (i+1)*emitterPixels], s.y[i*emitterTargets : (i+1)*emitterTargets]
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
	return makeEmitters(rows, func(row uint64, image, y []float32) { emitterRow(key, row, image, y) })
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
		emitterAt(key, row, within(0, pixel%emitterSide), within(1, pixel/emitterSide), image, y)
	})
}
