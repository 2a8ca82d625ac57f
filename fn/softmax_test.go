package fn_test

import (
	"fmt"
	"math"
	"testing"

	"utvi/fn"
	"utvi/internal/quad"
	"utvi/moment"
	"utvi/rng"
)

func TestSoftmaxVJP(t *testing.T) {
	f := fn.Softmax()
	x := []float64{0.3, -1.2, 2, 0.1}
	dy := []float64{1, -0.4, 0.7, 0.2}
	dx := make([]float64, 4)
	f.VJP(x, dy, dx)
	at := func() (sum float64) {
		y := make([]float64, 4)
		f.F(x, y)
		for i := range y {
			sum += y[i] * dy[i]
		}
		return sum
	}
	for i := range x {
		x0, h := x[i], 1e-5
		x[i] = x0 + h
		hi := at()
		x[i] = x0 - h
		lo := at()
		x[i] = x0
		if want := (hi - lo) / (2 * h); math.Abs(dx[i]-want) > 1e-9 {
			t.Errorf("dx[%d] is %g, differences give %g", i, dx[i], want)
		}
	}
	y := make([]float64, 3)
	f.F([]float64{1e300, -1e300, 1e300}, y)
	if y[0] != 0.5 || y[1] != 0 || y[2] != 0.5 {
		t.Errorf("huge logits give %v", y)
	}
}

// TestSoftmaxMoments holds the own rule to twice the errors of its table, and
// shows that the comparison can fail: the unscented transform does not pass.
func TestSoftmaxMoments(t *testing.T) {
	for _, d := range []int{2, 3, 10, 100} {
		draws := 200_000
		if d == 100 {
			draws = 50_000 // 1 % of the variance
		}
		for _, v := range []float64{0.1, 1, 4} {
			if d == 100 && v < 4 {
				continue
			}
			m, s := softmaxCase(rng.New(1).Sub(0, uint32(d)), d, v)
			wantM, wantV := softmaxTruth(m, s, draws)
			gotM, gotV := softmaxPush(moment.JointOwn(), m, s)
			if e := off(gotM, wantM); e > 0.013 {
				t.Errorf("d = %d, v = %v: the means are off by %.2g %%", d, v, 100*e)
			}
			if e := off(gotV, wantV); e > 0.04 {
				t.Errorf("d = %d, v = %v: the variances are off by %.2g %%", d, v, 100*e)
			}
			_, gotV = softmaxPush(moment.JointUT(2), m, s)
			if v == 4 && off(gotV, wantV) < 0.05 {
				t.Errorf("d = %d: even the unscented transform passes", d)
			}
		}
	}
}

// Two logits are a sigmoid of their difference. The errors are those that softmaxMoments
// states.
func TestSoftmaxOfTwo(t *testing.T) {
	for _, c := range []struct{ v, mean, variance, atZero float64 }{{1, 1e-5, 2e-4, -0.01e-2}, {4, 0.0006, 0.012, -0.94e-2}, {9, 0.008, 0.054, -4.71e-2}, {25, 0.04, 0.14, -13.57e-2}} {
		for _, m := range []float64{0, 1, 2, 4} {
			gotM, gotV := softmaxPush(moment.JointOwn(), []float64{m, 0}, []float64{c.v, c.v})
			wantM, wantV, err := quad.Moments(fn.Sigmoid(), m, 2*c.v)
			if err != nil {
				t.Fatal(err)
			}
			offM, offV := gotM[0]/wantM-1, gotV[0]/wantV-1
			if math.Abs(offM) > c.mean || math.Abs(offV) > c.variance || m == 0 && math.Abs(offV-c.atZero) > 1e-4 {
				t.Errorf("v = %v, means %v and 0: the mean is off by %.3g, the variance by %.3g", c.v, m, offM, offV)
			}
		}
	}
}

func TestSoftmaxMomentsAtTheEnds(t *testing.T) {
	m, v := softmaxPush(moment.JointOwn(), []float64{3}, []float64{2})
	if m[0] != 1 || v[0] != 0 {
		t.Errorf("a single class has moments %v, %v", m, v)
	}
	x := []float64{1, -2, 0.5}
	y := make([]float64, 3)
	fn.Softmax().F(x, y)
	m, v = softmaxPush(moment.JointOwn(), x, []float64{0, 0, 0})
	if off(m, y) > 1e-15 || v[0] > 1e-30 || v[2] > 1e-30 {
		t.Errorf("certain logits give %v, %v; want %v", m, v, y)
	}
	m, v = softmaxPush(moment.JointOwn(), []float64{800, -800, 790, 0}, []float64{1e4, 1, 0, 1e-20})
	var sum float64
	for i := range m {
		sum += m[i]
		if !(m[i] >= 0 && v[i] >= 0 && v[i] <= 0.25) {
			t.Errorf("wide logits give %v, %v", m, v)
		}
	}
	if math.Abs(sum-1) > 1e-14 {
		t.Errorf("the means sum to %v", sum)
	}
	own := fn.Softmax().ClosedForm(3)
	dm, dv := make([]float64, 3), make([]float64, 3)
	own.Pull(x, []float64{0, 1e-30, 0}, []float64{1, 2, 3}, []float64{1, -1, 2}, dm, dv)
	// At zero variance ∂mean/∂v = ½∂²y and ∂var/∂v = (∂y)².
	for i := range x {
		var want float64
		for k, y1 := range y {
			delta := 0.0
			if i == k {
				delta = 1
			}
			slope := y1 * (delta - y[i])
			curve := y1 * ((delta-y[i])*(delta-y[i]) - y[i]*(1-y[i]))
			want += []float64{1, 2, 3}[k]*curve/2 + []float64{1, -1, 2}[k]*slope*slope
		}
		if math.Abs(dv[i]-want) > 1e-4*math.Abs(want) {
			t.Errorf("∂/∂v[%d] at zero variance is %g, want %g", i, dv[i], want)
		}
	}
}

func TestSoftmaxIsNoFunc(t *testing.T) {
	_, err := fn.Named("softmax")
	if want := "fn: softmax couples its inputs and cannot be applied to each one alone; use it in nn.Joint"; err == nil || err.Error() != want {
		t.Errorf("Named says %v", err)
	}
	if m, err := fn.NamedMap("softmax"); err != nil || m.Name != "softmax" {
		t.Error(err)
	}
	if _, err := fn.NamedMap("tanh"); err == nil || err.Error() != `fn: unknown map "tanh"; the maps are softmax and log_softmax` {
		t.Error(err)
	}
}

func ExampleSoftmax() {
	t := moment.NewJointTile(fn.Softmax(), moment.JointOwn(), 3)
	mean, variance := make([]float64, 3), make([]float64, 3)
	t.Push([]float64{2, 0, -1}, []float64{1, 1, 1}, mean, variance)
	fmt.Printf("%.3f ± %.3f\n", mean[0], math.Sqrt(variance[0]))
	// Output: 0.762 ± 0.194
}
