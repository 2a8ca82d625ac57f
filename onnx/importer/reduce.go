package importer

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"utvi/nn"
)

// reduce is an average, a sum or the largest over some dimensions.
func reduce(c *call) (*value, error) {
	x, err := c.x()
	if err != nil {
		return nil, err
	}
	return c.reduced(x, c.op)
}

// reduced is x, reduced as an operator does.
func (c *call) reduced(x *value, op string) (*value, error) {
	axes, err := c.axes()
	if err != nil {
		return nil, err
	}
	if len(axes) == 0 {
		return nil, fmt.Errorf("it reduces over all dimensions, those of the rows among them")
	}
	n := 1
	for _, a := range axes {
		dim, err := c.dimension(a, len(x.at))
		if err != nil {
			return nil, err
		}
		n *= x.at[dim].size()
	}
	pool := averages
	if op == "ReduceMax" {
		pool = func(window [2]int) nn.Layer { return nn.MaxPool2D{Size: window} }
	}
	y, err := x.pooled(axes, c.int("keepdims", 1) != 0, pool)
	if err != nil || op != "ReduceSum" {
		return y, err
	}
	return y.of(func(x string) string { return "(" + strconv.Itoa(n) + "*" + x + ")" })
}

// sumOf is a function of the sum of a function.
func sumOf(inner, outer string) func(c *call) (*value, error) {
	return func(c *call) (*value, error) { return c.around("ReduceSum", inner, outer) }
}

// reduceMin is the smallest: less the largest of the negative.
func reduceMin(c *call) (*value, error) { return c.around("ReduceMax", "(-$x)", "(-$x)") }

// around reduces a function of the input, and takes another of the result.
func (c *call) around(op, inner, outer string) (*value, error) {
	x, err := c.given()
	if err != nil {
		return nil, err
	}
	fill := func(text string) func(string) string {
		return func(x string) string { return strings.ReplaceAll(text, "$x", x) }
	}
	x, err = x.of(fill(inner))
	if err != nil {
		return nil, err
	}
	x, err = x.settle()
	if err != nil {
		return nil, err
	}
	x, err = c.reduced(x, op)
	if err != nil || outer == "$x" {
		return x, err
	}
	return x.of(fill(outer))
}

func averages(window [2]int) nn.Layer { return nn.AvgPool2D{Size: window} }

// pooled is the average, or what else pool makes of a window, over some dimensions.
func (v *value) pooled(axes []int, keep bool, pool func(window [2]int) nn.Layer) (*value, error) {
	reduced := make([]bool, len(v.at))
	for _, a := range axes {
		if a < 0 {
			a += len(v.at)
		}
		if v.at[a].hasRows() {
			return nil, fmt.Errorf("it reduces over the rows of %v", v.named())
		}
		reduced[a] = true
	}
	v, window, err := v.asWindow(reduced)
	if err != nil {
		return nil, err
	}
	s := v.layer.shape
	out := nn.Shape{H: s.H / window[0], W: s.W / window[1], C: s.C}
	var at layout
	for i, a := range v.at {
		if reduced[i] {
			if keep {
				at = append(at, nil)
			}
			continue
		}
		a = slices.Clone(a)
		for k, f := range a {
			if f.step != ofRows && f.n > 1 && sideAt(f.step, s) == 0 {
				a[k].step = f.step / s.W * out.W
			}
		}
		at = append(at, a)
	}
	if window == [2]int{1, 1} {
		w := *v
		w.at = at
		return &w, nil
	}
	return v.then(pool(window), out, at), nil
}

// asWindow is v, arranged so that some dimensions are its height, its width or both, and these.
func (v *value) asWindow(reduced []bool) (w *value, window [2]int, err error) {
	s := v.layer.shape
	covered := [3]int{1, 1, 1}
	for i, a := range v.at.cut(s) {
		for _, f := range a {
			if reduced[i] && f.n > 1 {
				covered[sideAt(f.step, s)] *= f.n
			}
		}
	}
	part := func(n, of int) bool { return n != 1 && n != of }
	if covered[2] == 1 && !part(covered[0], s.H) && !part(covered[1], s.W) {
		return v, [2]int{covered[0], covered[1]}, nil
	}
	var over, kept axis
	for i, a := range v.at {
		if reduced[i] {
			over = append(over, a...)
		} else {
			kept = append(kept, a.withoutRows()...)
		}
	}
	w, err = v.arranged([3]axis{nil, over, kept})
	return w, [2]int{1, over.size()}, err
}
