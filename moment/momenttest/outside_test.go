package momenttest_test

import (
	"math"
	"testing"

	"utvi/fn"
	"utvi/gauss"
	"utvi/moment"
	"utvi/moment/momenttest"
)

// twoPoints is a rule as another module would write one: it looks at m ± σ.
type twoPoints struct{}

func (twoPoints) String() string           { return "two-points" }
func (twoPoints) Check(*moment.Func) error { return nil }
func (twoPoints) Nodes() moment.Nodes {
	return moment.Nodes{Xi: []float64{-1, 1}, W: []float64{0.5, 0.5}}
}
func (twoPoints) Learns() bool                   { return false }
func (twoPoints) Vector(*moment.Func) bool       { return true }
func (twoPoints) Push32(t *moment.Tile[float32]) { pushTwo(t, 1e-3) }
func (twoPoints) Push64(t *moment.Tile[float64]) { pushTwo(t, 1e-4) }

// pushTwo takes the limit where σ < small·(1+|m|).
func pushTwo[T gauss.Float](t *moment.Tile[T], small float64) {
	n := len(t.Mean)
	s := t.Scratch(6 * n)
	x := s[:2*n]
	y := s[2*n : 4*n]
	d := s[4*n:]
	for i, m := range t.Mean {
		sigma := T(math.Sqrt(float64(t.Var[i])))
		x[i], x[n+i] = m-sigma, m+sigma
	}
	jacobian := t.Out.MM != nil
	if !jacobian {
		d = nil
	}
	t.Eval(x, y, d)
	for i, m := range t.Mean {
		half := (y[n+i] - y[i]) / 2
		t.Out.Mean[i], t.Out.Var[i] = y[i]+half, half*half
		if !jacobian {
			continue
		}
		v := t.Var[i]
		da := d[i]
		db := d[n+i]
		sigma, g := T(math.Sqrt(float64(v))), (da+db)/2
		t.Out.MM[i], t.Out.VM[i] = g, half*(db-da)
		switch {
		case v == 0:
			t.Out.MV[i], t.Out.VV[i] = 0, g*g
		case float64(sigma) < small*(1+math.Abs(float64(m))):
			c := T(t.F.Curvature(float64(m)))
			t.Out.MV[i] = c / 2
			t.Out.VM[i] = 2 * g * c * v
			t.Out.VV[i] = g * g
		default:
			t.Out.MV[i], t.Out.VV[i] = (db-da)/(4*sigma), half*g/sigma
		}
	}
}

// A rule of another module needs no memory of its own.
func TestRuleFromOutside(t *testing.T) {
	momenttest.Pair(t, fn.Tanh(), twoPoints{})
	momenttest.Pair(t, &moment.Func{F: func(x float64) float64 { return x / (1 + x*x) }}, twoPoints{})
}
