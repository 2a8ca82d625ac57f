package export

import (
	"utvi/internal/compute"
	"utvi/internal/onnx"
)

// A value is the name of a tensor in the graph.
type value = string

// ops are the operators of the graph, as methods.
type ops struct{ *onnx.Builder }

func (o ops) add(a, b value) value { return o.Op("Add", []value{a, b}) }
func (o ops) sub(a, b value) value { return o.Op("Sub", []value{a, b}) }
func (o ops) mul(a, b value) value { return o.Op("Mul", []value{a, b}) }
func (o ops) div(a, b value) value { return o.Op("Div", []value{a, b}) }
func (o ops) max(a, b value) value { return o.Op("Max", []value{a, b}) }
func (o ops) min(a, b value) value { return o.Op("Min", []value{a, b}) }

func (o ops) unary(op string, a value) value { return o.Op(op, []value{a}) }

func (o ops) neg(a value) value    { return o.unary("Neg", a) }
func (o ops) abs(a value) value    { return o.unary("Abs", a) }
func (o ops) sqrt(a value) value   { return o.unary("Sqrt", a) }
func (o ops) exp(a value) value    { return o.unary("Exp", a) }
func (o ops) square(a value) value { return o.mul(a, a) }

// times and plus take a number.
func (o ops) times(a value, c float64) value {
	if c == 1 {
		return a
	}
	return o.mul(a, o.Float(c))
}
func (o ops) plus(a value, c float64) value {
	if c == 0 {
		return a
	}
	return o.add(a, o.Float(c))
}

// from is c − a.
func (o ops) from(c float64, a value) value { return o.sub(o.Float(c), a) }

func (o ops) less(a, b value) value          { return o.Op("Less", []value{a, b}) }
func (o ops) below(a value, c float64) value { return o.less(a, o.Float(c)) }
func (o ops) above(a value, c float64) value { return o.Op("Greater", []value{a, o.Float(c)}) }
func (o ops) and(a, b value) value           { return o.Op("And", []value{a, b}) }
func (o ops) where(c, a, b value) value      { return o.Op("Where", []value{c, a, b}) }

func (o ops) matmul(a, b value) value { return o.Op("MatMul", []value{a, b}) }

// total adds several values.
func (o ops) total(v []value) value {
	sum := v[0]
	for _, x := range v[1:] {
		sum = o.add(sum, x)
	}
	return sum
}

func (o ops) reshape(a value, dims ...int) value {
	return o.Op("Reshape", []value{a, o.Ints(dims...)})
}

func (o ops) transpose(a value, perm ...int) value {
	return o.Op("Transpose", []value{a}, onnx.IntList("perm", perm...))
}

// sum sums over an axis; keep leaves an axis of size 1.
func (o ops) sum(a value, axis int, keep bool) value {
	k := 0
	if keep {
		k = 1
	}
	return o.Op("ReduceSum", []value{a, o.Ints(axis)}, onnx.Int("keepdims", k))
}

// mean is the average over an axis, which stays with size 1.
func (o ops) mean(a value, axis int) value {
	return o.Op("ReduceMean", []value{a}, onnx.IntList("axes", axis))
}

// slice is a[lo:hi:step] along an axis.
func (o ops) slice(a value, axis, lo, hi, step int) value {
	return o.Op("Slice", []value{a, o.Ints(lo), o.Ints(hi), o.Ints(axis), o.Ints(step)})
}

func (o ops) squeeze(a value, axis int) value   { return o.Op("Squeeze", []value{a, o.Ints(axis)}) }
func (o ops) unsqueeze(a value, axis int) value { return o.Op("Unsqueeze", []value{a, o.Ints(axis)}) }

func (o ops) concat(axis int, v ...value) value {
	if len(v) == 1 {
		return v[0]
	}
	return o.Op("Concat", v, onnx.Int("axis", axis))
}

// gather picks columns along an axis.
func (o ops) gather(a value, axis int, index ...int) value {
	return o.Op("Gather", []value{a, o.Ints(index...)}, onnx.Int("axis", axis))
}

// cast turns truth into 1 and 0.
func (o ops) cast(a value) value { return o.Op("Cast", []value{a}, onnx.Int("to", int(onnx.Float))) }

// zeros has the shape of a.
func (o ops) zeros(a value) value {
	return o.unary("ConstantOfShape", o.unary("Shape", a))
}

// floats is a constant of float64 numbers.
func (o ops) floats(name string, v []float64, dims ...int) value {
	f := make([]float32, len(v))
	compute.Convert(f, v)
	return o.Floats(name, f, dims...)
}

// poly is a polynomial of x, lowest power first.
func (o ops) poly(x value, c []float64) value {
	sum := o.Float(c[len(c)-1])
	for i := len(c) - 2; i >= 0; i-- {
		sum = o.plus(o.mul(sum, x), c[i])
	}
	return sum
}
