package importer

import (
	"fmt"
	"slices"

	"utvi/fn"
	"utvi/nn"
)

// A recurrence is an LSTM, a GRU or an RNN as the graph has it.
type recurrence struct {
	gates     []int // the number in the graph of each gate here
	states    int   // h, or h and c
	units     int
	ways      int
	direction nn.Direction
	start     []float64
	bias      bool
	apart     bool // the last gate has weights for the state of its own
	tensors   [][]float64
	given     [2]*value // h and c before the first step, where they depend on an input of the graph
}

// recurrent is an LSTM, a GRU or an RNN over a series.
func recurrent(c *call) ([]*value, error) {
	x, err := c.x()
	if err != nil {
		return nil, err
	}
	r, err := c.recurrence(x)
	if err != nil {
		return nil, err
	}
	time := 0
	if c.int("layout", 0) != 0 {
		time = 1
	}
	x, err = x.arranged([3]axis{nil, x.at[time], x.at[2]})
	if err != nil {
		return nil, err
	}
	used := func(i int) bool { return i < len(c.n.Outputs) && c.used[c.n.Outputs[i]] }
	times, width := x.layer.shape.W, r.ways*r.units
	if used(2) || r.given != [2]*value{} {
		if times > 1 || r.ways > 1 {
			return nil, fmt.Errorf("its state is an input, or its cell state Y_c is used; that is taken for 1 time in 1 direction, and it has %d and %d", times, r.ways)
		}
		return c.cell(x, r)
	}
	l, err := c.recurrentLayer(r, !used(0))
	if err != nil {
		return nil, err
	}
	steps := axis{{times, width}}
	ways, units := axis{{r.ways, r.units}}, axis{{r.units, 1}}
	order := func(a ...axis) layout { return append(layout{}, a...).tidy() }
	if !used(0) {
		at := order(ways, rowsAxis(), units)
		if time == 1 {
			at = order(rowsAxis(), ways, units)
		}
		return []*value{nil, x.then(l, nn.Vec(width), at, r.tensors...)}, nil
	}
	at := order(steps, ways, rowsAxis(), units)
	if time == 1 {
		at = order(rowsAxis(), steps, ways, units)
	}
	y := x.then(l, nn.Shape{H: 1, W: times, C: width}, at, r.tensors...)
	if !used(1) {
		return []*value{y}, nil
	}
	last, err := y.lastState(r, time)
	return []*value{y, last}, err
}

// lastState is what the state of each direction is behind its last step.
func (v *value) lastState(r *recurrence, time int) (*value, error) {
	ways := 1 + time
	var all []*value
	for way := range r.ways {
		at := v.layer.shape.W - 1
		if way == 1 || r.direction == nn.Reverse {
			at = 0
		}
		one, err := v.sliced(ways, way, way+1)
		if err != nil {
			return nil, err
		}
		one, err = one.sliced(time, at, at+1)
		if err != nil {
			return nil, err
		}
		one = &value{layer: one.layer, at: slices.Delete(slices.Clone(one.at), time, time+1)}
		all = append(all, one)
	}
	return (*call)(nil).behind(all, ways-1, false)
}

// recurrence reads the weights and settings of a node.
func (c *call) recurrence(x *value) (*recurrence, error) {
	r := &recurrence{gates: map[string][]int{"LSTM": {0, 2, 1, 3}, "GRU": {1, 0, 2}, "RNN": {0}}[c.op], states: 1}
	if c.op == "LSTM" {
		r.states = 2
	}
	r.apart = c.op == "GRU" && c.int("linear_before_reset", 0) == 0
	switch d := c.text("direction", "forward"); d {
	case "forward", "reverse", "bidirectional":
		r.direction = nn.Direction(d)
	default:
		return nil, fmt.Errorf("its direction is %.20q", d)
	}
	r.ways = 1
	if r.direction == nn.Bidirectional {
		r.ways = 2
	}
	rows := 1 - c.int("layout", 0)
	if len(x.at) != 3 || rows < 0 || rows > 1 || !slices.Equal(x.at[rows], rowsAxis()) {
		return nil, fmt.Errorf("its input has the dimensions %v; it must have times, rows and features", x.named())
	}
	for _, name := range []string{"clip", "input_forget"} {
		if c.n.Attribute(name) != nil && (name == "clip" || c.int(name, 0) != 0) {
			return nil, fmt.Errorf("it has the attribute %s, which layers do not have", name)
		}
	}
	if len(c.in) > 4 && c.in[4] != nil {
		return nil, fmt.Errorf("it has lengths of sequences; all rows must have the same number of times")
	}
	if len(c.in) > 7 && c.in[7] != nil {
		return nil, fmt.Errorf("it has peephole weights, which layers do not have")
	}
	if err := c.cells(r, x.at[2].size()); err != nil {
		return nil, err
	}
	return r, c.states(r)
}

