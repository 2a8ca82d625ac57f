package compute

// LeakyThree is Points, Eval of leaky-ReLU with slope a and Combine of a rule of
// three points, the first with ξ = 0, in one pass. It is the one pair of rule and
// function that has a kernel of its own: leaky-ReLU costs so little that moving
// the points between three kernels took most of the time. s receives √v; x, f and
// d have room for three planes.
func LeakyThree(o Moments[float32], a float32, m, v, s, x, f, d, xi, w []float32) {
	n := len(m)
	if len(xi) != 3 || len(w) != 3 || xi[0] != 0 {
		panic("compute: LeakyThree needs three nodes, the first 0")
	}
	if len(v) != n || len(s) != n || len(o.Mean) != n {
		panic("compute: LeakyThree lengths differ")
	}
	if n == 0 {
		return
	}
	if vector && a <= 1 { // where leaky-ReLU is the larger of x and a·x
		check(&o, s, f[:3*n], d, 3*n)
		leakyThreeVector(&o, a, m, v, s, xi, w)
		return
	}
	Points(m, v, s, x, xi)
	Eval(OpLeakyReLU, a, x, f, d)
	Combine(o, s, f, d, xi, w, 0, 1)
}
