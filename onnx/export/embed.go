package export

import (
	"utvi/internal/onnx"
	"utvi/nn"
)

var toInt64 = onnx.Int("to", int(onnx.Int64))

// embed writes the units that stay and, for every category, the row of its table that a
// unit numbers; see nn.Embed.
func (w *writer) embed(n *node, l nn.Embed, in signal, out *signal) back {
	x := w.rows(in.mean, in.shape)
	size := in.shape.Size()
	var others []int
	next := 0
	for j := range size {
		if next < len(l.Categories) && l.Categories[next].Unit == j {
			next++
			continue
		}
		others = append(others, j)
	}
	var means, own, levels []value // own: variances of the units that stay
	if len(others) > 0 {
		stay := w.gather(x, 1, others...)
		means, own = append(means, stay), append(own, w.zeros(stay))
		if in.form != nn.Fixed {
			own[0] = w.gather(w.rows(in.variance, in.shape), 1, others...)
		}
	}
	for i, c := range l.Categories {
		number := w.min(w.max(w.gather(x, 1, c.Unit), w.Float(0)), w.Float(float64(c.Levels-1)))
		index := w.squeeze(w.Op("Cast", []value{w.unary("Floor", w.plus(number, 0.5))}, toInt64), 1)
		t := n.Tensors[i]
		look := func(name string, table []float32) value {
			return w.Op("Gather", []value{w.Floats(name, table, c.Levels, c.Width), index}, onnx.Int("axis", 0))
		}
		m := look("levels.mean", t.Mean)
		v := w.zeros(m)
		if t.Random {
			v = look("levels.variance", variances(t))
		}
		means, levels = append(means, m), append(levels, v)
	}
	out.mean = w.concat(1, means...)
	if out.form == nn.Fixed {
		return nil
	}
	out.variance = w.concat(1, append(own, levels...)...)
	if !w.sense {
		return nil
	}
	return func(s *sensed, a value) value {
		width := out.shape.Size()
		s.inject(w.slice(a, 2, len(others), width, 1), w.unsqueeze(w.concat(1, levels...), 1))
		if in.form == nn.Fixed {
			return ""
		}
		spread := make([]float32, len(others)*size)
		for i, j := range others {
			spread[i*size+j] = 1
		}
		if len(others) == 0 {
			return w.zeros(w.gather(a, 2, make([]int, size)...))
		}
		return w.matmul(w.slice(a, 2, 0, len(others), 1), w.Floats("spread", spread, len(others), size))
	}
}
