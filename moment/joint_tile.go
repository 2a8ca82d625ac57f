package moment

import (
	"math"

	"utvi/internal/compute"
	"utvi/internal/compute/kernel"
	"utvi/rng"
)

// A JointTile pushes rows through a Map, one row at a time, with the scratch that its
// rule needs. It must be used by one goroutine at a time.
type JointTile struct {
	// The inputs are units Unit, Unit+1, … of row Row in the stream Key; rules that
	// draw use these.
	Key  rng.Key
	Row  uint64
	Unit int

	m       *Map
	rule    JointRule
	in, out int
	points  int
	groups  int
	c       float64 // of the variance
	own     ClosedForm
	slopes  jacobian

	w     []float64 // weights
	nodes []float64 // points × in, where they are few
	sigma []float64
	root  []float64 // of a full covariance, row-major; nil: the σ are it
	z, x  []float64
	f0    []float64
	e     []float64 // points × out: F(x) − F(m)
	shift []float64 // groups × out: M
	spare []float64 // out: the variance
	df    []float64
	df0   []float64
	dx    []float64
	dsig  []float64
	draws []float32 // sample-major
}

// NewJointTile returns a tile for pushing d inputs through m by rule. rule.Check must
// have accepted m and d.
func NewJointTile(m *Map, rule JointRule, d int) *JointTile {
	t := &JointTile{m: m, rule: rule, in: d, out: m.Outputs(d), points: rule.Points(d), groups: rule.Groups(d), c: 1}
	t.slopes = newJacobian(m, t.in, t.out)
	if _, ok := rule.(jointOwn); ok {
		t.own = m.ClosedForm(d)
		return t
	}
	floats := func(n int) []float64 { return make([]float64, n) }
	t.w, t.sigma = floats(t.points), floats(t.in)
	t.z = floats(t.in)
	t.x = floats(t.in)
	t.dx = floats(t.in)
	t.dsig = floats(t.in)
	t.f0 = floats(t.out)
	t.spare = floats(t.out)
	t.df = floats(t.out)
	t.df0 = floats(t.out)
	t.e, t.shift = floats(t.points*t.out), floats(t.groups*t.out)
	if rule.Draws() {
		t.c = float64(t.points) / float64(t.points-1)
		t.draws = make([]float32, t.points*t.in)
	}
	if !rule.Draws() && t.points*t.in <= fewNodes {
		t.nodes = floats(t.points * t.in)
	}
	for p := range t.w {
		t.w[p] = rule.Node(t.in, p, t.z)
		if t.nodes != nil {
			copy(t.nodes[p*t.in:], t.z)
		}
	}
	return t
}

// fewNodes is the largest number of coordinates that are stored instead of computed
// again.
const fewNodes = 2048

// Fixed writes y = F(x) and, if dy is not nil, dx = dy·∂F/∂x.
func (t *JointTile) Fixed(x, y, dy, dx []float64) {
	t.m.F(x, y)
	if dy != nil {
		t.slopes.pull(x, dy, dx)
	}
}

// Push writes the moments of the outputs.
func (t *JointTile) Push(mean, variance, outMean, outVar []float64) {
	if t.own != nil {
		t.own.Push(mean, variance, outMean, outVar)
		return
	}
	for i, v := range variance {
		t.sigma[i] = math.Sqrt(v)
	}
	t.look(mean)
	t.combine(outMean, outVar)
}

// Pull writes the gradients of a loss with respect to the input moments, given its
// gradients gm and gv with respect to the output moments.
func (t *JointTile) Pull(mean, variance, gm, gv, dm, dv []float64) {
	if t.own != nil {
		t.own.Pull(mean, variance, gm, gv, dm, dv)
		return
	}
	least := t.slopes.resolves()
	for i, v := range variance {
		t.sigma[i] = math.Sqrt(v)
		if t.draws == nil {
			t.sigma[i] = max(t.sigma[i], least*(1+math.Abs(mean[i])))
		}
	}
	clear(t.dsig)
	t.pull(mean, gm, gv, dm, func(dx []float64) {
		for i, g := range dx {
			t.dsig[i] += g * t.z[i]
		}
	})
	for i, s := range t.sigma {
		dv[i] = 0
		if s > 0 {
			dv[i] = t.dsig[i] / (2 * s)
		}
	}
}

