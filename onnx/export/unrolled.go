package export

import (
	"utvi/fn"
	"utvi/moment"
	"utvi/nn"
)

// A slot is what a recurrent cell computes at one time, rows × units: moments, and the sensitivities
// that its readers give.
type slot struct {
	mean, variance value // the variance of numbers is ""
	senses         []value
}

// An unrolled layer is a recurrent layer written time by time. What it computes is on a tape, along
// which sensitivities go back; weights are drawn once for all times within nn.Correlated.
type unrolled struct {
	*writer
	layer *recurrence
	tape  []func(s *sensed)
	input *projected
	state []*projected
	apply [2]func(x *slot) *slot // the functions of the cell
	wrong error                  // why one of them cannot be written
}

// A projected is a product with weights at all times.
type projected struct {
	weights
	in, out int
	uses    []use
}

// A use is one time: what was multiplied, and the gates that it became.
type use struct {
	from  *slot
	gates []*slot
	inner value // v·s, what the weights add to the variances of the input; "" if nothing
}

// unroll writes one direction of a layer over the times of x, and returns the state at each.
func (w *writer) unroll(n *node, r *recurrence, x []*slot, way, ways int) (*unrolled, []*slot, error) {
	u := &unrolled{writer: w, layer: r}
	per := len(n.Tensors) / ways
	tensors := n.Tensors[way*per:][:per]
	take := func(in int) *projected {
		count := 2
		if r.noBias {
			count = 1
		}
		own := &node{Name: n.Name, Tensors: tensors[:count]}
		tensors = tensors[count:]
		out := own.Tensors[0].Len() / in
		return &projected{weights: w.weights(own, func(x []float32) []float32 { return x }, in, out), in: in, out: out}
	}
	u.input = take(n.In.C)
	for len(tensors) > 0 {
		u.state = append(u.state, take(r.units))
	}
	for i, f := range r.functions {
		rule := r.rule
		if rule == nil {
			rule = moment.Default(f)
		}
		g, err := w.function(f, nil)
		if err != nil {
			return nil, nil, err
		}
		u.apply[i] = func(x *slot) *slot { return u.through(g, rule, x) }
	}
	h, c := u.start(x[0].mean, way)
	out := make([]*slot, len(x))
	for i := range x {
		t := i
		if r.direction == nn.Reverse || way == 1 {
			t = len(x) - 1 - i
		}
		h, c = u.cell(x[t], h, c)
		out[t] = h
	}
	return u, out, u.wrong
}

// start is the state before the first step, for each row of x.
func (u *unrolled) start(x value, way int) (h, c *slot) {
	r := u.layer
	rows := u.concat(0, u.slice(u.unary("Shape", x), 0, 0, 1, 1), u.Ints(r.units))
	one := func(i int) *slot {
		numbers := make([]float64, r.units)
		if r.start != nil {
			copy(numbers, r.start[(way*r.states+i)*r.units:])
		}
		return &slot{mean: u.Op("Expand", []value{u.floats("start", numbers, 1, r.units), rows})}
	}
	return one(0), one(r.states - 1)
}

// cell is one time.
func (u *unrolled) cell(x, h, c *slot) (nextH, nextC *slot) {
	in := u.times(x, u.input)
	sigmoid, tanh := u.apply[0], u.apply[len(u.layer.functions)-1]
	own := u.times(h, u.state[0])
	switch {
	case u.layer.op == "RNN":
		return sigmoid(u.plus2(in[0], own[0])), c // its only function
	case u.layer.op == "LSTM":
		i, f := sigmoid(u.plus2(in[0], own[0])), sigmoid(u.plus2(in[1], own[1]))
		o, g := sigmoid(u.plus2(in[2], own[2])), tanh(u.plus2(in[3], own[3]))
		c = u.products([2]*slot{f, c}, [2]*slot{i, g})
		return u.products([2]*slot{o, tanh(c)}), c
	}
	reset, z := sigmoid(u.plus2(in[0], own[0])), sigmoid(u.plus2(in[1], own[1]))
	var before *slot
	if u.layer.apart {
		before = u.plus2(u.times(u.products([2]*slot{reset, h}), u.state[1])[0], in[2])
	} else {
		before = u.plus2(u.products([2]*slot{reset, own[2]}), in[2])
	}
	return u.mix(z, h, tanh(before)), c
}

