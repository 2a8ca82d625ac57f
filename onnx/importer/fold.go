package importer

import (
	"fmt"
	"math"
	"slices"
)

// The functions below compute nodes whose inputs are all constants: the few operators that graphs
// compute shapes and weights with.

func foldIdentity(_ attributes, in []*constant) (*constant, bool, error) { return in[0], true, nil }

func foldCast(a attributes, in []*constant) (*constant, bool, error) {
	return in[0].cast(a.to()), true, nil
}

func foldSqueeze(a attributes, in []*constant) (*constant, bool, error) {
	axes := a.ints("axes", nil)
	if len(in) > 1 {
		axes = in[1].ints()
	}
	change := in[0].squeeze
	if a.n.Op == "Unsqueeze" {
		change = in[0].unsqueeze
	}
	out, err := change(axes)
	return out, true, err
}

func foldReshape(_ attributes, in []*constant) (*constant, bool, error) {
	if len(in) < 2 {
		return nil, false, nil
	}
	out, err := in[0].reshape(in[1].ints())
	return out, true, err
}

func foldTranspose(a attributes, in []*constant) (*constant, bool, error) {
	out, err := in[0].transpose(a.ints("perm", nil))
	return out, true, err
}

// foldConcat joins constants along a dimension.
func foldConcat(a attributes, in []*constant) (*constant, bool, error) {
	rank := len(in[0].dims)
	axis := a.int("axis", 0)
	if axis < 0 {
		axis += rank
	}
	if axis < 0 || axis >= rank {
		return nil, false, nil
	}
	out := &constant{dims: slices.Clone(in[0].dims)}
	out.dims[axis] = 0
	outer := 1
	for _, d := range in[0].dims[:axis] {
		outer *= d
	}
	for _, c := range in {
		same := len(c.dims) == rank
		for i := 0; same && i < rank; i++ {
			same = i == axis || c.dims[i] == out.dims[i]
		}
		if !same {
			return nil, true, fmt.Errorf("its constants have the sizes %v and %v; only dimension %d may differ", in[0].dims, c.dims, axis)
		}
		out.dims[axis] += c.dims[axis]
	}
	for i := range outer {
		for _, c := range in {
			n := len(c.data) / max(1, outer)
			out.data = append(out.data, c.data[i*n:][:n]...)
		}
	}
	return out, true, nil
}

// foldGather takes elements of a list.
func foldGather(_ attributes, in []*constant) (*constant, bool, error) {
	if len(in) < 2 || len(in[0].dims) != 1 {
		return nil, false, nil
	}
	out := &constant{dims: in[1].dims}
	for _, i := range in[1].ints() {
		if i < 0 {
			i += len(in[0].data)
		}
		if i < 0 || i >= len(in[0].data) {
			return nil, true, fmt.Errorf("element %d of %d is asked for", i, len(in[0].data))
		}
		out.data = append(out.data, in[0].data[i])
	}
	return out, true, nil
}

func foldUnary(f func(x float64) float64) func(attributes, []*constant) (*constant, bool, error) {
	return func(_ attributes, in []*constant) (*constant, bool, error) {
		out := &constant{dims: in[0].dims}
		for _, x := range in[0].data {
			out.data = append(out.data, f(x))
		}
		return out, true, nil
	}
}

func foldBinary(f func(x, y float64) float64) func(attributes, []*constant) (*constant, bool, error) {
	return func(a attributes, in []*constant) (*constant, bool, error) {
		if len(in) != 2 {
			return nil, false, nil
		}
		g := f
		if a.n.Op == "Div" && in[0].whole && in[1].whole {
			g = func(x, y float64) float64 { return math.Trunc(x / y) }
		}
		out, err := in[0].with(in[1], g)
		return out, true, err
	}
}

func plus(x, y float64) float64    { return x + y }
func minus(x, y float64) float64   { return x - y }
func times(x, y float64) float64   { return x * y }
func divided(x, y float64) float64 { return x / y }
func powered(x, y float64) float64 { return math.Pow(x, y) }
func negative(x float64) float64   { return -x }
func root(x float64) float64       { return math.Sqrt(x) }
func inverse(x float64) float64    { return 1 / x }
func floor(x float64) float64      { return math.Floor(x) }

// foldMod is what is left of a division: with the sign of the divisor, or, if fmod is set, of the other.
func foldMod(a attributes, in []*constant) (*constant, bool, error) {
	f := func(x, y float64) float64 { return x - y*math.Floor(x/y) }
	if a.int("fmod", 0) != 0 {
		f = math.Mod
	}
	return foldBinary(f)(a, in)
}

func exponential(x float64) float64 { return math.Exp(x) }

// foldSlice takes a part of a list, or of the rows of a matrix, by any step.
func foldSlice(a attributes, in []*constant) (*constant, bool, error) {
	p, ok := sliceOf(a, in)
	if !ok {
		return nil, false, nil
	}
	x := p.data
	rows := x.dims[0]
	width := len(x.data) / rows
	out := &constant{dims: slices.Clone(x.dims)}
	out.dims[0] = 0
	for _, i := range p.rows(rows) {
		out.data = append(out.data, x.data[i*width:][:width]...)
		out.dims[0]++
	}
	return out, true, nil
}

// A part is what a Slice asks for, along the first dimension.
type part struct {
	data             *constant
	start, end, step int
}

