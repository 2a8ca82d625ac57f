package nn

import (
	"math"
	"sync"

	"utvi/gauss"
	"utvi/internal/compute/kernel"
	"utvi/moment"
	"utvi/rng"
)

// sixteen is how many softmaxes are computed side by side.
const sixteen = 16

// softmaxes are sixteen softmaxes of as many logits, by the rule of fn.Softmax: output k is the
// logistic function of x_k − L_k, L_k the log-sum-exp of the other logits, built up a logit at a
// time from both ends.
type softmaxes[T gauss.Float] struct {
	nodes *kernel.SoftmaxNodes[T]
	x     []kernel.Normals16[T] // logits
	y     []kernel.Sigmoid[T]   // the outputs before their means are divided by the sum
	sum   kernel.Sixteen[T]
	left  []kernel.Joined[T] // over logits 0 … k
	right []kernel.Joined[T] // over k and those behind it
	rest  []kernel.Joined[T] // over all but k
	work  kernel.SoftmaxWork[T]

	dx, dy        []kernel.Normals16[T]
	dLeft, dRight []kernel.Normals16[T]
	dRest         kernel.Normals16[T]
	shared        kernel.Sixteen[T] // Σ dy·y
}

// softmaxNodes are those of the closed form of fn.Softmax; of ±x the first is taken.
func softmaxNodes[T gauss.Float]() *kernel.SoftmaxNodes[T] {
	n := &kernel.SoftmaxNodes[T]{}
	half := func(order int, xs, ws []T) {
		x, w := moment.PointsAt(moment.GaussHermite(order), 0, 1, rng.Key{})
		k := 0
		for i, x := range x {
			switch {
			case math.Abs(x) < 1e-9:
				ws[0] = T(w[i])
			case x > 0:
				xs[k] = T(x)
				k++
				ws[k] = T(w[i])
			}
		}
	}
	half(5, n.JoinX[:], n.JoinW[:])
	half(15, n.LogisticX[:], n.LogisticW[:])
	return n
}

var (
	softmaxNodes32 = sync.OnceValue(softmaxNodes[float32])
	softmaxNodes64 = sync.OnceValue(softmaxNodes[float64])
)

func newSoftmaxes[T gauss.Float](n int, train bool) *softmaxes[T] {
	s := &softmaxes[T]{y: make([]kernel.Sigmoid[T], n)}
	nodes, ok := any(softmaxNodes32()).(*kernel.SoftmaxNodes[T])
	if !ok {
		nodes = any(softmaxNodes64()).(*kernel.SoftmaxNodes[T])
	}
	s.nodes = nodes
	normals := []*[]kernel.Normals16[T]{&s.x}
	if train {
		normals = append(normals, &s.dx, &s.dy, &s.dLeft, &s.dRight)
	}
	for _, x := range normals {
		*x = make([]kernel.Normals16[T], n)
	}
	for _, j := range []*[]kernel.Joined[T]{&s.left, &s.right, &s.rest} {
		*j = make([]kernel.Joined[T], n)
	}
	return s
}

// forward computes y and sum from the first n logits, with the slopes if wanted.
func (s *softmaxes[T]) forward(n int, slopes bool) {
	last := n - 1
	s.sum = kernel.Sixteen[T]{}
	if last == 0 {
		s.y[0].Normals16 = kernel.Normals16[T]{}
		for i := range s.sum {
			s.y[0].M[i] = 1
			s.sum[i] = 1
		}
		return
	}
	join := func(to *kernel.Joined[T], a, b *kernel.Normals16[T]) {
		kernel.Join(to, a, b, s.nodes, &s.work, slopes)
	}
	s.left[0].Normals16 = s.x[0]
	s.right[last].Normals16 = s.x[last]
	for i := 1; i < last; i++ {
		join(&s.left[i], &s.left[i-1].Normals16, &s.x[i])
		join(&s.right[last-i], &s.right[last-i+1].Normals16, &s.x[last-i])
	}
	for k := range n {
		rest := &s.rest[k].Normals16
		switch k {
		case 0:
			rest = &s.right[1].Normals16
		case last:
			rest = &s.left[last-1].Normals16
		default:
			join(&s.rest[k], &s.left[k-1].Normals16, &s.right[k+1].Normals16)
		}
		kernel.Logistic(&s.y[k], &s.sum, &s.x[k], rest, s.nodes, &s.work, slopes)
	}
}

// smallest is the standard deviation, relative to 1+|m|, at which derivatives by a
// smaller one are taken.
const smallest = 1e-5

// back writes dx, given dy.
func (s *softmaxes[T]) back(n int) {
	clear(s.dx[:n])
	last := n - 1
	if last == 0 {
		return
	}
	for k := range n {
		x := &s.x[k]
		for i, m := range &x.M {
			least := T(smallest * (1 + math.Abs(float64(m))))
			x.V[i] = max(x.V[i], least*least)
		}
	}
	s.forward(n, true)
	clear(s.dLeft[:n])
	clear(s.dRight[:n])
	s.backLogistics(n)
	for i := last - 1; i >= 1; i-- {
		kernel.JoinBack(&s.dLeft[i-1], &s.dx[i], &s.dLeft[i], &s.left[i])
		j := last - i
		kernel.JoinBack(&s.dRight[j+1], &s.dx[j], &s.dRight[j], &s.right[j])
	}
	addNormals(&s.dx[0], &s.dLeft[0])
	addNormals(&s.dx[last], &s.dRight[last])
}

// backLogistics takes dy back to the logits and to what is built up from both ends.
func (s *softmaxes[T]) backLogistics(n int) {
	last := n - 1
	s.shared = kernel.Sixteen[T]{}
	for k := range n {
		for i, p := range &s.y[k].M {
			s.shared[i] += T(s.dy[k].M[i] * p)
		}
	}
	for i, sum := range &s.sum {
		s.shared[i] /= sum
	}
	for k := range n {
		kernel.LogisticBack(&s.dx[k], &s.dRest, &s.dy[k], &s.shared, &s.sum, &s.y[k])
		switch k {
		case 0:
			addNormals(&s.dRight[1], &s.dRest)
		case last:
			addNormals(&s.dLeft[last-1], &s.dRest)
		default:
			kernel.JoinBack(&s.dLeft[k-1], &s.dRight[k+1], &s.dRest, &s.rest[k])
		}
	}
}

func addNormals[T gauss.Float](to, x *kernel.Normals16[T]) {
	for i := range sixteen {
		to.M[i] += x.M[i]
		to.V[i] += x.V[i]
	}
}
