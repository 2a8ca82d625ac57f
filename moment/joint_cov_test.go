package moment_test

import (
	"fmt"
	"math"
	"testing"

	"utvi/fn"
	"utvi/moment"
)

// correlatedInputs are d means and a covariance; the last input lies between the first
// two, so that independent inputs whose differences spread alike would need a negative
// variance.
func correlatedInputs(d int) (mean, cov []float64) {
	root := make([]float64, d*d)
	for i := range d {
		mean = append(mean, math.Sin(float64(3*i)))
		for j := range i + 1 {
			root[i*d+j] = 0.6 * math.Cos(float64(i*i+2*j))
		}
	}
	if d > 2 {
		for j := range d {
			root[(d-1)*d+j] = (root[j] + root[d+j]) / 2
		}
		root[d*d-1] = 0.05
	}
	cov = make([]float64, d*d)
	for i := range cov {
		for k := range d {
			cov[i] += root[i/d*d+k] * root[i%d*d+k]
		}
	}
	return mean, cov
}

// TestCovGradients: the gradients by means and covariances against differences, where
// the two halves of a covariance move together.
func TestCovGradients(t *testing.T) {
	for _, rule := range []moment.JointRule{moment.JointOwn(), moment.JointFifth(), moment.JointAxes(3), moment.JointMC(7)} {
		for _, d := range []int{1, 2, 3, 5} {
			t.Run(fmt.Sprint(rule, d), func(t *testing.T) {
				mean, cov := correlatedInputs(d)
				tile := moment.NewCovTile(fn.Softmax(), rule, d)
				om := make([]float64, d)
				ov := make([]float64, d)
				gm := make([]float64, d)
				gv := make([]float64, d)
				for i := range gm {
					gm[i], gv[i] = math.Cos(float64(i)), 3*math.Sin(float64(i+1))
				}
				dm, dc := make([]float64, d), make([]float64, d*d)
				tile.Pull(mean, cov, gm, gv, dm, dc)
				differences := func(x []float64, at ...int) float64 {
					x0, h := x[at[0]], 2e-5
					loss := func(k float64) (sum float64) {
						for _, i := range at {
							x[i] = x0 + k*h
						}
						tile.Push(mean, cov, om, ov)
						for i := range om {
							sum += gm[i]*om[i] + gv[i]*ov[i]
						}
						for _, i := range at {
							x[i] = x0
						}
						return sum
					}
					return (8*(loss(1)-loss(-1)) - (loss(2) - loss(-2))) / (12 * h)
				}
				for i := range d {
					closeTo(t, fmt.Sprint("∂/∂m ", i), dm[i], differences(mean, i), 1e-6)
					closeTo(t, fmt.Sprint("∂/∂v ", i), dc[i*d+i], differences(cov, i*d+i), 1e-6)
					for j := range i {
						closeTo(t, fmt.Sprint("∂/∂c ", i, j), dc[i*d+j]+dc[j*d+i], differences(cov, i*d+j, j*d+i), 1e-6)
					}
				}
			})
		}
	}
}

// Without covariances it is a JointTile.
func TestCovDiagonal(t *testing.T) {
	mean, v := []float64{0.3, -1, 0.8, 0.1}, []float64{0.5, 2, 0.01, 0}
	cov := make([]float64, 16)
	for i, v := range v {
		cov[i*5] = v
	}
	m := make([]float64, 4)
	s := make([]float64, 4)
	wantM := make([]float64, 4)
	wantS := make([]float64, 4)
	for _, rule := range []moment.JointRule{moment.JointOwn(), moment.JointFifth(), moment.JointMC(9)} {
		moment.NewJointTile(fn.Softmax(), rule, 4).Push(mean, v, wantM, wantS)
		moment.NewCovTile(fn.Softmax(), rule, 4).Push(mean, cov, m, s)
		for i := range m {
			closeTo(t, fmt.Sprint(rule, " mean ", i), m[i], wantM[i], 1e-12)
			closeTo(t, fmt.Sprint(rule, " variance ", i), s[i], wantS[i], 1e-12)
		}
	}
}

// An input that lies between two others can have no variance of its own: of x, y and
// (x+y)/2 the differences spread most like those of variances 5/6, 5/6 and 0.
func TestCovHeldAtZero(t *testing.T) {
	mean, v := []float64{0.3, -1, 0.8}, []float64{5.0 / 6, 5.0 / 6, 0}
	m := make([]float64, 3)
	s := make([]float64, 3)
	wantM := make([]float64, 3)
	wantS := make([]float64, 3)
	moment.NewJointTile(fn.Softmax(), moment.JointOwn(), 3).Push(mean, v, wantM, wantS)
	moment.NewCovTile(fn.Softmax(), moment.JointOwn(), 3).Push(mean, []float64{1, 0, 0.5, 0, 1, 0.5, 0.5, 0.5, 0.5}, m, s)
	for i := range m {
		closeTo(t, fmt.Sprint("mean ", i), m[i], wantM[i], 1e-12)
		closeTo(t, fmt.Sprint("variance ", i), s[i], wantS[i], 1e-12)
	}
}
