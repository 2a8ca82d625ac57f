package affine

import (
	"utvi/internal/compute"
	"utvi/internal/compute/kernel"
	"utvi/internal/compute/product"
)

// SeesTogether reports whether SeenTogether makes what quantities see of the weights, with the bits of
// Seen: products of a few filters are summed in another order.
func (c *Conv[T]) SeesTogether() bool {
	return !c.flipped && c.win.Groups == 1 && c.filters > product.MaxDot
}

// SeenTogether is Seen of k quantities whose sensitivities follow each other, and so do what they see:
// of the weights, then of the biases. Their filters lie side by side in one product, which is
// far faster than k small ones.
func (c *Conv[T]) SeenTogether(x *ConvSense[T], tape, a, seen []T, k int) {
	if x.wide == nil {
		wide := *c
		wide.Out = k * c.Out
		wide.filters = wide.Out
		x.wide = &wide
		x.beside = make([]T, max(len(a), wide.Weights()))
		x.packed = make([]T, wide.rightWidth())
		x.sums = make([]T, wide.Out)
	}
	w := x.wide
	n := c.Out
	places := len(a) / k / n
	beside := x.beside[:len(a)]
	for i := range k {
		for p := range places {
			copyShort(beside[(p*k+i)*n:][:n], a[(i*places+p)*n:][:n])
		}
	}
	w.packPlaces(x.packed, beside)
	clear(x.sums)
	w.addPlaces(x.sums, x.packed)
	q := x.beside[:c.Weights()*k]
	clear(q)
	for ky := range c.win.KH {
		w.outer(q[ky*c.rowWeights()*w.Out:], ky, 0, c.rowWeights(), c.seen(tape, 0), x.packed)
	}
	each := len(seen) / k
	for i := range k {
		own := seen[i*each:][:each]
		for row := range c.Weights() / n {
			copyShort(own[row*n:][:n], q[(row*k+i)*n:][:n])
		}
		copy(own[c.Weights():], x.sums[i*n:][:n])
	}
}

// copyShort copies slices of the same length, which often have 8 or 16 numbers: a call costs more.
func copyShort[T compute.Float](dst, src []T) {
	switch len(dst) {
	case 8:
		*(*[8]T)(dst) = *(*[8]T)(src)
	case 16:
		*(*[16]T)(dst) = *(*[16]T)(src)
	default:
		copy(dst, src)
	}
}

// addShort is kernel.Add of slices that are often too short for a call.
func addShort[T compute.Float](x, y []T) {
	if len(x) >= 16 {
		kernel.Add(x, y)
		return
	}
	y = y[:len(x)]
	for i := range x {
		x[i] += y[i]
	}
}
