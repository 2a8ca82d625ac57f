package rng

import "math/bits"

// Perm fills p with a uniform permutation of 0 … len(p)−1 (Fisher–Yates).
func Perm[I int | int32 | int64](k Key, p []I) {
	var draws [2 * permBlock]uint64
	for first := 0; first < len(p); first += len(draws) {
		permDraws(k, uint64(first), &draws)
		for i, u := range draws[:min(len(draws), len(p)-first)] {
			i += first
			j, _ := bits.Mul64(u, uint64(i)+1)
			p[i] = p[j]
			p[j] = I(i)
		}
	}
}

// permBlock is how many draws permDraws makes: even.
const permBlock = 32

// permDraws writes the numbers of the draws first, first + 2, …, each of which has two, as draw returns
// them. Two draws run side by side, since each round waits for the one before it. In the first
// two rounds half of the words are the same for all of them.
func permDraws(k Key, first uint64, out *[2 * permBlock]uint64) {
	k0, k1 := k[0]+weyl0, k[1]+weyl1
	high := uint32(first >> 32) // the same for all: first is a multiple of what is drawn at a time
	h, l := bits.Mul32(mul0, high^k[0])
	t1 := k0
	t2 := h ^ k1
	t3 := l
	t0 := drawDomain ^ k[1]
	for n := 0; n < len(out); n += 4 {
		a := uint64(mul0) * uint64(uint32(first)+uint32(n))
		b := uint64(mul0) * uint64(uint32(first)+uint32(n+2))
		q := uint64(mul1) * uint64(uint32(a>>32)^t0)
		r := uint64(mul1) * uint64(uint32(b>>32)^t0)
		a0 := uint32(q>>32) ^ t1
		a1 := uint32(q)
		a2 := uint32(a) ^ t2
		a3 := t3
		b0 := uint32(r>>32) ^ t1
		b1 := uint32(r)
		b2 := uint32(b) ^ t2
		b3 := t3
		x, y := k0, k1
		for range 8 {
			x, y = x+weyl0, y+weyl1
			p, q := uint64(mul0)*uint64(a0), uint64(mul1)*uint64(a2)
			a0 = uint32(q>>32) ^ a1 ^ x
			a1 = uint32(q)
			a2 = uint32(p>>32) ^ a3 ^ y
			a3 = uint32(p)
			r, s := uint64(mul0)*uint64(b0), uint64(mul1)*uint64(b2)
			b0 = uint32(s>>32) ^ b1 ^ x
			b1 = uint32(s)
			b2 = uint32(r>>32) ^ b3 ^ y
			b3 = uint32(r)
		}
		out[n], out[n+1] = uint64(a1)<<32|uint64(a0), uint64(a3)<<32|uint64(a2)
		out[n+2], out[n+3] = uint64(b1)<<32|uint64(b0), uint64(b3)<<32|uint64(b2)
	}
}
