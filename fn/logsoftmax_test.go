package fn_test

import (
	"math"
	"testing"

	"utvi/fn"
	"utvi/moment"
	"utvi/rng"
)

// It is the logarithm of a softmax, with its gradient, also where that is 0.
func TestLogSoftmax(t *testing.T) {
	f := fn.LogSoftmax()
	x := []float64{0.3, -1.2, 2, 0.1}
	y := make([]float64, 4)
	p := make([]float64, 4)
	f.F(x, y)
	fn.Softmax().F(x, p)
	dy := []float64{1, -0.4, 0.7, 0.2}
	dx := make([]float64, 4)
	ds := make([]float64, 4)
	want := make([]float64, 4)
	f.VJP(x, dy, dx)
	for i := range p {
		if math.Abs(y[i]-math.Log(p[i])) > 1e-14 {
			t.Errorf("y[%d] is %v, want %v", i, y[i], math.Log(p[i]))
		}
		ds[i] = dy[i] / p[i]
	}
	fn.Softmax().VJP(x, ds, want)
	for i := range dx {
		if math.Abs(dx[i]-want[i]) > 1e-14 {
			t.Errorf("dx[%d] is %v, want %v", i, dx[i], want[i])
		}
	}
	f.F([]float64{0, -2000}, y[:2])
	if y[0] != 0 || y[1] != -2000 {
		t.Errorf("logits far apart give %v", y[:2])
	}
}

// Moments by the default rule are those of drawn logits.
func TestLogSoftmaxMoments(t *testing.T) {
	f := fn.LogSoftmax()
	for _, d := range []int{3, 10, 30} {
		m, v := softmaxCase(rng.New(1).Sub(0, uint32(d)), d, 1)
		push := func(rule moment.JointRule) (mean, variance []float64) {
			mean, variance = make([]float64, d), make([]float64, d)
			tile := moment.NewJointTile(f, rule, d)
			tile.Key = rng.New(2)
			tile.Push(m, v, mean, variance)
			return mean, variance
		}
		gotM, gotV := push(moment.DefaultJoint(f, d))
		wantM, wantV := push(moment.JointMC(50_000))
		for k, want := range wantM {
			sd := math.Sqrt(wantV[k])
			if got := math.Sqrt(gotV[k]); math.Abs(gotM[k]-want) > 0.08*sd || math.Abs(got/sd-1) > 0.05 {
				t.Errorf("d = %d: output %d is %v ± %v, drawn %v ± %v", d, k, gotM[k], got, want, sd)
			}
		}
	}
}
