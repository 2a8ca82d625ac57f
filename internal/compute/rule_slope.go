package compute

// Slopes writes the slope g = Σ w ξ f/s of a function seen at points m + ξs, and its
// derivative by the variance v = s², (Σ w ξ² f' − g)/(2v); f and d are planes of values
// and slopes, as Combine takes them. Where s is 0 both are 0.
func Slopes[T Float](g, gv, s, v, f, d, xi, w []T) {
	n := len(s)
	if len(g) != n || len(gv) != n || len(v) != n || len(f) != n*len(xi) || len(d) != len(f) {
		panic("compute: Slopes lengths differ")
	}
	clear(g)
	clear(gv)
	ref := f[:n] // values are measured from the first point: nothing cancels, and Σ w ξ = 0
	for p, x := range xi {
		a := w[p] * x
		if a == 0 {
			continue
		}
		b := a * x
		f, d := f[p*n:][:n], d[p*n:][:n]
		for i := range g {
			g[i] += T(a * (f[i] - ref[i]))
			gv[i] += T(b * d[i])
		}
	}
	for i, s := range s {
		if s == 0 {
			g[i], gv[i] = 0, 0
			continue
		}
		g[i] /= s
		gv[i] = (gv[i] - g[i]) / (2 * v[i])
	}
}
