package nn_test

import (
	"fmt"
	"math"
	"testing"

	"utvi/fn"
	"utvi/gauss"
	"utvi/moment"
	"utvi/nn"
	"utvi/rng"
	"utvi/vi"
)

// pushCov carries one row with covariances through a layer in float64.
func pushCov(l nn.Layer, mean, cov []float64) gauss.Batch[float64] {
	d := len(mean)
	u, err := nn.Bind(l, &nn.Binder[float64]{Params: &vi.Params[float64]{}, In: nn.Vec(d), Form: nn.Covariant, Name: "layer"})
	if err != nil {
		panic(err)
	}
	in := gauss.Batch[float64]{Rows: 1, Width: d, Mean: mean, Var: make([]float64, d), Cov: cov}
	for i := range in.Var {
		in.Var[i] = cov[i*d+i]
	}
	out := gauss.New[float64](1, u.Out().Size())
	u.NewRunner(1, false).Forward(&nn.Pass[float64]{In: in, Out: out})
	return out
}

// sampleCov draws rows of correlated inputs, by a root of cov that is not triangular.
func sampleCov(mean, root []float64, draws, outputs int, f func(x, y []float64)) (m, v []float64) {
	d := len(mean)
	k := len(root) / d
	m, v = make([]float64, outputs), make([]float64, outputs)
	x := make([]float64, d)
	y := make([]float64, outputs)
	z := make([]float64, k)
	for s := range draws {
		key := rng.New(78).Sub(uint64(s), 0)
		for j := range z {
			z[j] = rng.Normal(key, uint64(j))
		}
		for i := range x {
			x[i] = mean[i]
			for j, z := range z {
				x[i] += root[i*k+j] * z
			}
		}
		f(x, y)
		for j := range y {
			e := y[j] - m[j]
			m[j] += e / float64(s+1)
			v[j] += e * (y[j] - m[j])
		}
	}
	for j := range v {
		v[j] /= float64(draws - 1)
	}
	return m, v
}

// square is root·rootᵀ.
func square(root []float64, d int) []float64 {
	k := len(root) / d
	c := make([]float64, d*d)
	for i := range c {
		for j := range k {
			c[i] += root[i/d*k+j] * root[i%d*k+j]
		}
	}
	return c
}

// logits of variances within ±50 % of v and a common correlation rho, or, below 0, one
// of random signs and sizes.
func logits(row, d int, v, rho float64) (mean, root []float64) {
	key := rng.New(4).Sub(uint64(row), uint32(d))
	mean, root = make([]float64, d), make([]float64, d*(d+1))
	for i := range mean {
		mean[i] = 1.5 * rng.Normal(key, uint64(3*i))
		s := math.Sqrt(v * (0.5 + rng.Uniform(key, uint64(3*i+1))))
		load := math.Sqrt(rho)
		if rho < 0 {
			load = 2*rng.Uniform(key, uint64(3*i+2)) - 1
		}
		root[i*(d+1)], root[i*(d+1)+1+i] = s*load, s*math.Sqrt(1-load*load)
	}
	return mean, root
}

// softmaxErrors are the root mean square errors of the variances over classes and rows,
// relative to the true ones, of independent units and of units with covariances.
func softmaxErrors(l nn.Joint, rows, draws, d int, v, rho float64) (apart, together float64) {
	var sum, a, b float64
	for row := range rows {
		mean, root := logits(row, d, v, rho)
		cov := square(root, d)
		variance := make([]float64, d)
		for i := range variance {
			variance[i] = cov[i*d+i]
		}
		_, want := sampleCov(mean, root, draws, d, l.Map.F)
		alone, full := pushRow(l, mean, variance), pushCov(l, mean, cov)
		for i, w := range want {
			sum += w * w
			a += (alone.Var[i] - w) * (alone.Var[i] - w)
			b += (full.Var[i] - w) * (full.Var[i] - w)
		}
	}
	return math.Sqrt(a / sum), math.Sqrt(b / sum)
}

// BenchmarkSoftmaxCovariance measures the table of Joint:
//
//	go test ./nn -run xxx -bench SoftmaxCovariance -benchtime 1x
func BenchmarkSoftmaxCovariance(b *testing.B) {
	for _, l := range []nn.Joint{{Map: fn.Softmax()}, {Map: fn.Softmax(), Rule: moment.JointFifth()}} {
		for _, d := range []int{2, 3, 10} {
			for _, v := range []float64{0.1, 1, 4} {
				for _, rho := range []float64{0.3, 0.6, -1} {
					b.Run(fmt.Sprintf("%v/d=%d/v=%v/rho=%v", l.Rule, d, v, rho), func(b *testing.B) {
						var apart, together float64
						for b.Loop() {
							apart, together = softmaxErrors(l, 4, 200_000, d, v, rho)
						}
						b.ReportMetric(100*apart, "%independent")
						b.ReportMetric(100*together, "%covariances")
					})
				}
			}
		}
	}
}

func TestSoftmaxCovariance(t *testing.T) {
	own, fifth := nn.Joint{Map: fn.Softmax()}, nn.Joint{Map: fn.Softmax(), Rule: moment.JointFifth()}
	for _, c := range []struct {
		layer  nn.Joint
		d      int
		v, rho float64
		tol    float64
	}{{own, 2, 1, 0.6, 0.015}, {own, 3, 1, 0.3, 0.03}, {own, 10, 1, 0.6, 0.04}, {fifth, 3, 1, 0.6, 0.03}, {fifth, 10, 0.1, -1, 0.02}} {
		apart, together := softmaxErrors(c.layer, 2, 50_000, c.d, c.v, c.rho)
		if !(together <= c.tol) || apart < 0.1 {
			t.Errorf("%v of %d logits, v = %v, ρ = %v: variances off by %.3g, without covariances by %.3g", c.layer.Rule, c.d, c.v, c.rho, together, apart)
		}
	}
}

// Certain and linearly dependent inputs, and covariances that are none to rounding.
func TestJointSingular(t *testing.T) {
	soft := fn.Softmax()
	for _, rule := range []moment.JointRule{nil, moment.JointFifth(), moment.JointMC(2000)} {
		l := nn.Joint{Map: soft, Rule: rule}
		mean := []float64{1, -0.5, 0.2}
		y := make([]float64, 3)
		soft.F(mean, y)
		all := []float64{1, 1, 1, 1, 1, 1, 1, 1, 1}
		for name, cov := range map[string][]float64{"certain": make([]float64, 9), "shifted alike": all} {
			out := pushCov(l, mean, cov)
			for i := range y {
				if math.Abs(out.Mean[i]-y[i]) > 1e-4 || !(out.Var[i] < 1e-6) {
					t.Errorf("%v, %s: class %d has N(%v, %v), want %v", rule, name, i, out.Mean[i], out.Var[i], y[i])
				}
			}
		}
		cov := []float64{1, 1 + 1e-8, 0, 1 + 1e-8, 1, 0, 0, 0, 0}
		out := pushCov(l, mean, cov)
		_, want := sampleCov(mean, []float64{1, 1, 0}, 20_000, 3, soft.F)
		if e := worstStd(out.Var, want); !(math.Abs(e) < 0.4) { // one cause of three logits, seen as independent differences
			t.Errorf("%v: σ is off by %v", rule, e)
		}
	}
}
