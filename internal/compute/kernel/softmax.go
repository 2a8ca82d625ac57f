package kernel

import (
	"math"

	"utvi/internal/compute/internal/cpu"
)

// This file has the moments of softmaxes, eight side by side, in float64; fn.Softmax has the
// mathematics. Families agree to about 1e-15.

// Eight are numbers side by side, each of a softmax of its own.
type Eight [8]float64

// JoinOrder and LogisticOrder are those of the quadratures of Join and Logistic.
const (
	JoinOrder     = 5
	LogisticOrder = 15
)

// SoftmaxNodes are the points and weights of both quadratures.
type SoftmaxNodes struct {
	JoinX, JoinW         [JoinOrder]float64
	LogisticX, LogisticW [LogisticOrder]float64
}

// A Normals8 has the means and variances of eight Normals.
type Normals8 struct{ M, V Eight }

// Joined are l = ln(eᵃ+eᵇ) of two Normals each, with what their derivatives need: of
// g = softplus(μ + sξ) − (v_a/s)ξ the mean and at the points the values, and the slopes of softplus.
type Joined struct {
	Normals8
	Mean     Eight
	G, Slope [JoinOrder]Eight
}

// Join computes l from the moments of a and b.
func Join(l *Joined, a, b *Normals8, n *SoftmaxNodes) {
	if softmaxKernels && cpu.Vector {
		joinVector(l, a, b, n)
		return
	}
	for i := range 8 {
		l.join(i, a, b, n)
	}
}

func (l *Joined) join(i int, a, b *Normals8, n *SoftmaxNodes) {
	mu, v := b.M[i]-a.M[i], a.V[i]+b.V[i]
	sd, r := math.Sqrt(v), 0.0
	share := 0.0
	if v > 0 {
		r, share = a.V[i]/sd, a.V[i]*(b.V[i]/v)
	}
	mean := 0.0
	for q, x := range &n.JoinX {
		t := mu + float64(sd*x)
		slope, ln := logistic(t)
		l.Slope[q][i] = slope
		l.G[q][i] = max(t, 0) + ln - float64(r*x)
		mean += float64(n.JoinW[q] * l.G[q][i])
	}
	variance := 0.0
	for q, w := range &n.JoinW {
		d := l.G[q][i] - mean
		variance += float64(w * d * d)
	}
	if v == 0 {
		variance = 0
	}
	l.Mean[i] = mean
	l.M[i], l.V[i] = a.M[i]+mean, variance+share
}

// logistic returns that of t, and ln(1+e^−|t|); its digits below 1e-16 do not count.
func logistic(t float64) (f, ln float64) {
	e := math.Exp(-math.Abs(t))
	f = 1 / (1 + e)
	if t < 0 {
		f *= e
	}
	return f, math.Log(1 + e)
}

// JoinBack adds to da and db the gradients by the moments of a and b, given the gradients d of l. The
// variances are not 0.
func JoinBack(da, db, d, a, b *Normals8, l *Joined, n *SoftmaxNodes) {
	if softmaxKernels && cpu.Vector {
		joinBackVector(da, db, d, a, b, l, n)
		return
	}
	for i := range 8 {
		v := a.V[i] + b.V[i]
		sd := math.Sqrt(v)
		var dmu, dsd, dr float64
		for q, x := range &n.JoinX {
			h := n.JoinW[q] * (d.M[i] + float64(2*d.V[i]*(l.G[q][i]-l.Mean[i])))
			dr -= float64(h * x)
			h *= l.Slope[q][i]
			dmu += h
			dsd += float64(h * x)
		}
		own, other := a.V[i]/v, b.V[i]/v
		dv := (dsd - float64(dr*own)) / (2 * sd)
		da.M[i] += d.M[i] - dmu
		da.V[i] += dv + dr/sd + float64(d.V[i]*other*other)
		db.M[i] += dmu
		db.V[i] += dv + float64(d.V[i]*own*own)
	}
}

// Logistic computes the moments y of 1/(1+e^−x), x ~ N(m, v), and leaves its values at the points in f.
func Logistic(y *Normals8, f *[LogisticOrder]Eight, x *Normals8, n *SoftmaxNodes) {
	if softmaxKernels && cpu.Vector {
		logisticVector(y, f, x, n)
		return
	}
	for i := range 8 {
		sd := math.Sqrt(x.V[i])
		mean, variance := 0.0, 0.0
		for q, point := range &n.LogisticX {
			f[q][i], _ = logistic(x.M[i] + float64(sd*point))
			mean += float64(n.LogisticW[q] * (f[q][i] - f[0][i]))
		}
		for q, w := range &n.LogisticW {
			d := f[q][i] - f[0][i] - mean
			variance += float64(w * d * d)
		}
		y.M[i], y.V[i] = f[0][i]+mean, variance
	}
}

// LogisticBack writes the gradients d by the moments of x, given the gradients g by those of y. The
// variances are not 0.
func LogisticBack(d, g, y, x *Normals8, f *[LogisticOrder]Eight, n *SoftmaxNodes) {
	if softmaxKernels && cpu.Vector {
		logisticBackVector(d, g, y, x, f, n)
		return
	}
	for i := range 8 {
		var sum, far float64
		for q, point := range &n.LogisticX {
			s := f[q][i]
			h := n.LogisticW[q] * (g.M[i] + float64(2*g.V[i]*(s-y.M[i]))) * s * (1 - s)
			sum += h
			far += float64(h * point)
		}
		d.M[i], d.V[i] = sum, far/(2*math.Sqrt(x.V[i]))
	}
}
