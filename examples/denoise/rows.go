package main

import (
	"math"

	"utvi/rng"
)

// photons is how many a pixel of brightness 1 receives.
const photons = 12

// images draws scenes of discs and bars on a slope of light, as a camera sees them (photons, that is noise
// which grows with the light) and as they are.
func images(seed uint64, n int) (seen, scenes []float32) {
	key := rng.New(seed)
	for i := range uint64(n) {
		scene := drawScene(key, i<<20)
		for k, b := range scene {
			seen = append(seen, float32(rng.Poisson(key, (i<<20)+1000+uint64(k), photons*float64(b)))/photons)
		}
		scenes = append(scenes, scene...)
	}
	return seen, scenes
}

func drawScene(key rng.Key, at uint64) []float32 {
	draw := func(lo, hi float64) float64 {
		at++
		return lo + (hi-lo)*rng.Uniform(key, at)
	}
	scene := make([]float32, side*side)
	dark := draw(0.05, 0.35)
	right := draw(-0.15, 0.15)
	down := draw(-0.15, 0.15)
	for i := range scene {
		scene[i] = float32(max(0.02, dark+right*(float64(i%side)/side-0.5)+down*(float64(i/side)/side-0.5)))
	}
	for range 4 {
		x := draw(0, side)
		y := draw(0, side)
		long := draw(2, 7)
		wide := draw(1.5, 4)
		turn := draw(0, math.Pi)
		light := draw(0.1, 1)
		disc := draw(0, 1) < 0.5
		for i := range scene {
			u := (float64(i%side)-x)*math.Cos(turn) + (float64(i/side)-y)*math.Sin(turn)
			v := (float64(i/side)-y)*math.Cos(turn) - (float64(i%side)-x)*math.Sin(turn)
			inside := math.Abs(u) < long && math.Abs(v) < wide
			if disc {
				inside = math.Hypot(u, v) < wide
			}
			if inside {
				scene[i] = float32(light)
			}
		}
	}
	return scene
}
