// Package rng provides keyed, counter-based random streams.
//
// A random number is a pure function of a key (seed, step, layer) and a counter (row,
// unit, sample). There is no shared state and nothing is advanced, so a draw does not
// depend on the number of goroutines, or on where a run was interrupted. The generator
// is Philox4x32-10 (Salmon et al. 2011). The stream is part of the contract: it never
// changes.
package rng

import "math/bits"

// A Key selects one stream.
type Key [2]uint32

// New returns the root key of a seed.
func New(seed uint64) Key { return Key{uint32(seed), uint32(seed >> 32)} }

// Sub derives a new key from k for a step and a layer, or for any two numbers that
// identify a purpose.
func (k Key) Sub(step uint64, layer uint32) Key {
	b := block(k, [4]uint32{uint32(step), uint32(step >> 32), layer, subDomain})
	return Key{b[0], b[1]}
}

// subDomain separates key derivation from drawing, which keeps the two top bits
// of the last counter word clear.
const subDomain = 0x6b657973 // "keys"

// counter returns the Philox counter of samples 4·quad … 4·quad+3 of a unit.
func counter(row uint64, unit, quad uint32) [4]uint32 {
	return [4]uint32{unit, quad, uint32(row), uint32(row>>32) & 0x3fffffff}
}

const (
	mul0, mul1   = 0xD2511F53, 0xCD9E8D57
	weyl0, weyl1 = 0x9E3779B9, 0xBB67AE85
)

// block returns the four random words of a key and a counter.
func block(k Key, c [4]uint32) [4]uint32 {
	k0, k1 := k[0], k[1]
	c0 := c[0]
	c1 := c[1]
	c2 := c[2]
	c3 := c[3]
	for range 10 {
		h0, l0 := bits.Mul32(mul0, c0)
		h1, l1 := bits.Mul32(mul1, c2)
		c0 = h1 ^ c1 ^ k0
		c1 = l1
		c2 = h0 ^ c3 ^ k1
		c3 = l0
		k0 += weyl0
		k1 += weyl1
	}
	return [4]uint32{c0, c1, c2, c3}
}

// Rounds serves kernels over many units. It returns everything that Block needs for the
// units of a row and quad, except the unit itself: the inputs of the first two rounds,
// where half of the words are the same for all units, and the keys of rounds 3 … 10.
//
//	round 1: p = mul0·unit;    c2 = hi(p) ^ t[0]; c3 = lo(p)
//	round 2: q = mul1·c2;      c0 = hi(q) ^ t[1]; c1 = lo(q); c2 = c3 ^ t[2]; c3 = t[3]
//	round r: as in Block, with keys t[2r-2], t[2r-1]
func Rounds(k Key, row uint64, quad uint32) (t [20]uint32) {
	c := counter(row, 0, quad)
	for r := range 10 {
		t[2*r], t[2*r+1] = k[0]+uint32(r)*weyl0, k[1]+uint32(r)*weyl1
	}
	h1, l1 := bits.Mul32(mul1, c[2])
	h0, l0 := bits.Mul32(mul0, h1^c[1]^t[0])
	t[0] = c[3] ^ t[1] // in this order: each reads the next before it is written
	t[1] = l1 ^ t[2]
	t[2] = h0 ^ t[3]
	t[3] = l0
	return t
}
