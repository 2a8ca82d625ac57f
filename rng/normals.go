package rng

import "math"

// Normals returns samples 4·quad … 4·quad+3 of a unit: four standard Normals,
// by Box–Muller from the four words of counter(row, unit, quad).
//
// This code is the definition of the stream. Every operation is one rounded
// float32 operation, in this order and never fused, so that a vector kernel can
// give the same bits.
func Normals(k Key, row uint64, unit, quad uint32) [4]float32 {
	w := block(k, counter(row, unit, quad))
	a, b := boxMuller(w[0], w[1])
	c, d := boxMuller(w[2], w[3])
	return [4]float32{a, b, c, d}
}

// boxMuller gives r·cos θ and r·sin θ for the radius of word w and the angle of
// word t.
func boxMuller(w, t uint32) (float32, float32) {
	r := radius(w)
	c, s := direction(t)
	return r * c, r * s
}

// Coefficients of the polynomials below, lowest power first; their errors are
// at most 3e-8, 4e-9 and 3e-8 of the whole function.
const (
	// (2f − 2 ln(1+f)) / f² on [√½−1, √2−1].
	log0, log1, log2, log3 = 0.9999996851134522, -0.6666780629451594, 0.500050590820681, -0.3992893356766597
	log4, log5, log6, log7 = 0.3310563940615126, -0.29749903447874526, 0.28839304438332924, -0.17992173722662144
	// (sin x − x) / x³ and (cos x − 1) / x², in x² on |x| ≤ π/4.
	sin0, sin1, sin2 = -0.16666654943704504, 0.00833217814636727, -0.00019517299007265108
	cos0, cos1, cos2 = -0.4999989478136719, 0.04165629457830389, -0.0013597823107792753
)

// rootHalf is the bit pattern of √½, where the mantissa of the logarithm begins.
const rootHalf = 0x3f3504f3

// radius returns √(−2 ln u) with u = (⌊w/2⌋ + ½)·2⁻³¹, which is never zero: the
// largest radius is 6.66.
func radius(w uint32) float32 {
	x := float32(int32(w>>1)) + 0.5
	i := int32(math.Float32bits(x)) - (rootHalf + 31<<23)
	e := float32(i >> 23) // u = 2ᵉ(1+f)
	f := math.Float32frombits(uint32(i&0x7fffff)+rootHalf) - 1

	// Estrin's scheme: short chains for wide machines.
	g := float32(f * f)
	a := log0 + float32(log1*f)
	b := log2 + float32(log3*f)
	c := log4 + float32(log5*f)
	d := log6 + float32(log7*f)
	ab := a + float32(b*g)
	cd := c + float32(d*g)
	q := ab + float32(float32(g*g)*cd)

	l := float32(g*q) - float32(f+f) // −2 ln(1+f)
	l += float32(e * (-2 * math.Ln2))
	return float32(math.Sqrt(float64(l))) // rounds as one float32 operation
}

// direction returns a uniform point (cos θ, sin θ) of the circle. The low 30
// bits of t are an angle within ±π/4, bit 31 mirrors it to the other side and
// bit 30 turns it by a quarter: every bit is used, and none twice.
func direction(t uint32) (float32, float32) {
	x := float32(float32(int32(t<<2)) * (math.Pi / 4 / (1 << 31)))
	z := float32(x * x)
	s := sin1 + float32(z*sin2)
	s = sin0 + float32(z*s)
	s = x + float32(float32(x*z)*s)
	c := cos1 + float32(z*cos2)
	c = cos0 + float32(z*c)
	c = 1 + float32(z*c)
	c = math.Float32frombits(math.Float32bits(c) ^ t&(1<<31))
	if t&(1<<30) != 0 {
		return s, c
	}
	return c, s
}