// pull writes the gradients by the means to dm, and shows those by each point x, at z.
func (t *JointTile) pull(mean, gm, gv, dm []float64, at func(dx []float64)) {
	t.look(mean)
	t.combine(t.df, t.spare)
	copy(t.df0, gm)
	clear(dm)
	for p, w := range t.w {
		t.gradientAt(p, w, gm, gv)
		t.place(p, mean)
		t.slopes.pull(t.x, t.df, t.dx)
		for i, g := range t.dx {
			dm[i] += g
		}
		at(t.dx)
	}
	t.slopes.pull(mean, t.df0, t.dx)
	for i, g := range t.dx {
		dm[i] += g
	}
}

// gradientAt leaves the gradient by the values at point p in df, and takes it
// off the gradient by those at the mean, from which e is counted:
// ∂mean/∂e = w, ∂var/∂e = 2c·w·(e − M).
func (t *JointTile) gradientAt(p int, w float64, gm, gv []float64) {
	e, shift := t.row(p)
	for j := range t.df {
		g := gm[j]
		if t.spare[j] > 0 {
			g += 2 * t.c * gv[j] * (e[j] - shift[j])
		}
		t.df[j] = w * g
		t.df0[j] -= w * g
	}
}

// row returns what was seen at point p and the M of its group.
func (t *JointTile) row(p int) (e, shift []float64) {
	g := p * t.groups / t.points
	return t.e[p*t.out:][:t.out], t.shift[g*t.out:][:t.out]
}

// stand writes the standardised point p to z.
func (t *JointTile) stand(p int) {
	switch {
	case t.draws != nil:
		compute.Convert(t.z, t.draws[p*t.in:][:t.in])
	case t.nodes != nil:
		copy(t.z, t.nodes[p*t.in:])
	default:
		t.rule.Node(t.in, p, t.z)
	}
}

// place writes point p to x, standardised to z.
func (t *JointTile) place(p int, mean []float64) {
	t.stand(p)
	if t.root != nil {
		for i, m := range mean {
			for j, r := range t.root[i*t.in:][:i+1] {
				m += r * t.z[j]
			}
			t.x[i] = m
		}
		return
	}
	for i, m := range mean {
		t.x[i] = m + t.sigma[i]*t.z[i]
	}
}

// look evaluates the map at all points.
func (t *JointTile) look(mean []float64) {
	if t.draws != nil {
		kernel.Normals(t.draws, t.Key, t.Row, t.Unit, t.in, t.points)
	}
	t.m.F(mean, t.f0)
	for p := range t.w {
		t.place(p, mean)
		e := t.e[p*t.out:][:t.out]
		t.m.F(t.x, e)
		for j, f := range t.f0 {
			e[j] -= f
		}
	}
}

// combine sums what was seen.
func (t *JointTile) combine(mean, variance []float64) {
	clear(t.shift)
	for p, w := range t.w {
		e, shift := t.row(p)
		for j, e := range e {
			shift[j] += w * e
		}
	}
	copy(mean, t.f0)
	clear(variance)
	for g := range t.groups {
		rest := t.rest(g)
		for j, s := range t.shift[g*t.out:][:t.out] {
			mean[j] += s
			variance[j] += t.c * rest * s * s
		}
	}
	for p, w := range t.w {
		e, shift := t.row(p)
		for j, e := range e {
			d := e - shift[j]
			variance[j] += t.c * w * d * d
		}
	}
	for j, v := range variance {
		variance[j] = max(v, 0)
	}
}

// rest is 1 − W, the weight of the mean in group g.
func (t *JointTile) rest(g int) float64 {
	n := t.points / t.groups
	rest := 1.0
	for _, w := range t.w[g*n:][:n] {
		rest -= w
	}
	return rest
}
