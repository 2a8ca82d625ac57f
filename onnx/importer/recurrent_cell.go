package importer

import (
	"fmt"

	"utvi/fn"
	"utvi/nn"
)

// A cell is one time of a recurrent layer, whose state comes in and goes out. It becomes the layers that it
// is made of: dense ones, functions, products and sums.
type cell struct {
	*recurrence
	x, h *value // rows of features, and of units
}

// cell is one time of an LSTM, a GRU or an RNN.
func (c *call) cell(x *value, r *recurrence) ([]*value, error) {
	l, err := c.recurrentLayer(r, true)
	if err != nil {
		return nil, err
	}
	k := &cell{recurrence: r}
	k.x, err = x.vector(x.at[2].size())
	if err != nil {
		return nil, err
	}
	k.h, err = k.before(0)
	if err != nil {
		return nil, err
	}
	var h, memory *value
	switch l := l.(type) {
	case nn.LSTM:
		was, err := k.before(1)
		if err != nil {
			return nil, err
		}
		h, memory = k.lstm(was)
	case nn.GRU:
		h = k.gru()
	case nn.RNN:
		f := l.F
		if f == nil {
			f = fn.Tanh()
		}
		h = k.dense(k.both(), 0, 1, true).same(nn.Apply{F: f})
	}
	out := []*value{h.state(4, c.int("layout", 0)), h.state(3, c.int("layout", 0))}
	if memory != nil {
		out = append(out, memory.state(3, c.int("layout", 0)))
	}
	return out, nil
}

// vector is v as rows of n numbers.
func (v *value) vector(n int) (*value, error) {
	w, err := v.inOrder()
	if err != nil {
		return nil, err
	}
	if size := w.layer.shape.Size(); size != n {
		return nil, fmt.Errorf("its input or state has the dimensions %v; %d numbers for each row are needed", v.named(), n)
	}
	return w.arranged([3]axis{nil, nil, w.at.all()})
}

// before is a state before the step: h, or the memory of an LSTM.
func (k *cell) before(i int) (*value, error) {
	if k.given[i] == nil {
		return nil, fmt.Errorf("its state goes out, but does not come in as an input; it must do both")
	}
	return k.given[i].vector(k.units)
}

// units is a dense layer on v.
func (v *value) units(n int, weights, biases []float64) *value {
	l := nn.Dense{Out: n, NoBias: biases == nil}
	if biases == nil {
		return v.then(l, nn.Vec(n), layout{rowsAxis(), {{n, 1}}}, weights)
	}
	return v.then(l, nn.Vec(n), layout{rowsAxis(), {{n, 1}}}, weights, biases)
}

// both is the input with the state behind it.
func (k *cell) both() *value {
	n := k.x.layer.shape.C + k.units
	return joined(nn.Concat{}, nn.Vec(n), layout{rowsAxis(), {{n, 1}}}, []*value{k.x, k.h})
}

// dense is some gates on the input, the state or both, by the width of v.
func (k *cell) dense(v *value, from, to int, biased bool) *value {
	stride := 1
	if k.bias {
		stride = 2
	}
	features := k.x.layer.shape.C
	var weights []float64
	biases := make([]float64, (to-from)*k.units)
	add := func(tensor, rows, from, to, gates int) {
		all := k.tensors[tensor]
		for i := range rows {
			weights = append(weights, all[i*gates*k.units:][from*k.units:to*k.units]...)
		}
		if k.bias && biased {
			for i, b := range k.tensors[tensor+1][from*k.units : to*k.units] {
				biases[i] += b
			}
		}
	}
	width := v.layer.shape.C
	if v != k.h {
		add(0, features, from, to, len(k.gates))
	}
	if v == k.h || width == features+k.units && v != k.x {
		gates := len(k.gates)
		tensor := stride
		if k.apart {
			gates--
			if from == gates {
				tensor = 2 * stride
				from, to = 0, 1
				gates = 1
			}
		}
		add(tensor, k.units, from, to, gates)
	}
	if !k.bias || !biased {
		biases = nil
	}
	return v.units((to-from)*k.units, weights, biases)
}

// gate is one of the gates side by side.
func (k *cell) gate(v *value, i int, l nn.Apply) *value {
	n := k.units
	one := v.then(nn.Slice{From: i * n, To: (i + 1) * n}, nn.Vec(n), layout{rowsAxis(), {{n, 1}}})
	return one.same(l)
}

func (v *value) join(l nn.Layer, w *value) *value {
	return joined(l, v.layer.shape, v.at, []*value{v, w})
}

// lstm is the next state, and the next memory.
func (k *cell) lstm(was *value) (h, memory *value) {
	sigmoid := nn.Apply{F: fn.Sigmoid()}
	tanh := nn.Apply{F: fn.Tanh()}
	all := k.dense(k.both(), 0, 4, true) // i, f, o, g
	kept := k.gate(all, 1, sigmoid).join(nn.Product{}, was)
	added := k.gate(all, 0, sigmoid).join(nn.Product{}, k.gate(all, 3, tanh))
	memory = kept.join(nn.Sum{}, added)
	return k.gate(all, 2, sigmoid).join(nn.Product{}, memory.same(tanh)), memory
}

// gru is the next state, n + z∘(h − n).
func (k *cell) gru() *value {
	sigmoid := nn.Apply{F: fn.Sigmoid()}
	gates := k.dense(k.both(), 0, 2, true) // r, z
	r := k.gate(gates, 0, sigmoid)
	fromX := k.dense(k.x, 2, 3, true)
	var fromH *value
	if k.apart {
		h := k.h
		k.h = r.join(nn.Product{}, h)
		fromH = k.dense(k.h, 2, 3, true)
		k.h = h
	} else {
		fromH = r.join(nn.Product{}, k.dense(k.h, 2, 3, true))
	}
	n := fromX.join(nn.Sum{}, fromH).same(nn.Apply{F: fn.Tanh()})
	more := k.h.join(nn.Sum{By: []float64{1, -1}}, n)
	return n.join(nn.Sum{}, k.gate(gates, 1, sigmoid).join(nn.Product{}, more))
}

// state is v in the dimensions of an output: times, directions, rows and units, or, with the rows first,
// rows, times, directions and units; the last state has no times.
func (v *value) state(dims, rowsFirst int) *value {
	at := make(layout, dims)
	at[dims-1] = axis{{v.layer.shape.C, 1}}
	rows := dims - 2
	if rowsFirst != 0 {
		rows = 0
	}
	at[rows] = rowsAxis()
	return &value{layer: v.layer, at: at}
}
