package importer

import (
	"fmt"

	"utvi/nn"
)

// expand repeats dimensions of 1.
func expand(c *call) (*value, error) {
	x, err := c.x()
	if err != nil {
		return nil, err
	}
	k, err := c.weight(1)
	if err != nil || k == nil {
		return nil, fmt.Errorf("its size must be a constant")
	}
	to := k.ints()
	if len(to) > len(x.at) {
		x = x.ranked(len(to))
	}
	times := repeated(1, len(x.at))
	dims := x.at.dims()
	for i, want := range to {
		at := len(dims) - len(to) + i
		switch {
		case want == 1 || want == dims[at]:
		case dims[at] == 1 && want > 1 && want%batch != 0:
			times[at] = want
		default:
			return nil, fmt.Errorf("it repeats the dimensions %v to %v; only dimensions of 1 can be repeated, and not for the rows", x.named(), to)
		}
	}
	return x.times(times)
}

// tile repeats whole tensors along each dimension.
func tile(c *call) (*value, error) {
	x, err := c.x()
	if err != nil {
		return nil, err
	}
	k, err := c.weight(1)
	if err != nil || k == nil || len(k.data) != len(x.at) {
		return nil, fmt.Errorf("it needs a constant number of repetitions for each of the dimensions %v", x.named())
	}
	// A dimension of 1 before each that is repeated.
	var apart, times, whole []int
	dims := x.at.dims()
	for i, n := range k.ints() {
		if n < 1 || n > mostInputs || n > 1 && x.at[i].hasRows() {
			return nil, fmt.Errorf("it repeats the dimensions %v by %v; a number of times must be ≥ 1, and 1 for the rows", x.named(), k.ints())
		}
		apart = append(apart, 1, dims[i])
		times = append(times, n, 1)
		whole = append(whole, n*dims[i])
	}
	x, err = x.sized(apart)
	if err != nil {
		return nil, err
	}
	x, err = x.times(times)
	if err != nil {
		return nil, err
	}
	return x.sized(whole)
}

// times repeats dimensions of 1: all units become the channels of one cell, and that is copied along the
// width.
func (v *value) times(times []int) (*value, error) {
	total := 1
	for _, n := range times {
		total *= n
		if total > mostInputs {
			return nil, fmt.Errorf("it repeats %v by %v; at most %d numbers are allowed", v.named(), times, mostInputs)
		}
	}
	if total == 1 {
		return v, nil
	}
	x, err := v.inOrder()
	if err != nil {
		return nil, err
	}
	units := x.layer.shape.C
	if x.layer.shape != nn.Vec(units) {
		x, err = x.arranged([3]axis{nil, nil, x.at.all()})
		if err != nil {
			return nil, err
		}
	}
	at := make(layout, len(x.at))
	step := units * total
	for i, a := range x.at {
		at[i] = a
		if times[i] > 1 {
			step /= times[i]
			at[i] = append(append(axis{}, a...), factor{times[i], step})
		}
	}
	return x.then(nn.Resize{Size: [2]int{1, total}}, nn.Shape{H: 1, W: total, C: units}, at.tidy()), nil
}
