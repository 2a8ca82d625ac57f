package net

import (
	"math"

	"utvi/internal/locate/fit"
)

// What is corrected.
const (
	OfX = iota
	OfY
	OfLight
	OfBackground
	Shifts
)

// Outputs of the network: shifts along x and y in units of what the fit promised, the logarithms of
// their noise variances in these units, the same of light and background, and the probability of
// being an emitter.
const (
	Pair    = 4 // outputs for two shifts
	OfReal  = 2 * Pair
	Outputs = OfReal + 1
)

// at is where the output for a shift is; the logarithm of its variance is two behind.
func at(shift int) int { return shift/2*Pair + shift%2 }

// Units are those of the shifts: the joint bound along x and y, the standard deviation of the
// logarithm of the light, and the background's of about a hundred pixels. They are bounded, since
// emitters that cannot be told apart have bounds beyond any error.
func Units(e *fit.Found, noise, read float64) (u [Shifts]float64) {
	const most = 1.5
	u[OfX] = min(math.Sqrt(e.XX), most)
	u[OfY] = min(math.Sqrt(e.YY), most)
	u[OfLight] = min(math.Sqrt(e.LogN), most)
	u[OfBackground] = noise * math.Sqrt(max(e.Background, 0)+read+0.05) / 3
	return u
}
