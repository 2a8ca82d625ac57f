package importer

import (
	"fmt"
	"math"
)

// where chooses between two values, by a condition that may be a constant: 0 or 1 for each element.
func where(c *call) (*value, error) {
	if len(c.in) != 3 || c.in[0] == nil || c.in[1] == nil || c.in[2] == nil {
		return nil, fmt.Errorf("it needs a condition and two values")
	}
	if k := c.in[0].constant; k != nil {
		return c.masked(k, c.in[1], c.in[2])
	}
	// A condition and a value first, then the other value, where one formula can hold all.
	v, err := c.join("$x, $y", c.in[0], c.in[1])
	if err == nil {
		v, err = c.join("where($x, $y)", v, c.in[2])
	}
	if err == nil {
		return v, nil
	}
	return c.chosen(c.in[0], c.in[1], c.in[2])
}

// chosen is v where a condition of another layer is 1, and w where it is 0.
func (c *call) chosen(is, v, w *value) (*value, error) {
	if !is.truth {
		return nil, fmt.Errorf("its condition is no comparison")
	}
	not, err := is.of(func(x string) string { return "(1 - " + x + ")" })
	if err != nil {
		return nil, err
	}
	yes, err := c.join("($x*$y)", is, v)
	if err != nil {
		return nil, err
	}
	no, err := c.join("($x*$y)", not, w)
	if err != nil {
		return nil, err
	}
	return c.join("($x + $y)", yes, no)
}

// masked takes v where a constant is true, and w where it is false. Infinite numbers, which hide
// elements from a softmax, become ±1e9.
func (c *call) masked(k *constant, v, w *value) (*value, error) {
	not := &constant{dims: k.dims}
	for _, x := range k.data {
		not.data = append(not.data, 1-min(1, math.Abs(x)))
	}
	is := &constant{dims: k.dims}
	for _, x := range not.data {
		is.data = append(is.data, 1-x)
	}
	var parts []*value
	for i, x := range []*value{v, w} {
		by := []*constant{is, not}[i]
		if x.constant != nil {
			product, err := x.constant.bounded().with(by, times)
			if err != nil {
				return nil, err
			}
			parts = append(parts, &value{constant: product})
			continue
		}
		y, err := c.join("($x*$y)", x, &value{constant: by})
		if err != nil {
			return nil, err
		}
		parts = append(parts, y)
	}
	if parts[0].constant != nil && parts[1].constant != nil {
		return nil, fmt.Errorf("it computes constants, which is not taken here")
	}
	return c.join("($x + $y)", parts[0], parts[1])
}

// hidden stands for infinite numbers.
const hidden = 1e9

// bounded is the constant without infinite numbers.
func (k *constant) bounded() *constant {
	out := &constant{dims: k.dims, data: make([]float64, len(k.data))}
	for i, x := range k.data {
		out.data[i] = max(-hidden, min(hidden, x))
	}
	return out
}
