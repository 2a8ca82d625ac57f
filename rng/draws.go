package rng

import "math"

// drawDomain separates the indexed draws of this file from the Normals, which
// keep the two top bits of the last counter word clear, and from derived keys.
const drawDomain = 0x64726177 // "draw"

// draw returns the words of the try-th attempt at draw i.
func draw(k Key, i uint64, try uint32) [4]uint32 {
	return block(k, [4]uint32{uint32(i), uint32(i >> 32), try, drawDomain})
}

// Uint64 returns the i-th uniform 64-bit number of k.
func Uint64(k Key, i uint64) uint64 {
	w := draw(k, i, 0)
	return uint64(w[1])<<32 | uint64(w[0])
}

// unit returns a multiple of 2⁻⁵³ in [0, 1) from two words.
func unit(lo, hi uint32) float64 {
	return float64((uint64(hi)<<32|uint64(lo))>>11) * 0x1p-53
}

// Uniform returns the i-th uniform number of k in [0, 1).
func Uniform(k Key, i uint64) float64 {
	w := draw(k, i, 0)
	return unit(w[0], w[1])
}

// Normal returns the i-th standard Normal of k in float64. Use it for data: layers use
// Normals. Its last bits come from math.Log and math.Cos, which architectures may
// round differently.
func Normal(k Key, i uint64) float64 {
	w := draw(k, i, 0)
	r := math.Sqrt(-2 * math.Log(unit(w[0], w[1])+0x1p-54))
	return r * math.Cos(2*math.Pi*unit(w[2], w[3]))
}
