package importer

import (
	"fmt"
	"slices"
)

// A statistic is a part of a layer normalisation that is spelt out, as PyTorch does before
// opset 17: mean, x − mean, its square, the variance, the variance + ε, and its root. It is over the
// last dimensions. A part that something else needs is computed as it is.
type statistic struct {
	of   *value // x
	kind statisticKind
	eps  float64
	last int // dimensions

	before *statistic // the part that it was made of
	made   *value     // once it was computed
}

type statisticKind string

const (
	mean       statisticKind = "mean"
	difference statisticKind = "difference from the mean"
	square     statisticKind = "square"
	variance   statisticKind = "variance"
	deviation  statisticKind = "spread"
)

// settle computes a part.
func (s *statistic) settle() (*value, error) {
	if s.made != nil {
		return s.made, nil
	}
	made, err := s.compute()
	s.made = made
	return made, err
}

func (s *statistic) compute() (*value, error) {
	axes := make([]int, s.last)
	for i := range axes {
		axes[i] = len(s.of.at) - s.last + i
	}
	if s.kind == mean {
		return s.of.pooled(axes, true, averages)
	}
	before, err := s.before.settle()
	if err != nil {
		return nil, err
	}
	switch {
	case s.kind == difference:
		return (*call)(nil).meet("($x - $y)", s.of, before)
	case s.kind == variance && s.before.kind == square:
		return before.pooled(axes, true, averages)
	}
	text := map[statisticKind]string{square: "square(%s)", deviation: "sqrt(%s)", variance: "(%s + " + decimal(s.eps-s.before.eps) + ")"}[s.kind]
	out, err := before.of(func(x string) string { return fmt.Sprintf(text, x) })
	if err != nil {
		return nil, err
	}
	return out.settle()
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
	}
	return out, out != nil, err
}

// part is an input that is a part; of is nil if it is none.
func (c *call) part(i int) statistic {
	if i < len(c.in) && c.in[i] != nil && c.in[i].stat != nil {
		return *c.in[i].stat
	}
	return statistic{}
}

// next is the value of a part that is made of another one.
func (s *statistic) next(kind statisticKind, eps float64) *value {
	p := &statistic{of: s.of, kind: kind, eps: eps, last: s.last, before: s}
	at := slices.Clone(s.of.at)
	if kind != difference && kind != square {
		for i := len(at) - s.last; i < len(at); i++ {
			at[i] = nil
		}
	}
	return &value{stat: p, layer: s.of.layer, at: at}
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

// meanOf is the mean of the last dimensions, or of the squares of the differences.
func (c *call) meanOf(first, _ statistic) (*value, error) {
	switch {
	case first.kind == square && c.lastDims(c.in[0]) == first.last:
		return c.in[0].stat.next(variance, 0), nil
	case first.of != nil || !c.depends(0):
		return nil, nil
	}
	last := c.lastDims(c.in[0])
	if last == 0 {
		return nil, nil
	}
	x, err := c.in[0].settle()
	if err != nil {
		return nil, err
	}
	return (&statistic{of: x, last: last}).next(mean, 0), nil
}

func (c *call) differenceOf(_, second statistic) (*value, error) {
	if second.kind != mean || !c.depends(0) {
		return nil, nil
	}
	x, err := c.in[0].settle()
	if err != nil || !x.alike(second.of) {
		return nil, err
	}
	return c.in[1].stat.next(difference, 0), nil
}

func (c *call) squareOf(first, _ statistic) (*value, error) {
	exponent, isNumber := c.number(1)
	byItself := c.op == "Mul" && len(c.in) == 2 && c.in[0] == c.in[1]
	if first.kind != difference || !byItself && !(c.op == "Pow" && isNumber && exponent == 2) {
		return nil, nil
	}
	return c.in[0].stat.next(square, 0), nil
}

// varianceOf adds ε.
func (c *call) varianceOf(first, _ statistic) (*value, error) {
	eps, isNumber := c.number(1)
	if first.kind != variance || !isNumber {
		return nil, nil
	}
	return c.in[0].stat.next(variance, first.eps+eps), nil
}

func (c *call) spreadOf(first, _ statistic) (*value, error) {
	if first.kind != variance {
		return nil, nil
	}
	return c.in[0].stat.next(deviation, first.eps), nil
}

// normalisedBy is the last step: the layer.
func (c *call) normalisedBy(first, second statistic) (*value, error) {
	if first.kind != difference || second.kind != deviation || !first.of.alike(second.of) || first.last != second.last || !(second.eps > 0) {
		return nil, nil
	}
	return first.of.normalised(nil, nil, second.eps, first.last)
}

// passed is a part as it is.
func (c *call) passed(_, _ statistic) (*value, error) { return c.in[0], nil }

// lastDims is over how many of the last dimensions a node reduces, which it keeps as 1; 0 if it
// does something else.
func (c *call) lastDims(x *value) int {
	axes, err := c.axes()
	if err != nil || len(axes) == 0 || c.int("keepdims", 1) != 1 {
		return 0
	}
	n := len(x.at)
	seen := map[int]bool{}
	for _, a := range axes {
		if a < 0 {
			a += n
		}
		if a < 1 || a >= n || seen[a] || x.at[a].hasRows() {
			return 0
		}
		seen[a] = true
	}
	for i := n - len(seen); i < n; i++ {
		if !seen[i] {
			return 0
		}
	}
	if layout(x.at[n-len(seen):]).all().size() < 2 {
		return 0
	}
	return len(seen)
}
