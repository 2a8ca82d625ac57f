package export

import (
	"cmp"

	"utvi/internal/onnx"
	"utvi/nn"
)

// layerNorm: with μ = avg m and τ² = avg (m−μ)² + (1−1/n)·avg v + ε,
//
//	mean (m−μ)/τ·γ + β,  variance (v·(1 − 2/n) + Σv/n²)/τ²·γ²
//
// A sensitivity a becomes (t − avg t − û·avg(û·t))/τ, with t = a·γ and û = (m−μ)/τ.
func (w *writer) layerNorm(n *node, l nn.LayerNorm, in signal, out *signal) back {
	size := float64(in.shape.Size())
	inTau := 1 - 1/size
	own := 1 - 2/size
	others := 1 / size
	if l.FixedMean {
		inTau = 1
		own = 1
		others = 0
	}
	if in.form == nn.Fixed {
		gain, offset := w.Floats("gain", n.Tensors[0].Mean, sizes(in.shape)...), w.Floats("offset", n.Tensors[1].Mean, sizes(in.shape)...)
		out.mean = w.Op("LayerNormalization", []value{in.mean, gain, offset}, onnx.Int("axis", 1), onnx.Number("epsilon", cmp.Or(l.Eps, 1e-5)))
		return nil
	}
	gain := w.Floats("gain", n.Tensors[0].Mean, len(n.Tensors[0].Mean))
	offset := w.Floats("offset", n.Tensors[1].Mean, len(n.Tensors[1].Mean))
	m := w.rows(in.mean, in.shape)
	centred := w.sub(m, w.mean(m, -1))
	tau := w.plus(w.mean(w.square(centred), -1), cmp.Or(l.Eps, 1e-5))
	v := w.rows(in.variance, in.shape)
	tau = w.add(tau, w.times(w.mean(v, -1), inTau))
	inv := w.unary("Reciprocal", w.sqrt(tau))
	at := w.mul(centred, inv)
	out.mean = w.natural(w.add(w.mul(at, gain), offset), out.shape)
	spread := w.times(v, own)
	if others > 0 {
		spread = w.add(spread, w.times(w.mean(v, -1), others))
	}
	out.variance = w.natural(w.mul(spread, w.square(w.mul(gain, inv))), out.shape)
	return func(_ *sensed, a value) value {
		t := w.mul(a, gain)
		u := w.unsqueeze(at, 1)
		t = w.sub(w.sub(t, w.mean(t, -1)), w.mul(u, w.mean(w.mul(u, t), -1)))
		return w.mul(t, w.unsqueeze(inv, 1))
	}
}
