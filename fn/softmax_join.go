package fn

import (
	"math"
	"sync"

	"utvi/moment"
	"utvi/rng"
)

// The orders of softmaxMoments' quadratures, by what they change at logit
// variances up to 4: the softplus is the smoother of the two.
const (
	joinOrder    = 5
	sigmoidOrder = 15
)

type quadratures struct {
	joinX, joinW       [joinOrder]float64
	sigmoidX, sigmoidW [sigmoidOrder]float64
}

// softmaxNodes are the nodes and weights of both orders, made once.
var softmaxNodes = sync.OnceValue(func() *quadratures {
	n := &quadratures{}
	x, w := moment.PointsAt(moment.GaussHermite(joinOrder), 0, 1, rng.Key{})
	copy(n.joinX[:], x)
	copy(n.joinW[:], w)
	x, w = moment.PointsAt(moment.GaussHermite(sigmoidOrder), 0, 1, rng.Key{})
	copy(n.sigmoidX[:], x)
	copy(n.sigmoidW[:], w)
	return n
})

// joined is l = ln(eᵃ+eᵇ) of two Normals, with what its derivatives need.
type joined struct {
	normal
	a, b     normal
	mean     float64 // of g
	g, slope [joinOrder]float64
}

func (l *joined) join(a, b normal) {
	l.a, l.b = a, b
	mu, v := b.m-a.m, a.v+b.v
	sd, r := math.Sqrt(v), 0.0
	share := 0.0
	if v > 0 {
		r, share = a.v/sd, a.v*(b.v/v)
	}
	n := softmaxNodes()
	l.mean = 0
	for q, x := range &n.joinX {
		t := mu + sd*x
		e := math.Exp(-math.Abs(t))
		l.g[q] = max(t, 0) + math.Log(1+e) - r*x // digits of ln(1+e) below 1e-16 do not count
		l.slope[q] = 1 / (1 + e)
		if t < 0 {
			l.slope[q] *= e
		}
		l.mean += n.joinW[q] * l.g[q]
	}
	variance := 0.0
	if v > 0 {
		for q, g := range &l.g {
			variance += n.joinW[q] * (g - l.mean) * (g - l.mean)
		}
	}
	l.normal = normal{a.m + l.mean, variance + share}
}

// pull adds to da and db the gradients with respect to a and b, given the gradient d of l.
func (l *joined) pull(d normal, da, db *normal) {
	a, b := l.a, l.b
	v := a.v + b.v
	sd := math.Sqrt(v)
	n := softmaxNodes()
	var dmu, dsd, dr float64
	for q, x := range &n.joinX {
		h := n.joinW[q] * (d.m + 2*d.v*(l.g[q]-l.mean))
		dmu += h * l.slope[q]
		dsd += h * l.slope[q] * x
		dr -= h * x
	}
	dv := (dsd - dr*a.v/v) / (2 * sd) // r = v_a/s
	da.add(normal{d.m - dmu, dv + dr/sd + d.v*(b.v/v)*(b.v/v)})
	db.add(normal{dmu, dv + d.v*(a.v/v)*(a.v/v)})
}

// sigmoidMoments returns the moments of sigmoid(x), x ~ N(m, v), and leaves its
// values in f.
func sigmoidMoments(m, v float64, f *[sigmoidOrder]float64) (mean, variance float64) {
	sd := math.Sqrt(v)
	n := softmaxNodes()
	for q, x := range &n.sigmoidX {
		t := m + sd*x
		e := math.Exp(-math.Abs(t))
		f[q] = 1 / (1 + e)
		if t < 0 {
			f[q] *= e
		}
		mean += n.sigmoidW[q] * (f[q] - f[0])
	}
	for q, f0 := 0, f[0]; q < sigmoidOrder; q++ {
		d := f[q] - f0 - mean
		variance += n.sigmoidW[q] * d * d
	}
	return f[0] + mean, variance
}

// sigmoidPull returns the gradients by m and v. Where the sigmoid is within
// 1e-16 of one its slope counts as zero.
func sigmoidPull(v, mean float64, f *[sigmoidOrder]float64, gm, gv float64) (d normal) {
	n := softmaxNodes()
	for q, x := range &n.sigmoidX {
		h := n.sigmoidW[q] * (gm + 2*gv*(f[q]-mean)) * f[q] * (1 - f[q])
		d.m += h
		d.v += h * x
	}
	d.v /= 2 * math.Sqrt(v)
	return d
}
