package export

import (
	"utvi/fn"
	"utvi/internal/onnx"
	"utvi/moment"
	"utvi/nn"
)

// A recurrence is an LSTM, a GRU or an RNN with the settings of its operator.
type recurrence struct {
	op        string
	units     int
	gates     []int // the gate here that each gate of the operator is
	states    int   // h, or h and c
	direction nn.Direction
	last      bool
	noBias    bool
	start     []float64
	apart     bool // the last gate here has weights for the state of its own
	more      []onnx.Attribute
	operator  bool // an operator has its function
	functions []*moment.Func
	rule      moment.Rule // of the functions; nil: the default
}

// recurrent writes a recurrent layer on numbers, whose weights are numbers, as the operator that it
// is, and any other one time by time.
func (w *writer) recurrent(n *node, in signal, out *signal) (back, error) {
	r := recurrenceOf(n.Layer)
	if out.form != nn.Fixed || !r.operator {
		return w.recurrentMoments(n, r, in, out)
	}
	ways := 1
	if r.direction == nn.Bidirectional {
		ways = 2
	}
	s := in.shape
	x := w.transpose(w.reshape(in.mean, -1, s.W, s.C), 1, 0, 2)
	inputs := append([]value{x}, w.cells(n, r, ways, s.C)...)
	inputs = append(inputs, w.startOf(r, ways, x)...)
	attributes := append([]onnx.Attribute{onnx.Int("hidden_size", r.units)}, r.more...)
	if r.direction != "" {
		attributes = append(attributes, onnx.Text("direction", string(r.direction)))
	}
	outputs := w.Ops(r.op, 2, inputs, attributes...)
	if r.last { // directions × rows × units
		out.mean = w.reshape(w.transpose(outputs[1], 1, 0, 2), -1, ways*r.units)
		return nil, nil
	}
	y := w.transpose(outputs[0], 2, 0, 1, 3) // from times × directions × rows × units
	out.mean = w.done(w.reshape(y, -1, 1, s.W, ways*r.units), out.shape)
	return nil, nil
}

// recurrenceOf reads the settings of a layer.
func recurrenceOf(l nn.Layer) *recurrence {
	r := settingsOf(l)
	r.functions, r.rule = functionsOf(l)
	return r
}

func settingsOf(l nn.Layer) *recurrence {
	switch l := l.(type) {
	case nn.LSTM:
		return &recurrence{op: "LSTM", operator: true, units: l.Units, gates: []int{0, 2, 1, 3}, states: 2, direction: l.Direction, last: l.Last, noBias: l.NoBias, start: l.Start}
	case nn.GRU:
		r := &recurrence{op: "GRU", operator: true, units: l.Units, gates: []int{1, 0, 2}, states: 1, direction: l.Direction, last: l.Last, noBias: l.NoBias, start: l.Start, apart: l.ResetBefore}
		if !l.ResetBefore {
			r.more = []onnx.Attribute{onnx.Int("linear_before_reset", 1)}
		}
		return r
	case nn.RNN:
		r := &recurrence{op: "RNN", units: l.Units, gates: []int{0}, states: 1, direction: l.Direction, last: l.Last, noBias: l.NoBias, start: l.Start}
		name := "Tanh"
		if l.F != nil {
			name = map[string]string{fn.Tanh().Name: "Tanh", fn.ReLU().Name: "Relu", fn.Sigmoid().Name: "Sigmoid"}[l.F.Name]
		}
		names := []string{name}
		if l.Direction == nn.Bidirectional {
			names = append(names, name)
		}
		r.operator = name != ""
		r.more = []onnx.Attribute{onnx.TextList("activations", names)}
		return r
	}
	panic("export: the layer is not recurrent")
}

// cells are the weights of the input, of the state and the biases, as the operator has them: each
// direction and gate of its own.
func (w *writer) cells(n *node, r *recurrence, ways, features int) []value {
	u, gates := r.units, len(r.gates)
	weights := [2][]float32{}
	var biases []float32
	per := len(n.Tensors) / ways
	for way := range ways {
		tensors := n.Tensors[way*per:][:per]
		part := func(i int) (weight, bias []float32) {
			if r.noBias {
				return tensors[i].Mean, nil
			}
			return tensors[2*i].Mean, tensors[2*i+1].Mean
		}
		for side, size := range [2]int{features, u} {
			weight, bias := part(side)
			var own []float32 // of the last gate, where it has weights of its own
			var ownBias []float32
			width := gates
			if side == 1 && r.apart {
				own, ownBias = part(2)
				width = gates - 1
			}
			var offsets []float32
			for _, g := range r.gates {
				from, offset := weight, bias
				all, at := width, g
				if g >= width {
					from, offset = own, ownBias
					all, at = 1, 0
				}
				for i := range u {
					for j := range size {
						weights[side] = append(weights[side], from[(j*all+at)*u+i])
					}
					if offset != nil {
						offsets = append(offsets, offset[at*u+i])
					}
				}
			}
			biases = append(biases, offsets...)
		}
	}
	all := []value{w.Floats("weights", weights[0], ways, gates*u, features), w.Floats("recurrent", weights[1], ways, gates*u, u)}
	if r.noBias {
		return append(all, "")
	}
	return append(all, w.Floats("biases", biases, ways, 2*gates*u))
}

// startOf is the state before the first step, for each row of x, times × rows × features; none if it
// is zero.
func (w *writer) startOf(r *recurrence, ways int, x value) []value {
	if r.start == nil {
		return nil
	}
	rows := w.slice(w.unary("Shape", x), 0, 1, 2, 1)
	shape := w.concat(0, w.Ints(ways), rows, w.Ints(r.units))
	all := []value{""} // no lengths
	for i := range r.states {
		var h []float64
		for way := range ways {
			h = append(h, r.start[(way*r.states+i)*r.units:][:r.units]...)
		}
		all = append(all, w.Op("Expand", []value{w.floats("start", h, ways, 1, r.units), shape}))
	}
	return all
}
