package kernel

import (
	"math"
)

// Differences from the value at the mean are computed as such, so that small variances keep their
// digits in float32: with f the logistic function, E = e^δ − 1 and μ ≤ 0,
//
//	f(μ+δ) − f(μ) = f·(1−f)·E/(1 + f·E)          ln(1+e^(μ+δ)) − ln(1+e^μ) = ln(1 + f·E)
//	f(μ) − f(μ−δ) = f·(1−f)·E/(1 + (1−f)·E)      ln(1+e^μ) − ln(1+e^(μ−δ)) = ln(1 + f·E/(1 + (1−f)·E))
//
// What is right of 0 is turned around.

// A curve is the logistic function left of 0, from where it is small on.
type curve struct{ sd, beyond, exp, small, big float64 }

const (
	softmaxLeast = 64 // means lie from −softmaxLeast to 0
	softmaxMost  = 80 // above them
)

// newCurve takes the size of the mean and the variance of the argument.
func newCurve(size, v float64) (c curve) {
	near := min(softmaxLeast, size)
	c.beyond = size - near
	c.exp = math.Exp(-near)
	c.big = 1 / (1 + c.exp)
	c.small = c.exp * c.big
	c.sd = math.Sqrt(v)
	return c
}

// An away is δ from the mean up and down: what δ has beyond softmaxMost, e^δ − 1, 1/(1 + small·e) and 1/(1 + big·e).
type away struct{ rest, e, up, down float64 }

func (c *curve) away(x float64) (s away) {
	far := max(0, c.sd*x-c.beyond)
	near := min(softmaxMost, far)
	s.rest = far - near
	s.e = math.Expm1(near)
	s.up = 1 / (1 + c.small*s.e)
	s.down = 1 / (1 + c.big*s.e)
	return s
}

// leastDeviation stands for a standard deviation of 0 where it divides what is 0 as well.
const leastDeviation = 1e-19

// join is Join of element i.
func (l *Joined[T]) join(i int, a, b *Normals16[T], n *SoftmaxNodes[T]) {
	turn := b.M[i] > a.M[i]
	top, low := float64(a.V[i]), float64(b.V[i])
	if turn {
		top, low = low, top
	}
	c := newCurve(math.Abs(float64(a.M[i]-b.M[i])), top+low)
	inv := 1 / max(leastDeviation, c.sd)
	top *= inv
	low *= inv
	sum := float64(n.JoinW[0]) * c.small
	var mean, squares, far, across, mixed, farMixed float64
	for q, node := range &n.JoinX {
		x, w := float64(node), float64(n.JoinW[q+1])
		s := c.away(x)
		fall := c.small * s.e * s.down
		rise, drop := math.Log1p(c.small*s.e)+s.rest, math.Log1p(fall)
		mean += w * (rise - drop)
		up, down := rise-top*x, top*x-drop
		squares += w * (up*up + down*down)
		high := (c.small + c.small*s.e) * s.up
		change := fall * c.big * (s.e + 2) * s.up // high less its counterpart
		smaller := high - change
		sum += w * (high + smaller)
		mixed += w * (up*high + down*smaller)
		far += x * w * change
		across += x * w * (up - down)
		farMixed += x * w * ((up-down)*high + down*change)
	}
	l.M[i] = T(float64(max(a.M[i], b.M[i])) + math.Log1p(c.exp) + mean)
	l.V[i] = T(max(0, squares-mean*mean) + top*low)
	vb := 2 * (mixed - mean*sum)
	own, other := top*inv, low*inv
	base := (farMixed - mean*far + across*own) * inv
	lower := base + own*own
	upper := base + other*other - 2*across*inv
	if turn {
		sum, vb = 1-sum, -vb
		lower, upper = upper, lower
	}
	l.MB[i] = T(sum)
	l.VB[i] = T(vb)
	l.MV[i] = T(far * inv / 2)
	l.VVA[i] = T(upper)
	l.VVB[i] = T(lower)
}

// logistic is Logistic of element i.
func (y *Sigmoid[T]) logistic(i int, x, rest *Normals16[T], n *SoftmaxNodes[T]) {
	d := float64(x.M[i] - rest.M[i])
	c := newCurve(math.Abs(d), float64(x.V[i]+rest.V[i]))
	product := c.small * c.big
	skew := (1 - c.exp) * c.big // big − small
	sum := float64(n.LogisticW[0]) * product
	var mean, squares, far, mixed, farMixed float64
	for q, node := range &n.LogisticX {
		at, w := float64(node), float64(n.LogisticW[q+1])
		s := c.away(at)
		up, down := product*s.e*s.up, product*s.e*s.down
		fall := s.e * s.down * skew
		mean += w * (up * fall)
		squares += w * (up*up + down*down)
		t := (product + product*s.e) * s.up
		high := t * s.up
		change := t * fall * (s.up + s.down)
		low := high - change
		sum += w * (high + low)
		mixed += w * (high*up - low*down)
		far += w * at * change
		farMixed += w * at * (high*up + low*down)
	}
	inv := 1 / max(leastDeviation, c.sd)
	sign := 1.0
	m := c.small + mean
	if !math.Signbit(d) {
		sign, m = -1, c.big-mean
	}
	y.M[i], y.V[i] = T(m), T(max(0, squares-mean*mean))
	y.MM[i], y.MV[i] = T(sum), T(sign*far*inv/2)
	y.VM[i], y.VV[i] = T(sign*2*(mixed-mean*sum)), T((farMixed-mean*far)*inv)
}
