package localization

import (
	"utvi/data"
	"utvi/internal/compute/kernel"
	"utvi/rng"
)

// Emitters are images of fluorescent molecules. A molecule lies at x, y ~ N(0, Spread²),
// in pixels from the centre of a square sensor. It sends a Poisson number of photons with
// the mean Photons, blurred by a Gaussian of Blur pixels. A row is the number of photons
// that hit each pixel, row by row from the least y, and its targets are x, y and the mean
// number of photons that hit the sensor.
type Emitters struct {
	Side                  int // pixels of a side of the sensor, even
	Spread, Blur, Photons float64
}

// emitterTargets are x, y and the number of photons.
const emitterTargets = 3

// Source returns a source that never repeats an emitter; an epoch has rows of them. A card
// draws the rows itself.
func (e Emitters) Source(rows int) *data.Generator {
	return &data.Generator{N: rows, In: e.Side * e.Side, Out: emitterTargets, Generate: e.Row, Recipe: e}
}

// Row draws the image of an emitter at a random place, and its targets.
func (e Emitters) Row(key rng.Key, row uint64, image, y []float32) {
	z := rng.Normals(key, row, 0, 0)
	e.At(key, row, float32(e.Spread)*z[0], float32(e.Spread)*z[1], image, y)
}

// At draws the image of an emitter at (x, y). Photons are drawn one by one: their number
// is Poisson, each lands at r + Blur·ε. So the pixels are independent and Poisson, and each
// mean is the blur's integral over the pixel, which need not be computed.
func (e Emitters) At(key rng.Key, row uint64, x, y float32, image, targets []float32) {
	clear(image)
	const group = 64 // units of the stream, of four numbers each: two photons
	var z [4 * group]float32
	blur := float32(e.Blur)
	side := float32(e.Side)
	half := float32(e.Side / 2)
	left := rng.Poisson(key, row, e.Photons)
	for unit := 1; left > 0; unit += group { // unit 0 drew the position
		n := min(group, (left+1)/2)
		kernel.Normals(z[:4*n], key, row, unit, n, 4)
		photons := min(left, 2*n)
		across, down := z[:photons], z[2*n:][:photons]
		for i, a := range across {
			j := x + float32(blur*a) + half
			i := y + float32(blur*down[i]) + half
			if i >= 0 && i < side && j >= 0 && j < side {
				image[int(i)*e.Side+int(j)]++
			}
		}
		left -= photons
	}
	targets[0], targets[1] = x, y
	targets[2] = float32(e.Mean(float64(x), float64(y)))
}

// Mean returns the mean number of photons that hit the sensor, of an emitter at (x, y).
func (e Emitters) Mean(x, y float64) float64 {
	side := float64(e.Side)
	return e.Photons * caught(x, e.Blur, side) * caught(y, e.Blur, side)
}
