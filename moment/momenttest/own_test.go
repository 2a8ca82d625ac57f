package momenttest

import (
	"strings"
	"testing"

	"utvi/fn"
	"utvi/gauss"
	"utvi/internal/redtest"
	"utvi/moment"
)

// curved is a rule of no known method: the second-order expansion, mean f + ½f"v and
// variance f'²v + ½f"²v². Its mistake is to forget the curvature where v is tiny.
type curved struct{ mistaken bool }

func (curved) String() string                   { return "curved" }
func (curved) Check(*moment.Func) error         { return nil }
func (curved) Nodes() moment.Nodes              { return moment.Nodes{Method: moment.ByOwnFormula} }
func (curved) Learns() bool                     { return false }
func (curved) Vector(*moment.Func) bool         { return false }
func (r curved) Push32(t *moment.Tile[float32]) { pushCurved(r, t) }
func (r curved) Push64(t *moment.Tile[float64]) { pushCurved(r, t) }

func pushCurved[T gauss.Float](r curved, t *moment.Tile[T]) {
	for i := range t.Mean {
		m, v := float64(t.Mean[i]), float64(t.Var[i])
		f := t.F.F(m)
		g := t.F.Slope(m)
		h := t.F.Curvature(m)
		const e = 1e-5
		k := (t.F.Curvature(m+e) - t.F.Curvature(m-e)) / (2 * e)
		t.Out.Mean[i], t.Out.Var[i] = T(f+h*v/2), T(g*g*v+h*h*v*v/2)
		if t.Out.MM == nil {
			continue
		}
		if v == 0 || r.mistaken && v < 1e-9 {
			h = 0
		}
		t.Out.MM[i], t.Out.MV[i] = T(g+k*v/2), T(h/2)
		t.Out.VM[i], t.Out.VV[i] = T(2*g*h*v+h*k*v*v), T(g*g+h*h*v)
	}
}

// A rule of its own formula passes the suite; a wrong limit is named.
func TestOwnFormula(t *testing.T) {
	Pair(t, fn.Tanh(), curved{})
	failed := redtest.Run(t, func(t testing.TB) { vanishingVariance(t, fn.Tanh(), curved{mistaken: true}) })
	if len(failed) != 1 || !strings.Contains(failed[0], "∂mean/∂v at N(0.3, ") || !strings.Contains(failed[0], "the rule must take the limit of tiny variances itself") {
		t.Errorf("%q", failed)
	}
}
