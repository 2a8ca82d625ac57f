package moment

// alike finds, for a map that sees differences of its inputs only, the independent
// inputs whose differences spread most like those of correlated ones: variances d ≥ 0
// with d_i + d_j ≈ D_ij = C_ii + C_jj − 2C_ij, in least squares over all pairs. With
// R_i = Σ_j D_ij, of K inputs of which P have d > 0,
//
//	d_i = (R_i − S)/(K−2),   S = Σ_P R/(K−2+|P|)
//
// which leaves independent inputs as they are. Two inputs have one difference: d is
// half its variance each.
type alike struct {
	r  []float64
	in []bool // P
	n  int    // |P|
}

func (a *alike) fit(c, d []float64) {
	k := len(d)
	if k == 1 {
		d[0] = c[0]
		a.in[0] = true
		a.n = 1
		return
	}
	var sum float64
	for i := range d {
		a.r[i] = 0
		for j := range d {
			a.r[i] += c[i*k+i] + c[j*k+j] - 2*c[i*k+j] // 0 for j = i
		}
		a.in[i] = k > 2 || a.r[i] > 0
		sum += a.r[i]
	}
	a.n = k
	if k == 2 {
		for i := range d {
			d[i] = max(0, a.r[i]/2)
		}
		return
	}
	s := sum / float64(k-2+a.n)
	for drop := true; drop; { // what is left out raises s: nothing comes back
		drop = false
		for i, r := range a.r {
			if a.in[i] && r < s {
				a.in[i], drop = false, true
				a.n--
				sum -= r
			}
		}
		s = sum / float64(k-2+a.n)
	}
	for i, r := range a.r {
		d[i] = 0
		if a.in[i] {
			d[i] = (r - s) / float64(k-2)
		}
	}
}

// pull writes the symmetric gradient by c of a loss whose gradient by d is dd. Variances
// that are held at 0 have none.
func (a *alike) pull(dd, dc []float64) {
	k := len(dd)
	if k == 1 {
		dc[0] = dd[0]
		return
	}
	var sum float64
	scale := 2.0
	if k > 2 {
		scale = float64(k - 2)
	}
	for i, g := range dd {
		a.r[i] = 0 // ∂R from here
		if a.in[i] {
			a.r[i] = g / scale
			sum += a.r[i]
		}
	}
	if k > 2 {
		for i := range a.r {
			if a.in[i] {
				a.r[i] -= sum / float64(k-2+a.n)
			}
		}
	}
	sum = 0
	for _, r := range a.r {
		sum += r
	}
	for i, ri := range a.r {
		for j, rj := range a.r {
			dc[i*k+j] = -ri - rj
			if i == j {
				dc[i*k+j] = float64(k-2)*ri + sum
			}
		}
	}
}
