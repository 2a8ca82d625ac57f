package nn_test

import (
	"fmt"
	"math"
	"testing"

	"utvi/fn"
	"utvi/gauss"
	"utvi/moment"
	"utvi/nn"
	"utvi/nn/nntest"
	"utvi/rng"
	"utvi/vi"
)

// pushRow carries one row through a layer in float64; nil variances: a fixed row.
func pushRow(l nn.Layer, mean, variance []float64) gauss.Batch[float64] {
	return pushShape(l, nn.Vec(len(mean)), mean, variance)
}

// pushShape is the same for a row of any shape.
func pushShape(l nn.Layer, in nn.Shape, mean, variance []float64) gauss.Batch[float64] {
	b := &nn.Binder[float64]{Params: &vi.Params[float64]{}, In: in, Name: "layer"}
	if variance != nil {
		b.Form = nn.Independent
	}
	u, err := nn.Bind(l, b)
	if err != nil {
		panic(err)
	}
	b.Params.Alloc()
	b.Params.Start(rng.New(2), vi.Std(0.3))
	r := u.NewRunner(1, false)
	for i := range u.PrepareTiles() {
		r.Prepare(i)
	}
	out := gauss.New[float64](1, u.Out().Size())
	if u.Form() == nn.Fixed {
		out.Var = nil
	}
	r.Forward(&nn.Pass[float64]{In: gauss.Batch[float64]{Rows: 1, Width: len(mean), Mean: mean, Var: variance}, Out: out})
	return out
}

const draws = 100_000

// sampleRow draws the inputs, and hands each draw with a second standard Normal
// to f, which returns the outputs.
func sampleRow(mean, variance []float64, outputs int, f func(x []float64, z float64, y []float64)) (m, v []float64) {
	m, v = make([]float64, outputs), make([]float64, outputs)
	x, y := make([]float64, len(mean)), make([]float64, outputs)
	for s := range draws {
		key := rng.New(77).Sub(uint64(s), 0)
		for i := range x {
			x[i] = mean[i] + math.Sqrt(variance[i])*rng.Normal(key, uint64(i))
		}
		f(x, rng.Normal(key, uint64(len(x))), y)
		for j := range y {
			d := y[j] - m[j]
			m[j] += d / float64(s+1)
			v[j] += d * (y[j] - m[j])
		}
	}
	for j := range v {
		v[j] /= draws - 1
	}
	return m, v
}

// agrees compares with sampling: beyond 5 standard errors, the mean may be off
// by the share tol of the standard deviation, and the variance by tol. The
// variance of a variance is taken as for a kurtosis of up to 9.
func agrees(t *testing.T, what string, gotM, gotV, m, v, tol float64) {
	t.Helper()
	if e := math.Abs(gotM-m) / math.Sqrt(v); !(e <= tol+5/math.Sqrt(draws)) {
		t.Errorf("%s: the mean is %g, sampling gives %g (off by %.3g standard deviations)", what, gotM, m, e)
	}
	if e := math.Abs(gotV/v - 1); !(e <= tol+5*math.Sqrt(8.0/draws)) {
		t.Errorf("%s: the variance is %g, sampling gives %g (off by %.3g)", what, gotV, v, e)
	}
}

func TestJoint(t *testing.T) {
	blind := &moment.Map{Name: "blind", In: 4, Out: 2, F: func(x, y []float64) {
		y[0], y[1] = math.Sin(x[0]*x[1]), x[2]*x[2]-x[3]*x[0]
	}}
	for name, l := range map[string]nn.Joint{
		"own":    {Map: fn.Softmax()},
		"ut":     {Map: fn.Softmax(), Rule: moment.JointUT(2)},
		"gauss":  {Map: fn.Softmax(), Rule: moment.JointUTGauss()},
		"axes":   {Map: fn.Softmax(), Rule: moment.JointAxes(5)},
		"gh":     {Map: fn.Softmax(), Rule: moment.JointGH(3)},
		"fifth":  {Map: fn.Softmax(), Rule: moment.JointFifth()},
		"mc":     {Map: fn.Softmax(), Rule: moment.JointMC(9)},
		"log":    {Map: fn.LogSoftmax()},
		"no VJP": {Map: blind},
	} {
		t.Run(name, func(t *testing.T) { nntest.Layer(t, l, nn.Vec(4), nntest.Options{}) })
	}
	t.Run("two classes", func(t *testing.T) {
		nntest.Layer(t, nn.Joint{Map: fn.Softmax()}, nn.Vec(2), nntest.Options{})
	})
	t.Run("images", func(t *testing.T) {
		nntest.Layer(t, nn.Chain{nn.Flatten{}, nn.Joint{Map: fn.Softmax()}}, nn.Shape{H: 2, W: 3, C: 2}, nntest.Options{})
	})
	t.Run("in a chain", func(t *testing.T) {
		nntest.Layer(t, nn.Chain{nn.Dense{Out: 5}, nn.Joint{Map: fn.Softmax()}}, nn.Vec(3), nntest.Options{})
	})
}

func TestJointMoments(t *testing.T) {
	mean, variance := []float64{1, -0.5, 0.2, 2, -1.5}, []float64{0.4, 1.5, 0.9, 0.6, 2}
	soft := fn.Softmax()
	m, v := sampleRow(mean, variance, 5, func(x []float64, _ float64, y []float64) { soft.F(x, y) })
	out := pushRow(nn.Joint{Map: soft}, mean, variance)
	for k := range m {
		agrees(t, fmt.Sprint("class ", k), out.Mean[k], out.Var[k], m[k], v[k], 0.02)
	}
}

func TestJointRefuses(t *testing.T) {
	nntest.Refuses(t, nn.Joint{}, nn.Vec(2), "the map has no function F; write &moment.Map{F: f}")
	pair := &moment.Map{Name: "pair", In: 2, F: func(x, y []float64) {}}
	nntest.Refuses(t, nn.Joint{Map: pair}, nn.Vec(3), "pair takes 2 inputs, not 3")
	nntest.Refuses(t, nn.Joint{Map: pair, Rule: moment.JointOwn()}, nn.Vec(2),
		"own: pair has no closed form; use fifth, axes(3) or joint-mc(100)")
	nntest.Refuses(t, nn.Joint{Map: pair, Rule: moment.JointMC(0)}, nn.Vec(2), "joint-mc: 0 samples; a variance needs at least 2")
}

func ExampleJoint() {
	classify := nn.Joint{Map: fn.Softmax()}
	p := pushRow(classify, []float64{2, 0, -1}, []float64{1, 1, 1})
	fmt.Printf("%.3f %.3f %.3f\n", p.Mean[0], p.Mean[1], p.Mean[2])
	// Output: 0.762 0.168 0.071
}

// Over an image, one softmax of all pixels and channels is a mistake.
func TestJointOnImages(t *testing.T) {
	in := nn.Shape{H: 2, W: 2, C: 3}
	want := "softmax takes all units of the input 2×2×3 together, over places and channels; use nn.Softmax or nn.PerPlace"
	nntest.Refuses(t, nn.Joint{Map: fn.Softmax()}, in, want)
	nntest.Refuses(t, nn.Joint{Map: fn.LogSoftmax()}, in, "log_"+want)
	outOf(nn.Chain{nn.Flatten{}, nn.Joint{Map: fn.Softmax()}}, in)
}
