// Package compute holds the kernels every layer stands on: vector code in
// assembly where the CPU has it, a pure-Go twin for everywhere else, and the
// worker pool that shares work among cores.
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
