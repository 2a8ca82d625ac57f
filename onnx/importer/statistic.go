package importer

import (
	"fmt"
	"slices"
)

// A statistic is a part of a layer normalisation that is spelt out, as PyTorch does before
// opset 17: mean, x − mean, its square, the variance, the variance + ε, and its root.
type statistic struct {
	of   *value // x
	kind string
	eps  float64
}

func (s *statistic) wrong() error {
	return fmt.Errorf("it uses the %s of a row; that is taken only within a layer normalisation", s.kind)
}

// statistic recognises the next part. ok is false if the node is none.
func (c *call) statistic() (out *value, ok bool, err error) {
	stat := func(i int) *statistic {
		if i < len(c.in) && c.in[i] != nil && c.in[i].stat != nil {
			return c.in[i].stat
		}
		return &statistic{}
	}
	first, second := stat(0), stat(1)
	part := func(of *value, kind string, eps float64) (*value, bool, error) {
		return &value{stat: &statistic{of, kind, eps}, dims: of.dims, shape: of.shape}, true, nil
	}
	switch {
	case c.op == "ReduceMean" && first.kind == "square" && c.wholeRow(first.of):
		return part(first.of, "variance", 0)
	case c.op == "ReduceMean" && first.kind == "" && c.in[0] != nil && c.in[0].constant == nil:
		x, err := c.in[0].settle()
		if err != nil || !c.wholeRow(x) {
			return nil, false, err
		}
		return part(x, "mean", 0)
	case first.kind == "" && second.kind == "":
		return nil, false, nil
	case c.op == "Sub" && second.kind == "mean" && c.in[0].constant == nil:
		x, err := c.in[0].settle()
		if err != nil || x != second.of {
			return nil, true, second.wrong()
		}
		return part(x, "difference from the mean", 0)
	case c.op == "Pow" && first.kind == "difference from the mean" && c.in[1].constant != nil && c.in[1].constant.scalar() && c.in[1].constant.data[0] == 2,
		c.op == "Mul" && first.kind == "difference from the mean" && c.in[0] == c.in[1]:
		return part(first.of, "square", 0)
	case c.op == "Add" && first.kind == "variance" && c.in[1].constant != nil && c.in[1].constant.scalar():
		return part(first.of, "variance", first.eps+c.in[1].constant.data[0])
	case c.op == "Sqrt" && first.kind == "variance":
		return part(first.of, "spread", first.eps)
	case c.op == "Div" && first.kind == "difference from the mean" && second.kind == "spread" && first.of == second.of && second.eps > 0:
		out, err := first.of.normalised(nil, nil, second.eps)
		return out, true, err
	}
	if c.op == "Identity" || c.op == "Cast" {
		return c.in[0], true, nil
	}
	if first.kind == "" {
		first = second
	}
	return nil, true, first.wrong()
}

// wholeRow reports whether a node reduces over all dimensions of a row, and keeps them.
func (c *call) wholeRow(x *value) bool {
	axes, err := c.axes()
	if err != nil {
		return false
	}
	axes = slices.Clone(axes)
	for i := range axes {
		if axes[i] < 0 {
			axes[i] += len(x.dims) + 1
		}
	}
	slices.Sort(axes)
	// Dimensions of size 1 need not be named.
	covered := 1
	for _, a := range slices.Compact(axes) {
		if a < 1 || a > len(x.dims) {
			return false
		}
		covered *= x.dims[a-1]
	}
	return covered == x.shape.Size() && covered > 1 && c.int("keepdims", 1) == 1
}
