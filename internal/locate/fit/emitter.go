package fit

// An emitter is one that is being fitted.
type emitter struct {
	x, y, n float64 // pixels, quanta
	across  profile
	down    profile
	settled bool
	next    int32 // emitter of the same cell; −1: none
}

// Parameters of an emitter in matrices: place, and the logarithm of its light.
const (
	atX = iota
	atY
	atN
	perEmitter
)

// own adds an emitter's gradient and Fisher information to a system, from row at on.
func (f *Fitter) own(e *emitter, s *system, at int) {
	var nn, xx, yy, xy, xn, yn, gx, gy, gn float64
	ax, sx := e.across.light[:e.across.n], e.across.slope[:e.across.n]
	for i := range e.down.n {
		row := (e.down.first+i)*f.width + e.across.first
		w, wr := f.weight[row:][:len(ax)], f.weighted[row:][:len(ax)]
		var s0, s1, s2, r0, r1 float64
		sx := sx[:len(ax)]
		for j, a := range ax {
			d := sx[j]
			wa := w[j] * a
			s0 += wa * a
			s1 += wa * d
			s2 += w[j] * d * d
			r0 += wr[j] * a
			r1 += wr[j] * d
		}
		a, d := e.down.light[i], e.down.slope[i]
		nn += s0 * a * a
		xx += s2 * a * a
		yy += s0 * d * d
		xy += s1 * a * d
		xn += s1 * a * a
		yn += s0 * a * d
		gn += r0 * a
		gx += r1 * a
		gy += r0 * d
	}
	n := e.n
	n2 := n * n
	s.gradient[at+atX] += n * gx
	s.gradient[at+atY] += n * gy
	s.gradient[at+atN] += n * gn
	s.add(at+atX, at+atX, n2*xx)
	s.add(at+atY, at+atX, n2*xy)
	s.add(at+atY, at+atY, n2*yy)
	s.add(at+atN, at+atX, n2*xn)
	s.add(at+atN, at+atY, n2*yn)
	s.add(at+atN, at+atN, n2*nn)
}

// cross adds the Fisher information that two emitters share: rows of a, columns of b before it.
func (f *Fitter) cross(a, b *emitter, s *system, atA, atB int) {
	x0, x1 := overlap(&a.across, &b.across)
	y0, y1 := overlap(&a.down, &b.down)
	if x0 >= x1 || y0 >= y1 {
		return
	}
	la, da := a.across.light[x0-a.across.first:][:x1-x0], a.across.slope[x0-a.across.first:][:x1-x0]
	lb, db := b.across.light[x0-b.across.first:][:x1-x0], b.across.slope[x0-b.across.first:][:x1-x0]
	var m [perEmitter][perEmitter]float64
	for i := y0; i < y1; i++ {
		w := f.weight[i*f.width+x0:][:x1-x0]
		var c00, c01, c10, c11 float64
		for j, w := range w {
			p, q := w*la[j], w*da[j]
			c00 += p * lb[j]
			c01 += p * db[j]
			c10 += q * lb[j]
			c11 += q * db[j]
		}
		ya, sa := a.down.light[i-a.down.first], a.down.slope[i-a.down.first]
		yb, sb := b.down.light[i-b.down.first], b.down.slope[i-b.down.first]
		m[atX][atX] += c11 * ya * yb
		m[atX][atY] += c10 * ya * sb
		m[atX][atN] += c10 * ya * yb
		m[atY][atX] += c01 * sa * yb
		m[atY][atY] += c00 * sa * sb
		m[atY][atN] += c00 * sa * yb
		m[atN][atX] += c01 * ya * yb
		m[atN][atY] += c00 * ya * sb
		m[atN][atN] += c00 * ya * yb
	}
	n2 := a.n * b.n
	for i := range m {
		for j := range m[i] {
			s.add(atA+i, atB+j, n2*m[i][j])
		}
	}
}

func overlap(a, b *profile) (from, to int) {
	return max(a.first, b.first), min(a.first+a.n, b.first+b.n)
}

// ground adds the information on a common background in the window of an emitter, as the last row.
func (f *Fitter) ground(e *emitter, s *system, at, last int) {
	var x, y, n float64
	for i := range e.down.n {
		w := f.weight[(e.down.first+i)*f.width+e.across.first:][:e.across.n]
		var s0, s1 float64
		for j, w := range w {
			s0 += w * e.across.light[j]
			s1 += w * e.across.slope[j]
		}
		x += s1 * e.down.light[i]
		y += s0 * e.down.slope[i]
		n += s0 * e.down.light[i]
	}
	s.add(last, at+atX, e.n*x)
	s.add(last, at+atY, e.n*y)
	s.add(last, at+atN, e.n*n)
}

// light adds so many times the light of an emitter to the model.
func (f *Fitter) light(e *emitter, times float64) {
	for i := range e.down.n {
		row := f.model[(e.down.first+i)*f.width+e.across.first:][:e.across.n]
		scale := times * e.n * e.down.light[i]
		for j := range row {
			row[j] += scale * e.across.light[j]
		}
	}
}

// weigh computes weights and weighted residuals in the window of an emitter.
func (f *Fitter) weigh(e *emitter) {
	for i := range e.down.n {
		from := (e.down.first+i)*f.width + e.across.first
		f.weighRange(from, from+e.across.n)
	}
}

// leastVariance keeps weights finite where the camera's numbers leave no noise at all.
const leastVariance = 0.05

func (f *Fitter) weighRange(from, to int) {
	m := f.model[from:to]
	q, v := f.quanta[from:to], f.variance[from:to]
	w, wr := f.weight[from:to], f.weighted[from:to]
	for i, m := range m {
		x := 1 / max(m+v[i], leastVariance)
		w[i] = x
		wr[i] = x * (float64(q[i]) - m)
	}
}

// shape draws the profiles of an emitter at its place.
func (f *Fitter) shape(e *emitter) {
	e.across.set(e.x, f.Sigma, f.radius, f.width)
	e.down.set(e.y, f.Sigma, f.radius, f.height)
}
