package fn

import (
	"math"

	"utvi/moment"
)

// softmaxMoments is softmax's own approximation for independent Gaussian
// logits. Each output is the sigmoid of a difference of independent terms,
//
//	y_k = sigmoid(x_k − L_k),   L_k = ln Σ_{j≠k} exp(x_j),
//
// and L_k is close to Normal. Its moments are built up a logit at a time, from
// both ends, by l = ln(eᵃ+eᵇ) = a + softplus(b−a) for Normal a and b. With
// δ = b−a ~ N(μ, s²) at nodes ξ, and a given δ again Normal,
//
//	g = softplus(μ + sξ) − (v_a/s)ξ,   E l = m_a + E g,   Var l = Var g + v_a·v_b/s².
//
// The sigmoid's moments are quadrature too, and the means are divided by their
// sum. The cost is 4d one-dimensional quadratures. The result depends on the order of
// the logits by as much as its own error beyond three.
//
// For two logits only the quadrature of the sigmoid errs, which is too coarse for wide
// logits: with variances v each and equal means the variance is off by −0.01 % at v = 1,
// −0.9 % at 4, −4.7 % at 9 and −14 % at 25; with other means by up to 1.2 %, 5 % and
// 11 % at 4, 9 and 25, and the mean by up to 0.06 %, 0.8 % and 4 %. One wide logit among
// narrow ones is worse: with means 0, 3, −4 and variances v, 0.1, 0.1 the unlikely class
// gets 1.4 times its variance at v = 4, 4 times at 9, and hundreds of times at 25.
type softmaxMoments struct {
	v []float64 // variances, kept off zero for derivatives
	// left[i] is over logits 0 … i, right[i] over i … d−1, rest[k] over all
	// but k; a d-prefixed one is the gradient.
	left, right, rest []joined
	dLeft, dRight     []normal
	p, outVar         []float64 // p before it is divided by its sum
	f                 [][sigmoidOrder]float64
}

// A normal is the mean and variance of one.
type normal struct{ m, v float64 }

func (n *normal) add(g normal) {
	n.m += g.m
	n.v += g.v
}

func newSoftmaxMoments(d int) moment.ClosedForm {
	s := &softmaxMoments{v: make([]float64, d), p: make([]float64, d), outVar: make([]float64, d)}
	s.f = make([][sigmoidOrder]float64, d)
	for _, j := range []*[]joined{&s.left, &s.right, &s.rest} {
		*j = make([]joined, d)
	}
	for _, n := range []*[]normal{&s.dLeft, &s.dRight} {
		*n = make([]normal, d)
	}
	return s
}

func (s *softmaxMoments) Push(mean, variance, outMean, outVar []float64) {
	copy(s.v, variance)
	sum := s.forward(mean, outVar)
	for k, p := range s.p {
		outMean[k] = p / sum
	}
}

// forward fills left, right, rest and p, and returns the sum of p.
func (s *softmaxMoments) forward(mean, outVar []float64) (sum float64) {
	last := len(mean) - 1
	if last == 0 {
		s.p[0], outVar[0] = 1, 0
		return 1
	}
	s.left[0].normal, s.right[last].normal = normal{mean[0], s.v[0]}, normal{mean[last], s.v[last]}
	for i := 1; i <= last; i++ {
		s.left[i].join(s.left[i-1].normal, normal{mean[i], s.v[i]})
		s.right[last-i].join(s.right[last-i+1].normal, normal{mean[last-i], s.v[last-i]})
	}
	for k, m := range mean {
		switch k {
		case 0:
			s.rest[k].normal = s.right[1].normal
		case last:
			s.rest[k].normal = s.left[last-1].normal
		default:
			s.rest[k].join(s.left[k-1].normal, s.right[k+1].normal)
		}
		s.p[k], outVar[k] = sigmoidMoments(m-s.rest[k].m, s.v[k]+s.rest[k].v, &s.f[k])
		sum += s.p[k]
	}
	return sum
}

// smallest is the standard deviation, relative to 1+|m|, at which derivatives by a
// smaller one are taken.
const smallest = 1e-5

func (s *softmaxMoments) Pull(mean, variance, gm, gv, dm, dv []float64) {
	clear(dm)
	clear(dv)
	last := len(mean) - 1
	if last == 0 {
		return
	}
	for i, v := range variance {
		least := smallest * (1 + math.Abs(mean[i]))
		s.v[i] = max(v, least*least)
	}
	sum := s.forward(mean, s.outVar)
	var shared float64
	for k, p := range s.p {
		shared += gm[k] * p / sum
	}
	clear(s.dLeft)
	clear(s.dRight)
	for k := range mean {
		g := sigmoidPull(s.v[k]+s.rest[k].v, s.p[k], &s.f[k], (gm[k]-shared)/sum, gv[k])
		dm[k] += g.m
		dv[k] += g.v
		rest := normal{-g.m, g.v}
		switch k {
		case 0:
			s.dRight[1].add(rest)
		case last:
			s.dLeft[last-1].add(rest)
		default:
			s.rest[k].pull(rest, &s.dLeft[k-1], &s.dRight[k+1])
		}
	}
	for i := last; i >= 1; i-- {
		var g normal
		s.left[i].pull(s.dLeft[i], &s.dLeft[i-1], &g)
		dm[i] += g.m
		dv[i] += g.v
		j := last - i
		g = normal{}
		s.right[j].pull(s.dRight[j], &s.dRight[j+1], &g)
		dm[j] += g.m
		dv[j] += g.v
	}
	dm[0] += s.dLeft[0].m
	dv[0] += s.dLeft[0].v
	dm[last] += s.dRight[last].m
	dv[last] += s.dRight[last].v
}
