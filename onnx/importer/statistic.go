package importer

import (
	"fmt"
	"slices"
)

// A statistic is a part of a layer normalisation that is spelt out, as PyTorch does before
// opset 17: mean, x − mean, its square, the variance, the variance + ε, and its root.
type statistic struct {
	of   *value // x
	kind statisticKind
	eps  float64
}

type statisticKind string

const (
	mean       statisticKind = "mean"
	difference statisticKind = "difference from the mean"
	square     statisticKind = "square"
	variance   statisticKind = "variance"
	spread     statisticKind = "spread"
)

func (s *statistic) wrong() error {
	return fmt.Errorf("it uses the %s of a row; that is taken only within a layer normalisation", s.kind)
}

// statisticSteps compute the next part from one or two parts, by the operator of the node. They
// return nil if the node is no step.
var statisticSteps = map[string]func(c *call, first, second statistic) (*value, error){
	"ReduceMean": (*call).meanOf,
	"Sub":        (*call).differenceOf,
	"Pow":        (*call).squareOf,
	"Mul":        (*call).squareOf,
	"Add":        (*call).varianceOf,
	"Sqrt":       (*call).spreadOf,
	"Div":        (*call).normalisedBy,
	"Identity":   (*call).passed,
	"Cast":       (*call).passed,
}

// statistic recognises the next part. ok is false if the node is none.
func (c *call) statistic() (out *value, ok bool, err error) {
	first := c.part(0)
	second := c.part(1)
	among := first.of != nil || second.of != nil
	if step := statisticSteps[c.op]; step != nil && (among || c.op == "ReduceMean") {
		out, err = step(c, first, second)
		if out != nil || err != nil {
			return out, true, err
		}
	}
	switch {
	case !among:
		return nil, false, nil
	case first.of == nil:
		return nil, true, second.wrong()
	}
	return nil, true, first.wrong()
}

// part is an input that is a part; of is nil if it is none.
func (c *call) part(i int) statistic {
	if i < len(c.in) && c.in[i] != nil && c.in[i].stat != nil {
		return *c.in[i].stat
	}
	return statistic{}
}

// next is the value of a part.
func next(of *value, kind statisticKind, eps float64) *value {
	return &value{stat: &statistic{of, kind, eps}, dims: of.dims, shape: of.shape}
}

// number is an input that is a constant number.
func (c *call) number(i int) (x float64, ok bool) {
	if i >= len(c.in) || c.in[i] == nil || c.in[i].constant == nil || !c.in[i].constant.scalar() {
		return 0, false
	}
	return c.in[i].constant.data[0], true
}

// depends reports whether an input depends on the input of the graph.
func (c *call) depends(i int) bool {
	return i < len(c.in) && c.in[i] != nil && c.in[i].constant == nil
}

// meanOf is the mean of a row, or of the squares of its differences.
func (c *call) meanOf(first, _ statistic) (*value, error) {
	switch {
	case first.kind == square && c.wholeRow(first.of):
		return next(first.of, variance, 0), nil
	case first.of != nil || !c.depends(0):
		return nil, nil
	}
	x, err := c.in[0].settle()
	if err != nil || !c.wholeRow(x) {
		return nil, err
	}
	return next(x, mean, 0), nil
}

func (c *call) differenceOf(_, second statistic) (*value, error) {
	if second.kind != mean || !c.depends(0) {
		return nil, nil
	}
	x, err := c.in[0].settle()
	if err != nil || x != second.of {
		return nil, second.wrong()
	}
	return next(x, difference, 0), nil
}

func (c *call) squareOf(first, _ statistic) (*value, error) {
	exponent, isNumber := c.number(1)
	byItself := c.op == "Mul" && len(c.in) == 2 && c.in[0] == c.in[1]
	if first.kind != difference || !byItself && !(c.op == "Pow" && isNumber && exponent == 2) {
		return nil, nil
	}
	return next(first.of, square, 0), nil
}

// varianceOf adds ε.
func (c *call) varianceOf(first, _ statistic) (*value, error) {
	eps, isNumber := c.number(1)
	if first.kind != variance || !isNumber {
		return nil, nil
	}
	return next(first.of, variance, first.eps+eps), nil
}

func (c *call) spreadOf(first, _ statistic) (*value, error) {
	if first.kind != variance {
		return nil, nil
	}
	return next(first.of, spread, first.eps), nil
}

// normalisedBy is the last step: the layer.
func (c *call) normalisedBy(first, second statistic) (*value, error) {
	if first.kind != difference || second.kind != spread || first.of != second.of || !(second.eps > 0) {
		return nil, nil
	}
	return first.of.normalised(nil, nil, second.eps)
}

// passed is a part as it is.
func (c *call) passed(_, _ statistic) (*value, error) { return c.in[0], nil }

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
