package nn

import (
	"fmt"

	"utvi/gauss"
)

// Follow makes a chain that was bound with Binder.Sense carry correlations. Units
// before the first random one have nothing to carry.
func (c *chain[T]) Follow(k int) {
	c.k = k
	for i := c.firstRandom(); i < len(c.units); i++ {
		c.units[i].(Sensitive[T]).Follow(k)
	}
}

func (c *chain[T]) firstRandom() int {
	i := 0
	for c.form == Fixed && i < len(c.units) && c.units[i].Form() == Fixed {
		i++
	}
	return i
}

// checkSense reports a layer that cannot carry correlations.
func (c *chain[T]) checkSense(l Chain) error {
	for i := c.firstRandom(); i < len(c.units); i++ {
		if _, ok := c.units[i].(Sensitive[T]); !ok {
			return fmt.Errorf("layer %d (%s) cannot carry correlations: move the layer behind nn.Correlated, or do not use nn.Correlated; a layer of your own carries them if its unit implements nn.Sensitive and its runner nn.Senser", i, l[i].Kind())
		}
	}
	return nil
}

// chainSense is what a runner of a chain needs to carry correlations.
type chainSense[T gauss.Float] struct {
	first   int
	sensers []Senser[T]
	senses  []Sense[T]
	a       [][]T  // sensitivities to the outputs of each unit but the last
	b       [2][]T // gradients by those
}

func (c *chain[T]) newSense(runners []Runner[T], maxRows int, train bool) *chainSense[T] {
	n := len(c.units)
	s := &chainSense[T]{first: c.firstRandom(), sensers: make([]Senser[T], n), senses: make([]Sense[T], n), a: make([][]T, n)}
	widest := 0
	for i := s.first; i < n; i++ {
		s.sensers[i] = runners[i].(Senser[T])
		if width := c.units[i].Out().Size(); i < n-1 {
			s.a[i] = make([]T, maxRows*c.k*width)
			widest = max(widest, width)
		}
	}
	if train {
		s.b[0], s.b[1] = make([]T, maxRows*c.k*widest), make([]T, maxRows*c.k*widest)
	}
	return s
}

func (r *chainRunner[T]) Sense(s *Sense[T]) {
	out := s.Out
	for i := len(r.units) - 1; i >= r.sense.first; i-- {
		q := &r.sense.senses[i]
		*q = *s
		q.Pass, q.Out = &r.passes[i], out
		if i > r.sense.first {
			q.In = r.sense.a[i-1][:s.Rows*s.K*r.units[i-1].Out().Size()]
		}
		r.sense.sensers[i].Sense(q)
		out = q.In
	}
}

func (r *chainRunner[T]) SenseBack(s *Sense[T]) {
	in := s.BIn
	for i := r.sense.first; i < len(r.units); i++ {
		q := &r.sense.senses[i]
		q.DCov = s.DCov
		q.BIn = in
		q.BOut = s.BOut
		if i < len(r.units)-1 {
			q.BOut = r.sense.b[i%2][:len(q.Out)]
		}
		r.sense.sensers[i].SenseBack(q)
		in = q.BOut
	}
}
