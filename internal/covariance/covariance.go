// Package covariance carries the mean and the full covariance matrix of a row through
// a network, in float64. It is slow, n³ operations a layer, and it is what faster ways
// of carrying variances are checked against.
//
// Layers that are linear in their inputs, with random weights or without, are exact for
// inputs of any distribution. A nonlinearity takes its inputs as jointly Normal; then
// Mehler's series gives the covariance of two outputs,
//
//	Cov(f(x_i), f(x_j)) = Σ_{k≥1} c_k(i)·c_k(j)·ρᵏ,      c_k = E[f(m+σξ)·h_k(ξ)],
//
// with ρ the correlation of x_i and x_j and h_k the orthonormal Hermite polynomials.
// The series is cut at a given order. The diagonal is the variance that the layer's own
// rule gives. What the cut leaves out of it is ≥ 0, so every matrix is positive
// semidefinite.
package covariance

import (
	"fmt"

	"utvi/gauss"
	"utvi/nn"
)

// Propagate carries rows of inputs, independent Normals, through a network. The result
// has the covariances of each row's outputs in Cov.
func Propagate[T gauss.Float](network *nn.Node[T], x gauss.Batch[T], order int) (gauss.Batch[float64], error) {
	if x.Width != network.In.Size() {
		return gauss.Batch[float64]{}, fmt.Errorf("covariances: the rows have %d inputs, the network has %d", x.Width, network.In.Size())
	}
	if order < 1 {
		return gauss.Batch[float64]{}, fmt.Errorf("covariances: the order is %d; it must be at least 1", order)
	}
	n, k := x.Width, network.Out.Size()
	out := gauss.New[float64](x.Rows, k)
	out.Cov = make([]float64, x.Rows*k*k)
	for r := range x.Rows {
		s := &state{order: order, mean: make([]float64, n), cov: make([]float64, n*n), size: n}
		for i, m := range x.Mean[r*n:][:n] {
			s.mean[i] = float64(m)
			if x.Var != nil {
				s.cov[i*n+i] = float64(x.Var[r*n+i])
			}
		}
		if x.Cov != nil {
			for i, c := range x.Cov[r*n*n:][:n*n] {
				s.cov[i] = float64(c)
			}
		}
		if err := run(s, network); err != nil {
			return gauss.Batch[float64]{}, fmt.Errorf("covariances: %w", err)
		}
		copy(out.Mean[r*k:], s.mean)
		copy(out.Cov[r*k*k:], s.cov)
		for i := range k {
			out.Var[r*k+i] = s.cov[i*k+i]
		}
	}
	return out, nil
}

// A state is a row on its way. Its units are those that wait for the end of a residual
// branch, and after them the live ones, which the next layer takes.
type state struct {
	order     int
	mean, cov []float64 // of all units
	size      int       // number of units
	waiting   int       // those that are not live
}

// live is the number of live units.
func (s *state) live() int { return s.size - s.waiting }

// at is the covariance of live units i and j.
func (s *state) at(i, j int) float64 {
	return s.cov[(s.waiting+i)*s.size+s.waiting+j]
}

// A step is what a layer does with live units. To first order all layers do the same:
// covariances of the outputs with anything else are those of the inputs, passed on by
// the layer's slopes, and the layer adds variance that is independent of its inputs.
type step struct {
	mean []float64
	// pass writes to y what the slopes make of x.
	pass func(x, y []float64)
	// add is a covariance matrix that comes on top; nil is zero.
	add []float64
}

// take lets a step act on the live units.
func (s *state) take(p step) {
	in, out := s.live(), len(p.mean)
	size := s.waiting + out
	half := make([]float64, s.size*size) // the columns are done
	for i := range s.size {
		row, y := s.cov[i*s.size:][:s.size], half[i*size:][:size]
		copy(y, row[:s.waiting])
		p.pass(row[s.waiting:], y[s.waiting:])
	}
	cov := make([]float64, size*size)
	copy(cov, half[:s.waiting*size])
	x, y := make([]float64, in), make([]float64, out)
	for j := range size {
		for i := range x {
			x[i] = half[(s.waiting+i)*size+j]
		}
		p.pass(x, y)
		for i, y := range y {
			cov[(s.waiting+i)*size+j] = y
		}
	}
	for i, c := range p.add {
		cov[(s.waiting+i/out)*size+s.waiting+i%out] += c
	}
	s.mean = append(s.mean[:s.waiting:s.waiting], p.mean...)
	s.cov = cov
	s.size = size
}

// run carries the live units through a layer.
func run[T gauss.Float](s *state, n *nn.Node[T]) error {
	switch l := n.Layer.(type) {
	case nn.Chain, nn.Correlated:
		for _, c := range n.Children {
			if err := run(s, c); err != nil {
				return err
			}
		}
		return nil
	case nn.Residual:
		if len(n.Children) > 0 {
			return residual(s, n.Children)
		}
		return apply(s, branch(l), n, true)
	case nn.Apply:
		return apply(s, l, n, false)
	}
	p, err := linearStep(s, n)
	if err != nil {
		return fmt.Errorf("layer %s: %w", n.Name, err)
	}
	s.take(p)
	return nil
}

// branch is the nonlinearity that a residual without children adds to its input.
func branch(l nn.Residual) nn.Apply {
	for {
		switch b := l.Branch.(type) {
		case nn.Apply:
			return b
		case nn.Chain:
			l.Branch = b[0]
		}
	}
}

// residual sends a copy of the live units along each road and adds what arrives. The
// units themselves are the second road, unless there is a skip.
func residual[T gauss.Float](s *state, roads []*nn.Node[T]) error {
	in := s.live()
	s.copy()
	if err := run(s, roads[0]); err != nil {
		return err
	}
	n := s.live()
	if len(roads) > 1 {
		s.waiting -= in
		s.swap(in)
		if err := run(s, roads[1]); err != nil {
			return err
		}
		in = n
	}
	s.waiting -= in
	sum := step{mean: make([]float64, n), pass: func(x, y []float64) {
		for i := range y {
			y[i] = x[i] + x[n+i]
		}
	}}
	sum.pass(s.mean[s.waiting:], sum.mean)
	s.take(sum)
	return nil
}

// swap lets all live units but the first n wait, and makes those the live ones.
func (s *state) swap(n int) {
	rest := s.live() - n
	turn := step{mean: make([]float64, n+rest), pass: func(x, y []float64) {
		copy(y, x[n:])
		copy(y[rest:], x[:n])
	}}
	turn.pass(s.mean[s.waiting:], turn.mean)
	s.take(turn)
	s.waiting += rest
}

// copy makes a copy of the live units the live ones.
func (s *state) copy() {
	n := s.live()
	s.take(step{mean: append(append([]float64(nil), s.mean[s.waiting:]...), s.mean[s.waiting:]...), pass: func(x, y []float64) {
		copy(y, x)
		copy(y[n:], x)
	}})
	s.waiting += n
}
