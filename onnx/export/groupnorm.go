package export

import (
	"cmp"

	"utvi/internal/onnx"
	"utvi/nn"
)

// A groupNorm is a normalisation over groups of channels at all places.
type groupNorm struct {
	groups  int
	eps     float64
	centred bool // the mean of a group is taken off, and is random
}

// groupNorm writes what layerNorm does, for each group of a row. Channels come first for that,
// so that a group is one stretch.
func (w *writer) groupNorm(n *node, g groupNorm, in signal, out *signal) back {
	s := in.shape
	if in.form == nn.Fixed && g.centred && g.groups == s.C {
		gain, offset := w.Floats("gain", n.Tensors[0].Mean, s.C), w.Floats("offset", n.Tensors[1].Mean, s.C)
		y := w.Op("InstanceNormalization", []value{w.planes(in.mean, s), gain, offset}, onnx.Number("epsilon", cmp.Or(g.eps, 1e-5)))
		out.mean = w.unplanes(y, s)
		return nil
	}
	size := s.Size() / g.groups
	l := grouped{w, s, g.groups}
	inTau, own, others := g.shares(size)
	gain := l.numbers("gain", n.Tensors[0].Mean)
	m := l.apart(in.mean, -1)
	centred := m
	if g.centred {
		centred = w.sub(m, w.mean(m, -1))
	}
	tau := w.plus(w.mean(w.square(centred), -1), cmp.Or(g.eps, 1e-5))
	v := value("")
	if in.form != nn.Fixed {
		v = l.apart(in.variance, -1)
		tau = w.add(tau, w.times(w.mean(v, -1), inTau))
	}
	inv := w.unary("Reciprocal", w.sqrt(tau))
	at := w.mul(centred, inv)
	y := w.mul(at, gain)
	if len(n.Tensors) > 1 {
		y = w.add(y, l.numbers("offset", n.Tensors[1].Mean))
	}
	out.mean = l.together(y)
	if in.form == nn.Fixed {
		return nil
	}
	spread := w.times(v, own)
	if others > 0 {
		spread = w.add(spread, w.times(w.mean(v, -1), others))
	}
	out.variance = l.together(w.mul(spread, w.square(w.mul(gain, inv))))
	return func(sd *sensed, a value) value {
		t := w.mul(l.apart(a, -1, sd.k), gain)
		u := w.unsqueeze(at, 1)
		along := w.mul(u, w.mean(w.mul(u, t), -1))
		if g.centred {
			t = w.sub(t, w.mean(t, -1))
		}
		t = w.mul(w.sub(t, along), w.unsqueeze(inv, 1))
		t = w.transpose(w.reshape(t, -1, sd.k, s.C, s.H*s.W), 0, 1, 3, 2)
		return w.reshape(t, -1, sd.k, s.Size())
	}
}

// grouped is the layout in which a group of channels is one stretch.
type grouped struct {
	w      *writer
	s      nn.Shape
	groups int
}

// apart turns … × height × width × channels into … × groups × numbers of a group.
func (l grouped) apart(v value, before ...int) value {
	k := len(before)
	v = l.w.reshape(v, append(before[:k:k], l.s.H*l.s.W, l.s.C)...)
	perm := make([]int, k+2)
	for i := range perm {
		perm[i] = i
	}
	perm[k] = k + 1
	perm[k+1] = k
	return l.w.reshape(l.w.transpose(v, perm...), append(before[:k:k], l.groups, l.s.Size()/l.groups)...)
}

// together turns rows × groups × numbers of a group back into rows of the shape.
func (l grouped) together(v value) value {
	v = l.w.transpose(l.w.reshape(v, -1, l.s.C, l.s.H*l.s.W), 0, 2, 1)
	return l.w.natural(l.w.reshape(v, -1, l.s.Size()), l.s)
}

// numbers lays out constants, one a channel or one a unit.
func (l grouped) numbers(name string, x []float32) value {
	y := make([]float32, l.s.Size())
	for i := range y {
		at := i%(l.s.H*l.s.W)*l.s.C + i/(l.s.H*l.s.W)
		y[i] = x[at%len(x)]
	}
	return l.w.Floats(name, y, l.groups, l.s.Size()/l.groups)
}

// shares are those of avg v in τ², of v in the variance of a unit, and of avg v.
func (g groupNorm) shares(size int) (inTau, own, others float64) {
	if !g.centred {
		return 1, 1, 0
	}
	n := float64(size)
	inTau = 1 - 1/n
	own = 1 - 2/n
	return inTau, own, 1 / n
}
