// Package compute is the machine that networks run on: the numbers they are computed in, the
// memory these lie in and the pool of workers that shares work among cores. What is computed
// is below: kernel over slices, product for matrices, affine for layers with weights, bytecode
// for formulas. README.md has the words that these packages share.
package compute

// Float is what a network can be computed in: float32 to run, float64 to prove.
type Float interface{ float32 | float64 }

// Finite reports whether no x is NaN or infinite.
func Finite[T Float](x ...T) bool {
	for _, x := range x {
		if x := T(x); x-x != 0 { // the conversion keeps a product from being fused
			return false
		}
	}
	return true
}

// Convert copies src to dst in the other's type, as many as both have.
func Convert[D, S Float](dst []D, src []S) {
	n := min(len(dst), len(src))
	for i, x := range src[:n] {
		dst[i] = D(x)
	}
}

// Widened is a copy of numbers in float64.
func Widened[S Float](src []S) []float64 {
	dst := make([]float64, len(src))
	Convert(dst, src)
	return dst
}