// back goes along the tape, and adds what the weights add, which all times share.
func (u *unrolled) back(s *sensed) {
	for i := len(u.tape) - 1; i >= 0; i-- {
		u.tape[i](s)
	}
	for _, p := range append([]*projected{u.input}, u.state...) {
		if !p.random || len(p.uses) == 0 {
			continue
		}
		var senses, means []value
		for _, use := range p.uses {
			senses = append(senses, u.unsqueeze(u.sensesOf(use.gates), 3)) // rows × K × gates × 1
			means = append(means, u.unsqueeze(use.from.mean, 1))
		}
		a := u.concat(3, senses...)
		q := u.matmul(a, u.unsqueeze(u.concat(1, means...), 1)) // rows × K × gates × inputs
		s.inject(u.reshape(q, -1, s.k, p.out*p.in), u.reshape(u.transpose(p.s, 1, 0), 1, 1, p.out*p.in))
		if p.biasS != "" {
			s.inject(u.sum(a, 3, false), u.reshape(p.biasS, 1, 1, p.out))
		}
	}
}

// recurrentMoments writes a recurrent layer whose inputs or weights have variances, time by time.
func (w *writer) recurrentMoments(n *node, r *recurrence, in signal, out *signal) (back, error) {
	s := in.shape
	var x []*slot
	rows := func(v value, t int) value {
		return w.slice(w.rows(v, s), 1, t*s.C, (t+1)*s.C, 1)
	}
	for t := range s.W {
		one := &slot{mean: rows(in.mean, t)}
		if in.form != nn.Fixed {
			one.variance = rows(in.variance, t)
		}
		x = append(x, one)
	}
	ways := 1
	if r.direction == nn.Bidirectional {
		ways = 2
	}
	var layers []*unrolled
	states := make([][]*slot, ways)
	for way := range ways {
		u, h, err := w.unroll(n, r, x, way, ways)
		if err != nil {
			return nil, err
		}
		layers = append(layers, u)
		states[way] = h
	}
	given := r.given(states)
	var means, variances []value
	for _, h := range given {
		means = append(means, h.mean)
		variances = append(variances, h.variance)
	}
	out.mean = w.natural(w.concat(1, means...), out.shape)
	if out.form == nn.Fixed {
		return nil, nil
	}
	out.variance = w.natural(w.concat(1, variances...), out.shape)
	return func(q *sensed, a value) value {
		for i, h := range given {
			h.senses = append(h.senses, w.slice(a, 2, i*r.units, (i+1)*r.units, 1))
		}
		for _, u := range layers {
			u.back(q)
		}
		if in.form == nn.Fixed {
			return ""
		}
		var all []value
		for _, one := range x {
			all = append(all, w.total(one.senses))
		}
		return w.concat(2, all...)
	}, nil
}

// given are the states that the layer gives, in the order of its output.
func (r *recurrence) given(states [][]*slot) (all []*slot) {
	times := len(states[0])
	if !r.last {
		for t := range times {
			for _, h := range states {
				all = append(all, h[t])
			}
		}
		return all
	}
	for way, h := range states {
		at := times - 1
		if way == 1 || r.direction == nn.Reverse {
			at = 0
		}
		all = append(all, h[at])
	}
	return all
}

// functionsOf are the functions of a cell.
func functionsOf(l nn.Layer) (all []*moment.Func, rule moment.Rule) {
	switch l := l.(type) {
	case nn.LSTM:
		return []*moment.Func{fn.Sigmoid(), fn.Tanh()}, l.Rule
	case nn.GRU:
		return []*moment.Func{fn.Sigmoid(), fn.Tanh()}, l.Rule
	case nn.RNN:
		if l.F != nil {
			return []*moment.Func{l.F}, l.Rule
		}
		return []*moment.Func{fn.Tanh()}, l.Rule
	}
	return nil, nil
}
