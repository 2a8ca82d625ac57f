package fn

import (
	"math"

	"utvi/moment"
	"utvi/rng"
	"utvi/special"
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
// sum. The cost is 4d one-dimensional quadratures; the result is exact for two
// logits and depends, far below its error, on their order.
//
// Errors against 10⁶ joint draws, means over logits N(0, 1.5²) and variances
// within ±50 % of v: the root mean square over the classes, in per cent of the
// root mean square of the true values, of the mean | of the variance.
//
// # TABLE
//
// (go test ./fn -bench SoftmaxRules.) So nn.Joint takes this rule for softmax.
type softmaxMoments struct {
	xi, w []float64 // Gauss–Hermite
	v     []float64 // variances, kept off zero for derivatives
	// left[i] is over logits 0 … i, right[i] over i … d−1, rest[k] over all
	// but k; a d-prefixed one is the gradient.
	left, right, rest    []normal
	dLeft, dRight, dRest []normal
	p, dp                []float64 // outputs before they are divided by their sum
}

// A normal is the mean and variance of one.
type normal struct{ m, v float64 }

// softmaxOrder is what the quadratures need at logit variances up to 4.
const softmaxOrder = 11

func newSoftmaxMoments(d int) moment.OwnMoments {
	s := &softmaxMoments{}
	s.xi, s.w = moment.PointsAt(moment.GaussHermite(softmaxOrder), 0, 1, rng.Key{})
	s.v, s.p, s.dp = make([]float64, d), make([]float64, d), make([]float64, d)
	for _, n := range []*[]normal{&s.left, &s.right, &s.rest, &s.dLeft, &s.dRight, &s.dRest} {
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
	s.left[0], s.right[last] = normal{mean[0], s.v[0]}, normal{mean[last], s.v[last]}
	for i := 1; i <= last; i++ {
		s.left[i] = s.join(s.left[i-1], normal{mean[i], s.v[i]})
		s.right[last-i] = s.join(s.right[last-i+1], normal{mean[last-i], s.v[last-i]})
	}
	for k, m := range mean {
		switch k {
		case 0:
			s.rest[k] = s.right[1]
		case last:
			s.rest[k] = s.left[last-1]
		default:
			s.rest[k] = s.join(s.left[k-1], s.right[k+1])
		}
		s.p[k], outVar[k] = s.sigmoid(m-s.rest[k].m, s.v[k]+s.rest[k].v)
		sum += s.p[k]
	}
	return sum
}

// smallest is the standard deviation, beside 1+|m|, at which derivatives by a
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
	sum := s.forward(mean, s.dp) // the variances are not wanted
	var shared float64
	for k, p := range s.p {
		shared += gm[k] * p / sum
	}
	clear(s.dLeft)
	clear(s.dRight)
	for k, m := range mean {
		g := s.sigmoidPull(m-s.rest[k].m, s.v[k]+s.rest[k].v, s.p[k], (gm[k]-shared)/sum, gv[k])
		dm[k] += g.m
		dv[k] += g.v
		rest := normal{-g.m, g.v}
		switch k {
		case 0:
			s.dRight[1].add(rest)
		case last:
			s.dLeft[last-1].add(rest)
		default:
			s.joinPull(s.left[k-1], s.right[k+1], rest, &s.dLeft[k-1], &s.dRight[k+1])
		}
	}
	for i := last; i >= 1; i-- {
		var g normal
		s.joinPull(s.left[i-1], normal{mean[i], s.v[i]}, s.dLeft[i], &s.dLeft[i-1], &g)
		dm[i] += g.m
		dv[i] += g.v
		j := last - i
		g = normal{}
		s.joinPull(s.right[j+1], normal{mean[j], s.v[j]}, s.dRight[j], &s.dRight[j+1], &g)
		dm[j] += g.m
		dv[j] += g.v
	}
	dm[0] += s.dLeft[0].m
	dv[0] += s.dLeft[0].v
	dm[last] += s.dRight[last].m
	dv[last] += s.dRight[last].v
}

func (n *normal) add(g normal) {
	n.m += g.m
	n.v += g.v
}

// join returns the moments of ln(eᵃ+eᵇ).
func (s *softmaxMoments) join(a, b normal) normal {
	mu, v := b.m-a.m, a.v+b.v
	if v == 0 {
		return normal{a.m + special.Softplus(mu), 0}
	}
	sd := math.Sqrt(v)
	r := a.v / sd
	var g [softmaxOrder]float64
	var mean, variance float64
	for q, x := range s.xi {
		g[q] = special.Softplus(mu+sd*x) - r*x
		mean += s.w[q] * g[q]
	}
	for q, g := range g {
		variance += s.w[q] * (g - mean) * (g - mean)
	}
	return normal{a.m + mean, variance + a.v*(b.v/v)}
}

// joinPull adds to da and db the gradient d of join(a, b).
func (s *softmaxMoments) joinPull(a, b, d normal, da, db *normal) {
	mu, v := b.m-a.m, a.v+b.v
	sd := math.Sqrt(v)
	r := a.v / sd
	var g, slope [softmaxOrder]float64
	var mean float64
	for q, x := range s.xi {
		g[q] = special.Softplus(mu+sd*x) - r*x
		slope[q] = special.Sigmoid(mu + sd*x)
		mean += s.w[q] * g[q]
	}
	var dmu, dsd, dr float64
	for q, x := range s.xi {
		h := s.w[q] * (d.m + 2*d.v*(g[q]-mean))
		dmu += h * slope[q]
		dsd += h * slope[q] * x
		dr -= h * x
	}
	dv := (dsd - dr*r/sd) / (2 * sd) // r = v_a/s
	da.add(normal{d.m - dmu, dv + dr/sd + d.v*(b.v/v)*(b.v/v)})
	db.add(normal{dmu, dv + d.v*(a.v/v)*(a.v/v)})
}

// sigmoid returns the moments of sigmoid(x), x ~ N(m, v).
func (s *softmaxMoments) sigmoid(m, v float64) (mean, variance float64) {
	sd := math.Sqrt(v)
	centre := special.Sigmoid(m)
	var e [softmaxOrder]float64
	for q, x := range s.xi {
		e[q] = special.Sigmoid(m+sd*x) - centre
		mean += s.w[q] * e[q]
	}
	for q, e := range e {
		variance += s.w[q] * (e - mean) * (e - mean)
	}
	return centre + mean, variance
}

func (s *softmaxMoments) sigmoidPull(m, v, mean, gm, gv float64) (d normal) {
	sd := math.Sqrt(v)
	for q, x := range s.xi {
		f := special.Sigmoid(m + sd*x)
		h := s.w[q] * (gm + 2*gv*(f-mean)) * f * special.Sigmoid(-m-sd*x)
		d.m += h
		d.v += h * x
	}
	d.v /= 2 * sd
	return d
}
