package importer

import (
	"fmt"
	"math"

	"utvi/internal/onnx"
)

// to is the type that a Cast makes numbers into.
func (a attributes) to() onnx.Elem { return onnx.Elem(a.int("to", int(onnx.Float))) }

// fractions reports whether a type keeps fractions.
func fractions(e onnx.Elem) bool {
	return e == onnx.Float || e == onnx.Double || e == onnx.Float16 || e == onnx.BFloat16
}

// cast changes no numbers, as layers have one type. Whole numbers are made of comparisons
// only: the slope of anything else would be 0.
func cast(c *call) (*value, error) {
	v, err := identity(c)
	if err == nil && !fractions(c.to()) && v.constant == nil && !v.truth {
		return nil, fmt.Errorf("it cuts the fractions off numbers that depend on the input; only comparisons can become whole numbers")
	}
	return v, err
}

// cast is a constant in another type.
func (k *constant) cast(to onnx.Elem) *constant {
	if fractions(to) {
		return k
	}
	out := &constant{dims: k.dims}
	for _, x := range k.data {
		switch {
		case to != onnx.Bool:
			x = math.Trunc(x)
		case x != 0:
			x = 1
		}
		out.data = append(out.data, x)
	}
	return out
}
