package nn_test

import (
	"math"
	"testing"

	"utvi/gauss"
	"utvi/nn"
	"utvi/rng"
	"utvi/vi"
)

// A drawing is a network, bound once with distributions and once with numbers.
type drawing struct {
	params, drawn *vi.Params[float64]
	unit          nn.Unit[float64]
	runner        nn.Runner[float64]
	in            nn.Shape
	layer         nn.Layer
}

// newDrawing binds l; its weights have standard deviations of about std.
func newDrawing(t *testing.T, l nn.Layer, in nn.Shape, std float64) *drawing {
	t.Helper()
	d := &drawing{params: &vi.Params[float64]{}, drawn: &vi.Params[float64]{}, in: in, layer: l}
	bind := func(p *vi.Params[float64], fixed bool) nn.Unit[float64] {
		u, err := nn.Bind(l, &nn.Binder[float64]{Params: p, In: in, Name: "drawn", Fixed: fixed})
		if err != nil {
			t.Fatal(err)
		}
		p.Alloc()
		p.Start(rng.New(5), vi.Std(std))
		return u
	}
	bind(d.params, false)
	d.unit = bind(d.drawn, true)
	d.runner = d.unit.NewRunner(1, false)
	return d
}

// propagate carries a row through another form of the network, with the same weights.
func (d *drawing) propagate(t *testing.T, l nn.Layer, mean, variance []float64) gauss.Batch[float64] {
	t.Helper()
	b := &nn.Binder[float64]{Params: &vi.Params[float64]{}, In: d.in, Name: "drawn"}
	if variance != nil {
		b.Form = nn.Independent
	}
	u, err := nn.Bind(l, b)
	if err != nil {
		t.Fatal(err)
	}
	b.Params.Alloc()
	copy(b.Params.Theta, d.params.Theta)
	r := u.NewRunner(1, false)
	for i := range u.PrepareTiles() {
		r.Prepare(i)
	}
	out := gauss.New[float64](1, u.Out().Size())
	r.Forward(&nn.Pass[float64]{In: gauss.Batch[float64]{Rows: 1, Width: len(mean), Mean: mean, Var: variance}, Out: out})
	return out
}

// moments runs drawn networks on drawn inputs.
func (d *drawing) moments(mean, variance []float64, networks int) (m, v []float64) {
	n := d.unit.Out().Size()
	m, v = make([]float64, n), make([]float64, n)
	x, out := gauss.Fixed(len(mean), make([]float64, len(mean))), gauss.Fixed(n, make([]float64, n))
	for s := range networks {
		for k, from := range d.params.Tensors {
			for i, w := range from.Mean {
				if from.Random {
					w += math.Log1p(math.Exp(from.Rho[i])) * rng.Normal(rng.New(21).Sub(uint64(s), uint32(k)), uint64(i))
				}
				d.drawn.Tensors[k].Mean[i] = w
			}
		}
		for i, m := range mean {
			x.Mean[i] = m
			if variance != nil {
				x.Mean[i] += math.Sqrt(variance[i]) * rng.Normal(rng.New(22).Sub(uint64(s), 0), uint64(i))
			}
		}
		for i := range d.unit.PrepareTiles() {
			d.runner.Prepare(i)
		}
		d.runner.Forward(&nn.Pass[float64]{In: x, Out: out})
		for j, y := range out.Mean {
			e := y - m[j]
			m[j] += e / float64(s+1)
			v[j] += e * (y - m[j])
		}
	}
	for j := range v {
		v[j] /= float64(networks - 1)
	}
	return m, v
}

// worstStd is the largest relative error of a standard deviation.
func worstStd(got, want []float64) (worst float64) {
	for j := range got {
		if e := math.Sqrt(got[j]/want[j]) - 1; math.Abs(e) > math.Abs(worst) {
			worst = e
		}
	}
	return worst
}

// beatsIndependence holds a correlated network to drawn ones: its standard deviations
// must be within tol, which those of independent units must miss.
func beatsIndependence(t *testing.T, layers nn.Chain, in nn.Shape, std, tol float64, mean, variance []float64) {
	t.Helper()
	d := newDrawing(t, layers, in, std)
	_, want := d.moments(mean, variance, 20_000)
	apart := worstStd(d.propagate(t, layers, mean, variance).Var, want)
	together := worstStd(d.propagate(t, nn.Chain{nn.Correlated{Layers: layers}}, mean, variance).Var, want)
	t.Logf("σ is off by %.1f %% at worst; with independent units by %.1f %%", 100*together, 100*apart)
	if !(math.Abs(together) <= tol) {
		t.Errorf("σ is off by %.3g; it may be by %v", together, tol)
	}
	if math.Abs(apart) <= tol {
		t.Errorf("independent units pass as well: σ is off by %.3g", apart)
	}
}

// waves are inputs of about unit size.
func waves(n int, variance float64) (m, v []float64) {
	m, v = make([]float64, n), make([]float64, n)
	for i := range m {
		m[i], v[i] = math.Sin(2.3*float64(i)+0.4), variance
	}
	return m, v
}
