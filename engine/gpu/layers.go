package gpu

import (
	"cmp"

	"utvi/nn"
)

// residual translates a branch and the sum behind it.
func (t *translator) residual(node *nn.Node[float32]) error {
	if t.sense {
		return unsupported(node, "it is a residual in nn.Correlated; Dense, Apply, Piecewise and Flatten run there")
	}
	if node.Layer.(nn.Residual).Skip != nil {
		return unsupported(node, "it has layers on both roads; a residual without Skip runs")
	}
	first := len(t.layers)
	var to nn.Form
	for _, c := range node.Children[0].Steps() {
		if err := t.step(c); err != nil {
			return err
		}
		to = c.To
	}
	n := node.Out.Size()
	t.layers = append(t.layers, layer{kind: opAdd, name: node.Name, in: n, out: n, from: to, to: node.To, skip: first})
	return nil
}

// join returns d plus the gradients that reach the input of layer i around a branch.
func (t *trainer) join(d signal, skips map[int][]signal, i int, at signal) signal {
	if i == 0 {
		return d // nobody wants it
	}
	width := t.plan.layers[i].in
	for _, x := range skips[i] {
		sum := t.signal(t.Batch, width, at.v != 0)
		t.pass.add(op{Kind: opAdd, In: int32(width), M: d.m, V: d.v, G: x.m, H: x.v, OM: sum.m, OV: sum.v})
		d = sum
	}
	return d
}

// piecewise lists the edges of every feature, the unit of every feature, and the first
// feature of every unit.
func (l *layer) piecewise(x nn.Piecewise) {
	l.kind = opPiecewise
	var first []int32
	for j, edges := range x.Edges {
		first = append(first, int32(len(l.table)))
		for k := range max(0, len(edges)-1) {
			l.by = append(l.by, float32(edges[k]), float32(edges[k+1]))
			l.table = append(l.table, int32(j))
		}
	}
	l.table = append(append(l.table, first...), int32(len(l.table)))
}

// batchNorm is a product and a sum for each unit.
func (l *layer) batchNorm(x nn.BatchNorm) {
	slope, constant := x.Affine()
	l.kind, l.by, l.plus = opMultiply, make([]float32, l.in), make([]float32, l.in)
	for i := range l.by {
		l.by[i], l.plus[i] = float32(slope[i%len(slope)]), float32(constant[i%len(slope)])
	}
}

func (l *layer) layerNorm(x nn.LayerNorm) {
	l.kind, l.p = opLayerNorm, cmp.Or(x.Eps, 1e-5)
	if x.FixedMean {
		l.q = 1
	}
}
