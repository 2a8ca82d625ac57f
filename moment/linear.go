package moment

import "utvi/gauss"

// Linear returns the linearised rule: mean f(m), variance f'(m)²v. Its derivatives
// need f″; if D2F is nil, differences of the slope are used.
func Linear() Rule { return linear{} }

type linear struct{}

func (linear) String() string          { return "linear" }
func (linear) Check(f *Func) error     { return checkFunc(f) }
func (linear) Nodes() Nodes            { return Nodes{Method: ByTangent, Xi: []float64{0}, W: []float64{1}} }
func (linear) Learns() bool            { return false }
func (linear) Vector(*Func) bool       { return true } // in float64, element by element
func (linear) Push32(t *Tile[float32]) { pushLinear(t) }
func (linear) Push64(t *Tile[float64]) { pushLinear(t) }

func pushLinear[T gauss.Float](t *Tile[T]) {
	for i, m := range t.Mean {
		m, v := float64(m), float64(t.Var[i])
		at := t.local(i, m, t.jacobian())
		d := at.d
		t.Out.Mean[i], t.Out.Var[i] = T(at.f), T(d*d*v)
		if t.jacobian() {
			t.Out.MM[i], t.Out.MV[i] = T(d), 0
			t.Out.VM[i], t.Out.VV[i] = T(2*d*at.c*v), T(d*d)
		}
		if t.Slope != nil {
			t.Slope[i] = T(d)
			t.SlopeM[i] = T(at.c)
			t.SlopeV[i] = 0
		}
		t.limitParams(i, v)
	}
}
