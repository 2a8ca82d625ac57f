package nn

import (
	"math"
	"sync"

	"utvi/internal/compute/kernel"
	"utvi/moment"
	"utvi/rng"
)

// eightSoftmaxes are eight softmaxes of as many logits, side by side, by the rule of fn.Softmax: output k
// is the logistic function of x_k − L_k, L_k the log-sum-exp of the other logits, built up a logit
// at a time from both ends.
type eightSoftmaxes struct {
	x, y  []kernel.Normals8 // logits, and the outputs before their means are divided by the sum
	sum   kernel.Eight
	dx    []kernel.Normals8
	dy    []kernel.Normals8
	away  []kernel.Normals8 // x_k − L_k
	left  []kernel.Joined   // over logits 0 … k
	right []kernel.Joined   // over k and those behind it
	rest  []kernel.Joined   // over all but k
	f     [][kernel.LogisticOrder]kernel.Eight

	dLeft, dRight []kernel.Normals8
}

// softmaxNodes are those of the closed form of fn.Softmax.
var softmaxNodes = sync.OnceValue(func() *kernel.SoftmaxNodes {
	n := &kernel.SoftmaxNodes{}
	x, w := moment.PointsAt(moment.GaussHermite(kernel.JoinOrder), 0, 1, rng.Key{})
	copy(n.JoinX[:], x)
	copy(n.JoinW[:], w)
	x, w = moment.PointsAt(moment.GaussHermite(kernel.LogisticOrder), 0, 1, rng.Key{})
	copy(n.LogisticX[:], x)
	copy(n.LogisticW[:], w)
	return n
})

func newEightSoftmaxes(n int) *eightSoftmaxes {
	s := &eightSoftmaxes{f: make([][kernel.LogisticOrder]kernel.Eight, n)}
	for _, x := range []*[]kernel.Normals8{&s.x, &s.y, &s.dx, &s.dy, &s.away, &s.dLeft, &s.dRight} {
		*x = make([]kernel.Normals8, n)
	}
	for _, j := range []*[]kernel.Joined{&s.left, &s.right, &s.rest} {
		*j = make([]kernel.Joined, n)
	}
	return s
}

// forward computes y and sum from the first n logits.
func (s *eightSoftmaxes) forward(n int) {
	last := n - 1
	s.sum = kernel.Eight{}
	if last == 0 {
		s.y[0] = kernel.Normals8{M: kernel.Eight{1, 1, 1, 1, 1, 1, 1, 1}}
		s.sum = s.y[0].M
		return
	}
	nodes := softmaxNodes()
	s.left[0].Normals8 = s.x[0]
	s.right[last].Normals8 = s.x[last]
	for i := 1; i < last; i++ {
		kernel.Join(&s.left[i], &s.left[i-1].Normals8, &s.x[i], nodes)
		kernel.Join(&s.right[last-i], &s.right[last-i+1].Normals8, &s.x[last-i], nodes)
	}
	for k := range n {
		rest := &s.rest[k]
		switch k {
		case 0:
			rest.Normals8 = s.right[1].Normals8
		case last:
			rest.Normals8 = s.left[last-1].Normals8
		default:
			kernel.Join(rest, &s.left[k-1].Normals8, &s.right[k+1].Normals8, nodes)
		}
		x, away := &s.x[k], &s.away[k]
		for i := range 8 {
			away.M[i] = x.M[i] - rest.M[i]
			away.V[i] = x.V[i] + rest.V[i]
		}
		kernel.Logistic(&s.y[k], &s.f[k], away, nodes)
		for i, p := range &s.y[k].M {
			s.sum[i] += p
		}
	}
}

// smallest is the standard deviation, relative to 1+|m|, at which derivatives by a
// smaller one are taken.
const smallest = 1e-5

// back writes dx, given dy.
func (s *eightSoftmaxes) back(n int) {
	clear(s.dx[:n])
	last := n - 1
	if last == 0 {
		return
	}
	for k := range n {
		x := &s.x[k]
		for i, m := range &x.M {
			least := smallest * (1 + math.Abs(m))
			x.V[i] = max(x.V[i], least*least)
		}
	}
	s.forward(n)
	clear(s.dLeft[:n])
	clear(s.dRight[:n])
	s.backLogistics(n)
	nodes := softmaxNodes()
	for i := last - 1; i >= 1; i-- {
		kernel.JoinBack(&s.dLeft[i-1], &s.dx[i], &s.dLeft[i], &s.left[i-1].Normals8, &s.x[i], &s.left[i], nodes)
		j := last - i
		kernel.JoinBack(&s.dRight[j+1], &s.dx[j], &s.dRight[j], &s.right[j+1].Normals8, &s.x[j], &s.right[j], nodes)
	}
	addNormals(&s.dx[0], &s.dLeft[0])
	addNormals(&s.dx[last], &s.dRight[last])
}

// backLogistics takes dy back to the logits and to what is built up from both ends.
func (s *eightSoftmaxes) backLogistics(n int) {
	nodes, last := softmaxNodes(), n-1
	var shared kernel.Eight
	for k := range n {
		for i, p := range &s.y[k].M {
			shared[i] += s.dy[k].M[i] * p / s.sum[i]
		}
	}
	for k := range n {
		g := &s.dy[k]
		for i := range 8 {
			g.M[i] = (g.M[i] - shared[i]) / s.sum[i]
		}
		var d kernel.Normals8
		kernel.LogisticBack(&d, g, &s.y[k], &s.away[k], &s.f[k], nodes)
		addNormals(&s.dx[k], &d)
		for i, m := range &d.M {
			d.M[i] = -m
		}
		switch k {
		case 0:
			addNormals(&s.dRight[1], &d)
		case last:
			addNormals(&s.dLeft[last-1], &d)
		default:
			kernel.JoinBack(&s.dLeft[k-1], &s.dRight[k+1], &d, &s.left[k-1].Normals8, &s.right[k+1].Normals8, &s.rest[k], nodes)
		}
	}
}

func addNormals(to, x *kernel.Normals8) {
	for i := range 8 {
		to.M[i] += x.M[i]
		to.V[i] += x.V[i]
	}
}
