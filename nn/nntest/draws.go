package nntest

import (
	"math"
	"testing"

	"utvi/gauss"
	"utvi/nn"
	"utvi/rng"
	"utvi/vi"
)

// draws: the moments of the outputs of the first row must agree with draws of inputs
// and weights. Variance that remains with fixed weights, such as noise, is added.
func draws(t testing.TB, s subject) {
	u, params := bind[float64](t, s, false)
	if u.Form() == nn.Fixed {
		return // nothing can be drawn
	}
	key := rng.New(5)
	params.Start(key, vi.Init{RhoMin: -2, RhoMax: 0})
	x := inputs[float64](s).Slice(0, 1)
	out := push(u, x)

	s.form, s.drawn = nn.Fixed, true
	fixed, drawn := bind[float64](t, s, false)
	if len(drawn.Tensors) != len(params.Tensors) {
		t.Fatalf("with fixed weights, the layer declares %d tensors instead of %d", len(drawn.Tensors), len(params.Tensors))
	}
	sampler := vi.NewSampler(params)
	num := gauss.Fixed(x.Width, make([]float64, x.Width))
	y := make([]sampled, len(out.Mean))
	for k := range s.Draws {
		at := key.Sub(uint64(k), 9)
		shared := rng.Normal(at, uint64(x.Width))
		for i, m := range x.Mean {
			num.Mean[i] = m
			if x.Var != nil {
				z := rng.Normal(at, uint64(i))
				if x.Cov != nil {
					z = loading(i)*shared + math.Sqrt(1-loading(i)*loading(i))*z
				}
				num.Mean[i] += math.Sqrt(x.Var[i]) * z
			}
		}
		sampler.Draw(at.Sub(1, 1), drawn)
		one := push(fixed, num)
		for i := range y {
			v := 0.0
			if one.Var != nil {
				v = one.Var[i]
			}
			y[i].add(one.Mean[i]-out.Mean[i], v)
		}
	}
	for i := range y {
		y[i].agrees(t, i, out.Mean[i], out.Var[i], s.Options)
	}
}

// push carries one batch through a unit whose weights are new.
func push(u nn.Unit[float64], x gauss.Batch[float64]) gauss.Batch[float64] {
	r := u.NewRunner(x.Rows, false)
	prepare(u, r)
	out := results[float64](u.Out(), u.Form()).Slice(0, x.Rows)
	r.Forward(&nn.Pass[float64]{In: x, Out: out})
	return out
}

// sampled sums what was drawn of one output: distances d from the predicted mean,
// and q = d² + v, whose mean is the variance.
type sampled struct{ n, d, q, qq float64 }

func (s *sampled) add(d, v float64) {
	q := d*d + v
	s.n++
	s.d += d
	s.q += q
	s.qq += q * q
}

func (s *sampled) agrees(t testing.TB, i int, mean, variance float64, o Options) {
	t.Helper()
	d, q := s.d/s.n, s.q/s.n
	v := q - d*d
	if limit := (5/math.Sqrt(s.n) + o.MeanBias) * math.Sqrt(v); !(math.Abs(d) <= limit) {
		t.Errorf("output %d: the mean is %v, drawn %v ± %v", i, mean, mean+d, limit)
	}
	if limit := 5*math.Sqrt(max(0, s.qq/s.n-q*q)/s.n) + o.VarBias*v; !(math.Abs(v-variance) <= limit+1e-10*v) {
		t.Errorf("output %d: the variance is %v, drawn %v ± %v", i, variance, v, limit)
	}
}
