package affine

import (
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
			kernel.CopyShort(beside[(p*k+i)*n:][:n], a[(i*places+p)*n:][:n])
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
			kernel.CopyShort(own[row*n:][:n], q[(row*k+i)*n:][:n])
		}
		copy(own[c.Weights():], x.sums[i*n:][:n])
	}
}
