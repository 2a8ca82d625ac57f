package momenttest

import (
	"math"
	"testing"

	"utvi/gauss"
	"utvi/internal/compute/kernel"
	"utvi/moment"
)

// parameters checks the derivatives of the moments with respect to the learned
// parameters of a formula, in float64 against finite differences, also where the
// variance vanishes, and float32 against float64.
func parameters(t *testing.T, f *moment.Func, r moment.Rule) {
	start := make([]float64, len(f.Formula.Inputs))
	for i, p := range f.Formula.Inputs {
		start[i] = p.Start(0)
	}
	small := []struct{ m, v float64 }{{1.3, 1e-14}, {-2.1, 1e-11}, {0.4, 0}}
	for _, c := range append(small, cases...) {
		if nearKink(f, r, c.m, c.v) {
			continue
		}
		got := pushParams[float64](f, r, c.m, c.v, start)
		single := pushParams[float32](f, r, c.m, c.v, start)
		for j := range f.Formula.Learned {
			h := 1e-3 * (0.1 + math.Abs(start[j]))
			want := slope(func(d float64) moment.Jet {
				at := append([]float64(nil), start...)
				at[j] += d
				p := pushParams[float64](f, r, c.m, c.v, at)
				return moment.Jet{Mean: p.mean, Var: p.variance}
			}, h)
			size := math.Abs(got.mean) + math.Sqrt(got.variance)
			near(t, "∂mean/∂"+f.Formula.Inputs[j].Name, c.m, c.v, got.mp[j], want.Mean, 1e-12*size/h)
			// A variance that vanishes is as good as its values' last places.
			near(t, "∂var/∂"+f.Formula.Inputs[j].Name, c.m, c.v, got.vp[j], want.Var, 1e-9*got.variance/h+1e-11*size*math.Sqrt(c.v))
			if d := math.Abs(single.mp[j] - got.mp[j]); !(d <= 1e-4*(math.Abs(got.mp[j])+0.01*size)) {
				t.Errorf("float32 ∂mean/∂%s at N(%v, %v): %v, want %v", f.Formula.Inputs[j].Name, c.m, c.v, single.mp[j], got.mp[j])
			}
			if d := math.Abs(single.vp[j] - got.vp[j]); !(d <= 1e-4*math.Abs(got.vp[j])+1e-5*(got.variance+size*math.Sqrt(c.v))) {
				t.Errorf("float32 ∂var/∂%s at N(%v, %v): %v, want %v", f.Formula.Inputs[j].Name, c.m, c.v, single.vp[j], got.vp[j])
			}
		}
	}
}

// paramAllocations: no derivative by a parameter allocates, nor does the limit of
// vanishing variance.
func paramAllocations(t *testing.T, f *moment.Func, r moment.Rule) {
	tile := moment.NewTile[float32](f, r)
	n := tile.Cap()
	plane := func(v float32) []float32 {
		s := make([]float32, n)
		for i := range s {
			s[i] = v
		}
		return s
	}
	tile.Mean = plane(1.3)
	tile.Var = plane(0.2)
	tile.Kappa = 2
	tile.Var[n/2] = 1e-13
	tile.Out = kernel.Moments[float32]{Mean: plane(0), Var: plane(0), MM: plane(0), MV: plane(0), VM: plane(0), VV: plane(0)}
	for range f.Formula.Learned {
		tile.MP, tile.VP = append(tile.MP, plane(0)), append(tile.VP, plane(0))
	}
	if n := testing.AllocsPerRun(3, tile.Push); n != 0 {
		t.Errorf("Push with parameters allocates %v times", n)
	}
}

// A pushed is what a tile gave for one element.
type pushed struct {
	mean, variance float64
	mp, vp         []float64
}

// pushParams pushes one Gaussian with the given parameters.
func pushParams[T gauss.Float](f *moment.Func, r moment.Rule, m, v float64, at []float64) pushed {
	t := moment.NewTile[T](f, r)
	t.Key, t.Kappa = key, kappa(r)
	o := make([]T, 6)
	t.Mean, t.Var = []T{T(m)}, []T{T(v)}
	t.Out = kernel.Moments[T]{Mean: o[:1], Var: o[1:2], MM: o[2:3], MV: o[3:4], VM: o[4:5], VV: o[5:6]}
	for _, x := range at {
		t.Params = append(t.Params, []T{T(x)})
	}
	for range f.Formula.Learned {
		t.MP, t.VP = append(t.MP, make([]T, 1)), append(t.VP, make([]T, 1))
	}
	t.Push()
	p := pushed{mean: float64(o[0]), variance: float64(o[1])}
	for j := range t.MP {
		p.mp, p.vp = append(p.mp, float64(t.MP[j][0])), append(p.vp, float64(t.VP[j][0]))
	}
	return p
}