// cells reads the weights, gate by gate, to inputs × gates.
func (c *call) cells(r *recurrence, features int) error {
	var k [3]*constant // of the input, of the state, biases
	for i := range k {
		var err error
		k[i], err = c.weight(1 + i)
		if err != nil {
			return err
		}
		if i < 2 && (k[i] == nil || len(k[i].dims) != 3) {
			return fmt.Errorf("its weights must be constants with three dimensions")
		}
	}
	n := len(r.gates)
	r.units = c.int("hidden_size", k[1].dims[2])
	r.bias = k[2] != nil
	u := r.units
	switch {
	case u < 1 || !slices.Equal(k[0].dims, []int{r.ways, n * u, features}) || !slices.Equal(k[1].dims, []int{r.ways, n * u, u}):
		return fmt.Errorf("its weights have the sizes %v and %v; %d units of %d features need %v and %v", k[0].dims, k[1].dims, u, features, []int{r.ways, n * u, features}, []int{r.ways, n * u, u})
	case r.bias && !slices.Equal(k[2].dims, []int{r.ways, 2 * n * u}):
		return fmt.Errorf("its biases have the size %v, not %v", k[2].dims, []int{r.ways, 2 * n * u})
	}
	for way := range r.ways {
		r.take(k[0], k[2], way, 0, features, r.gates)
		state := r.gates
		if r.apart {
			state = r.gates[:n-1]
		}
		r.take(k[1], k[2], way, n*u, u, state)
		if r.apart {
			r.take(k[1], k[2], way, n*u, u, r.gates[n-1:])
		}
	}
	return nil
}

// take adds the weights and biases of some gates of one direction; the biases begin at first.
func (r *recurrence) take(w, bias *constant, way, first, in int, gates []int) {
	u, all := r.units, len(r.gates)
	weights, offsets := make([]float64, in*len(gates)*u), make([]float64, len(gates)*u)
	for g, from := range gates {
		for i := range u {
			row := (way*all+from)*u + i
			for j := range in {
				weights[j*len(gates)*u+g*u+i] = w.data[row*in+j]
			}
			if bias != nil {
				offsets[g*u+i] = bias.data[way*2*all*u+first+from*u+i]
			}
		}
	}
	r.tensors = append(r.tensors, weights)
	if bias != nil {
		r.tensors = append(r.tensors, offsets)
	}
}

// states reads the state before the first step: for each direction h, and c.
func (c *call) states(r *recurrence) error {
	start := make([]float64, r.ways*r.states*r.units)
	some := false
	for i := range r.states {
		if len(c.in) > 5+i && c.in[5+i] != nil && c.in[5+i].constant == nil {
			r.given[i] = c.in[5+i]
			continue
		}
		k, err := c.weight(5 + i)
		if err != nil {
			return err
		}
		if k == nil {
			continue
		}
		if len(k.data) != r.ways*r.units {
			return fmt.Errorf("its initial state has the size %v; it must be the same for all rows, %d units in each direction", k.dims, r.units)
		}
		for at, x := range k.data {
			start[at/r.units*r.states*r.units+i*r.units+at%r.units] = x
			some = some || x != 0
		}
	}
	if some {
		r.start = start
	}
	return nil
}

// recurrentLayer is the layer of a node; with last, it gives the last state only.
func (c *call) recurrentLayer(r *recurrence, last bool) (nn.Layer, error) {
	var named []string
	if a := c.n.Attribute("activations"); a != nil {
		named = slices.Clone(a.Strings)
	}
	standard := map[string][]string{"LSTM": {"Sigmoid", "Tanh", "Tanh"}, "GRU": {"Sigmoid", "Tanh"}, "RNN": {"Tanh"}}[c.op]
	if len(named) == 0 {
		for range r.ways {
			named = append(named, standard...)
		}
	}
	direction := r.direction
	if direction == nn.Forward {
		direction = ""
	}
	if c.op == "RNN" {
		l := nn.RNN{Units: r.units, Direction: direction, Last: last, NoBias: !r.bias, Start: r.start}
		for _, name := range named {
			if name != named[0] {
				return nil, fmt.Errorf("its activations are %.100q; both directions must have the same", named)
			}
		}
		switch named[0] {
		case "Tanh":
		case "Relu":
			l.F = fn.ReLU()
		case "Sigmoid":
			l.F = fn.Sigmoid()
		default:
			return nil, fmt.Errorf("its activation is %.40q; Tanh, Relu and Sigmoid are taken", named[0])
		}
		return l, nil
	}
	for i, name := range named {
		if name != standard[i%len(standard)] {
			return nil, fmt.Errorf("its activations are %.100q; %q are taken", named, standard)
		}
	}
	if c.op == "GRU" {
		return nn.GRU{Units: r.units, Direction: direction, Last: last, NoBias: !r.bias, ResetBefore: r.apart, Start: r.start}, nil
	}
	return nn.LSTM{Units: r.units, Direction: direction, Last: last, NoBias: !r.bias, Start: r.start}, nil
}
