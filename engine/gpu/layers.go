package gpu

import (
	"cmp"
	"slices"

	"utvi/moment"
	"utvi/nn"
)

// residual translates a branch, the layers on the other road, and the sum of both.
func (t *translator) residual(node *nn.Node[float32]) error {
	roads := [2]int{t.at, t.at} // the signals that are added
	for i, c := range node.Children {
		t.at = roads[i]
		for _, step := range c.Steps() {
			if err := t.step(step); err != nil {
				return err
			}
		}
		roads[i] = t.at
	}
	n := node.Out.Size()
	t.layers = append(t.layers, layer{kind: opAdd, name: node.Name, in: n, out: n, from: node.Children[0].To, to: node.To, input: roads[0], skip: roads[1], sense: t.sense && node.To != nn.Fixed})
	t.at = len(t.layers)
	return nil
}

// applyWithX translates x + f(x): a formula or, in closed form, f with a mark.
func (l *layer) applyWithX(n *nn.Node[float32], x nn.Residual) error {
	a, _ := x.Elementwise()
	rule := a.Rule
	if rule == nil {
		rule = moment.Default(a.F)
	}
	if rule.Nodes().Method != moment.InClosedForm {
		return l.apply(n, a)
	}
	f := x.Branch
	for c, ok := f.(nn.Chain); ok; c, ok = f.(nn.Chain) {
		f = c[0]
	}
	a.F = f.(nn.Apply).F
	err := l.apply(n, a)
	l.f.Points = 1
	return err
}

// piecewise lists the edges of every feature.
func (l *layer) piecewise(x nn.Piecewise) {
	l.kind = opPiecewise
	var owners []int
	for j, edges := range x.Edges {
		for k := range max(0, len(edges)-1) {
			l.by = append(l.by, float32(edges[k]), float32(edges[k+1]))
			owners = append(owners, j)
		}
	}
	l.owned(owners)
}

// periodic has all sines before all cosines.
func (l *layer) periodic(x nn.Periodic) {
	var owners []int
	for j, frequencies := range x.Frequencies {
		for range frequencies {
			owners = append(owners, j)
		}
	}
	if owners == nil {
		l.kind = none
		return
	}
	l.kind = opPeriodic
	l.owned(append(owners, owners...))
}

// owned lists the unit of every feature, the first member of every unit, and the
// members: the features in the order of their units.
func (l *layer) owned(owners []int) {
	members := make([][]int32, l.in)
	for f, unit := range owners {
		l.table = append(l.table, int32(unit))
		members[unit] = append(members[unit], int32(f))
	}
	n := 0
	for _, m := range members {
		l.table = append(l.table, int32(n))
		n += len(m)
	}
	l.table = append(append(l.table, int32(n)), slices.Concat(members...)...)
}

// batchNorm is a product and a sum for each unit.
func (l *layer) batchNorm(x nn.BatchNorm) {
	slope, constant := x.Affine()
	l.kind = opMultiply
	l.by = make([]float32, l.in)
	l.plus = make([]float32, l.in)
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
