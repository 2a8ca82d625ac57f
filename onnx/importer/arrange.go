package importer

import (
	"fmt"
	"slices"

	"utvi/nn"
)

// arranged is v with its units in another order: the sides are made of the factors of its layout,
// each in one of them, the slowest first. It adds layers only where the order is another one.
func (v *value) arranged(sides [3]axis) (*value, error) {
	wanted := slices.Concat(sides[:]...).withoutRows()
	shape := nn.Shape{H: sides[0].withoutRows().size(), W: sides[1].withoutRows().size(), C: sides[2].withoutRows().size()}
	now := slices.Clone(wanted)
	slices.SortStableFunc(now, func(a, b factor) int { return b.step - a.step })
	steps, err := moves(now, wanted)
	if err != nil {
		return nil, err
	}
	layers := make([]nn.Layer, 0, 2*len(steps)+1)
	at := v.layer.shape
	reshape := func(s nn.Shape) {
		switch {
		case s == at:
			return
		case s == nn.Vec(s.C):
			layers = append(layers, nn.Flatten{})
		default:
			layers = append(layers, nn.Reshape(s))
		}
		at = s
	}
	for _, m := range steps {
		reshape(nn.Shape{H: m.sizes[0], W: m.sizes[1], C: m.sizes[2]})
		names := [3]nn.Axis{nn.Height, nn.Width, nn.Channels}
		var order [3]nn.Axis
		for i, from := range m.order {
			order[i] = names[from]
		}
		layers = append(layers, nn.Transpose{Order: order})
		at = nn.Shape{H: m.sizes[m.order[0]], W: m.sizes[m.order[1]], C: m.sizes[m.order[2]]}
	}
	reshape(shape)
	// The steps of the factors in their new order.
	next := map[int]int{}
	step := 1
	for i := len(wanted) - 1; i >= 0; i-- {
		next[wanted[i].step] = step
		step *= wanted[i].n
	}
	w := *v
	for i, l := range layers {
		s := shape
		if i < len(layers)-1 {
			s = nn.Shape{} // known when it is built; nobody asks
		}
		w.layer = newLayer(l, s, w.layer.node, []*value{{layer: w.layer}})
	}
	w.at = make(layout, len(v.at))
	for i, a := range v.at {
		for _, f := range a {
			if f.step != ofRows && f.n > 1 {
				f.step = next[f.step]
			}
			w.at[i] = append(w.at[i], f)
		}
	}
	w.at = w.at.tidy()
	return &w, nil
}

// A move cuts the units into three sides and puts these into another order.
type move struct {
	sizes, order [3]int
}

// moves are the fewest moves that bring factors from one order into another.
func moves(now, wanted axis) ([]move, error) {
	now, target := together(now, wanted)
	if len(target) > 7 {
		return nil, fmt.Errorf("its input has its dimensions in an order of %d pieces; at most 7 can be brought into another one", len(target))
	}
	type state struct {
		order []int
		moves []move
	}
	key := func(order []int) string { return fmt.Sprint(order) }
	start := make([]int, len(target))
	for i := range start {
		start[i] = i
	}
	seen := map[string]bool{key(start): true}
	for queue := []state{{start, nil}}; len(queue) > 0; queue = queue[1:] {
		s := queue[0]
		if slices.Equal(s.order, target) {
			return s.moves, nil
		}
		n := len(s.order)
		for i := range n {
			for j := i + 1; j <= n; j++ {
				cut := [3][]int{s.order[:i], s.order[i:j], s.order[j:]}
				for _, by := range [][3]int{{0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}} {
					order := slices.Concat(cut[by[0]], cut[by[1]], cut[by[2]])
					if seen[key(order)] {
						continue
					}
					seen[key(order)] = true
					m := move{order: by}
					for side, part := range cut {
						m.sizes[side] = 1
						for _, k := range part {
							m.sizes[side] *= now[k].n
						}
					}
					queue = append(queue, state{order, append(slices.Clone(s.moves), m)})
				}
			}
		}
	}
	return nil, fmt.Errorf("the dimensions of its input cannot be brought into order")
}

// together joins factors that are neighbours in both orders, and returns the joined ones with the
// number of each in the wanted order.
func together(now, wanted axis) (joined axis, target []int) {
	place := map[int]int{}
	for i, f := range wanted {
		place[f.step] = i
	}
	var first []int // the place of each joined factor
	last := -2
	for _, f := range now {
		at := place[f.step]
		if at == last+1 && len(joined) > 0 {
			joined[len(joined)-1].n *= f.n
		} else {
			joined = append(joined, f)
			first = append(first, at)
		}
		last = at
	}
	for i := range joined {
		target = append(target, i)
	}
	slices.SortFunc(target, func(a, b int) int { return first[a] - first[b] })
	return joined, target
}

// apart is v with one dimension as a side of its own, and those before and behind it as the other
// two: the height, the width and the channels in this order.
func (v *value) apart(dim int) (*value, error) {
	if v.at[dim].hasRows() {
		return nil, fmt.Errorf("it works along dimension %d of %v, which has the rows in it", dim, v.named())
	}
	return v.arranged([3]axis{layout(v.at[:dim]).all(), v.at[dim], layout(v.at[dim+1:]).all()})
}

// asSide is v with one dimension as some side of it, as v lies if that is so already.
func (v *value) asSide(dim int) (*value, int, error) {
	if side := sideOf(v.at[dim], v.layer.shape); side >= 0 {
		return v, side, nil
	}
	w, err := v.apart(dim)
	return w, 1, err
}

// lastSide is v with some dimensions, the last ones, as the channels, in any order of these.
func (v *value) lastSide(dims int) (*value, error) {
	last := layout(v.at[len(v.at)-dims:]).all()
	if last.hasRows() {
		return nil, fmt.Errorf("it works along the last of the dimensions %v, which has the rows in it", v.named())
	}
	c := v.layer.shape.C
	inside := last.size() == c
	for _, f := range last {
		inside = inside && f.step*f.n <= c
	}
	if inside {
		return v, nil
	}
	return v.arranged([3]axis{nil, layout(v.at[:len(v.at)-dims]).all(), last})
}