// sliceOf reads a Slice; ok is false if it is not along the first dimension alone.
func sliceOf(a attributes, in []*constant) (p part, ok bool) {
	var given [5]*constant // data, starts, ends, axes, steps; in leaves out those that are not there
	for i, name := range a.n.Inputs {
		if name != "" && i < len(given) && len(in) > 0 {
			given[i], in = in[0], in[1:]
		}
	}
	for i, c := range given {
		needed := i < 3
		if needed && c == nil || i > 0 && c != nil && !c.scalar() {
			return part{}, false
		}
	}
	number := func(c *constant, standard int) int {
		if c == nil {
			return standard
		}
		return c.ints()[0]
	}
	p = part{data: given[0], start: number(given[1], 0), end: number(given[2], 0), step: number(given[4], 1)}
	dims := p.data.dims
	axis := number(given[3], 0)
	return p, len(dims) > 0 && dims[0] > 0 && (axis == 0 || axis == -len(dims)) && p.step != 0
}

// rows are those that the part takes, of so many.
func (p part) rows(of int) (all []int) {
	at := func(i, least, most int) int {
		if i < 0 {
			i += of
		}
		return max(least, min(most, i))
	}
	if p.step > 0 {
		for i := at(p.start, 0, of); i < at(p.end, 0, of); i += p.step {
			all = append(all, i)
		}
		return all
	}
	for i := at(p.start, -1, of-1); i > at(p.end, -1, of-1); i += p.step {
		all = append(all, i)
	}
	return all
}

// truths are comparisons, and what is computed with their results, of constants.
var truths = map[string]func(x, y float64) float64{
	"Less":           func(x, y float64) float64 { return truthOf(x < y) },
	"LessOrEqual":    func(x, y float64) float64 { return truthOf(x <= y) },
	"Greater":        func(x, y float64) float64 { return truthOf(x > y) },
	"GreaterOrEqual": func(x, y float64) float64 { return truthOf(x >= y) },
	"Equal":          func(x, y float64) float64 { return truthOf(x == y) },
	"And":            func(x, y float64) float64 { return truthOf(x != 0 && y != 0) },
	"Or":             func(x, y float64) float64 { return truthOf(x != 0 || y != 0) },
}

func truthOf(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

func negation(x float64) float64 { return truthOf(x == 0) }

// foldWhere chooses between constants.
func foldWhere(_ attributes, in []*constant) (*constant, bool, error) {
	if len(in) != 3 {
		return nil, false, nil
	}
	// The condition goes with each of both, so that all three have one size.
	yes, err := in[0].with(in[1], func(c, x float64) float64 {
		if c == 0 {
			return 0
		}
		return x
	})
	if err != nil {
		return nil, true, err
	}
	no, err := in[0].with(in[2], func(c, x float64) float64 {
		if c != 0 {
			return 0
		}
		return x
	})
	if err != nil {
		return nil, true, err
	}
	out, err := yes.with(no, plus)
	return out, true, err
}

// foldExpand repeats dimensions of 1; those of the rows stay 1.
func foldExpand(_ attributes, in []*constant) (*constant, bool, error) {
	if len(in) != 2 {
		return nil, false, nil
	}
	to := &constant{}
	n := 1
	for _, d := range in[1].ints() {
		if d == batch {
			d = 1
		}
		if d < 1 || n > 1<<20/d {
			return nil, true, fmt.Errorf("its size is %v; at most %d elements are allowed", in[1].ints(), 1<<20)
		}
		n *= d
		to.dims = append(to.dims, d)
	}
	to.data = make([]float64, n)
	out, err := in[0].with(to, func(x, _ float64) float64 { return x })
	return out, true, err
}

// foldRange counts.
func foldRange(_ attributes, in []*constant) (*constant, bool, error) {
	if len(in) != 3 || !in[0].scalar() || !in[1].scalar() || !in[2].scalar() {
		return nil, false, nil
	}
	from, to := in[0].data[0], in[1].data[0]
	by := in[2].data[0]
	n := math.Ceil((to - from) / by)
	if !(n >= 0 && n <= 1<<20) || to == batch {
		return nil, true, fmt.Errorf("it counts from %v to %v by %v; at most %d numbers are allowed, and none of them for each row", from, to, by, 1<<20)
	}
	out := &constant{dims: []int{int(n)}}
	for i := range int(n) {
		out.data = append(out.data, from+float64(i)*by)
	}
	return out, true, nil
}

// foldTrilu keeps the upper or the lower triangle of matrices.
func foldTrilu(a attributes, in []*constant) (*constant, bool, error) {
	k := 0
	if len(in) > 1 && in[1].scalar() {
		k = in[1].ints()[0]
	}
	if len(in) == 0 || len(in[0].dims) < 2 {
		return nil, false, nil
	}
	dims := in[0].dims
	columns, rows := dims[len(dims)-1], dims[len(dims)-2]
	out := &constant{dims: dims, data: slices.Clone(in[0].data)}
	upper := a.int("upper", 1) != 0
	for i := range out.data {
		column, row := i%columns, i/columns%rows
		if upper && column-row < k || !upper && column-row > k {
			out.data[i] = 0
		}
	}
	return out, true, nil
}

// foldReduceSum adds up all numbers of a list, or those of some dimensions.
func foldReduceSum(a attributes, in []*constant) (*constant, bool, error) {
	if len(in) != 1 || len(in[0].dims) != 1 || a.n.Attribute("axes") != nil {
		return nil, false, nil
	}
	sum := 0.0
	for _, x := range in[0].data {
		sum += x
	}
	out := &constant{data: []float64{sum}}
	if a.int("keepdims", 1) != 0 {
		out.dims = []int{1}
	}
	return out, true, nil
}
