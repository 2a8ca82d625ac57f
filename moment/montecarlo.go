package moment

import (
	"fmt"

	"utvi/compute"
)

// MonteCarlo returns the sampling rule ("MCVI"): n ≥ 2 reparameterised draws
// x = m + σε per element, their mean and their n−1 variance. ε is drawn from the
// stream of (seed, step, layer), counted by (row, unit, sample).
func MonteCarlo(n int) Rule { return monteCarlo{n} }

type monteCarlo struct{ n int }

func (r monteCarlo) String() string          { return fmt.Sprintf("mc(%d)", r.n) }
func (r monteCarlo) Points() int             { return r.n }
func (r monteCarlo) Draws() bool             { return true }
func (r monteCarlo) Learns() bool            { return false }
func (r monteCarlo) Vector(f *Func) bool     { return f.Op != compute.OpUser }
func (r monteCarlo) Push32(t *Tile[float32]) { pushDraws(t, r.n) }
func (r monteCarlo) Push64(t *Tile[float64]) { pushDraws(t, r.n) }

func (r monteCarlo) Check(f *Func) error {
	if r.n < 2 {
		return fmt.Errorf("mc: %d samples; a variance needs at least 2", r.n)
	}
	return checkFunc(f)
}

func pushDraws[T compute.Float](t *Tile[T], p int) {
	n := len(t.Mean)
	s, x, f, xi := t.s[:n], t.x[:n*p], t.f[:n*p], t.xi[:n*p]
	var d []T
	if t.jacobian() {
		d = t.d[:n*p]
	}
	if z, ok := any(xi).([]float32); ok {
		compute.Normals(z, t.Key, t.Row, t.Unit, n, p)
	} else {
		compute.Normals(t.draws[:n*p], t.Key, t.Row, t.Unit, n, p)
		convert(xi, t.draws[:n*p])
	}
	compute.PointsEach(t.Mean, t.Var, s, x, xi)
	Eval(t.F, x, f, d)
	compute.CombineEach(t.Out, s, f, d, xi, T(float64(p)/float64(p-1)))
}
