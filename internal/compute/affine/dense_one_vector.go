//go:build amd64 || arm64

package affine

// forward computes rows of m' and v'. A look at the far corner of each operand guards the kernels.
func (l one) forward(x oneRows, rows int) {
	n := rows * l.width
	_ = x.mo[rows-1]
	_ = x.vo[rows-1]
	_ = x.m[n-1]
	_ = x.v[n-1]
	_ = l.columns[3*l.width-1]
	forwardOneAsm(&x.mo[0], &x.vo[0], &x.m[0], &x.v[0], &l.columns[0], &l.biasMean[0], &l.biasVar[0], rows, l.width)
}

// backward computes rows of ∂m and ∂v.
func (l one) backward(dm, dv, m, g, h []float32, rows int) {
	n := rows * l.width
	_ = dm[n-1]
	_ = dv[n-1]
	_ = m[n-1]
	_ = l.columns[3*l.width-1]
	_ = g[rows-1]
	_ = h[rows-1]
	backOneAsm(&dm[0], &dv[0], &m[0], &l.columns[0], &g[0], &h[0], rows, l.width)
}

// sum writes what rows contribute, or adds it.
func (s oneSums) sum(m, v, g, h []float32, rows int, add bool) {
	width := len(s.mg)
	_ = s.mmh[width-1]
	_ = s.vh[width-1]
	_ = m[rows*width-1]
	_ = v[rows*width-1]
	_ = g[rows-1]
	_ = h[rows-1]
	more := 0
	if add {
		more = 1
	}
	gradOneAsm(&s.mg[0], &s.mmh[0], &s.vh[0], &m[0], &v[0], &g[0], &h[0], rows, width, more)
}
