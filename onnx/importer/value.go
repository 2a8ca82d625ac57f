package importer

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"utvi/fn"
	"utvi/internal/expr"
	"utvi/moment"
	"utvi/nn"
)

// A value is a tensor of the graph: a constant, or the output of a layer. An elementwise
// function of a layer's output stays text until another layer needs its result, so that
// a group of elementwise nodes becomes one function.
type value struct {
	constant *constant

	input bool
	prev  *value // the layer's input
	layer *layer
	shape nn.Shape
	dims  []int // of a row in the graph
	first bool  // more than one dimension, the channels first; else they are last
	order []int // of a flat image: order[i] is where unit i of the graph is here; nil: the same

	base   *value // of an elementwise function: what x is
	text   string // the function
	truth  bool   // the function is 0 or 1
	params []expr.Param
	named  int    // of a base: how many parameters its functions have
	made   *value // the function as a layer, once it was needed

	stat *statistic // of a layer normalisation that is spelt out

	zeros *sides // around an image that Pad made larger
	bare  *value // the image itself
}

// A layer is a layer with its trained numbers, in the order of its tensors.
type layer struct {
	nn.Layer
	tensors [][]float64
	inside  []*layer // the layers of a residual: of the branch, of the skip
	// branched layers are on a road of a residual. No layer can be on two: its weights would
	// be there twice.
	branched bool
}

// after is the output of a layer on v.
func (v *value) after(l nn.Layer, shape nn.Shape, dims []int, first bool, tensors ...[]float64) *value {
	return &value{prev: v, layer: &layer{Layer: l, tensors: tensors}, shape: shape, dims: dims, first: first}
}

// same is the output of a layer on v that keeps its shape.
func (v *value) same(l nn.Layer, tensors ...[]float64) *value {
	w := v.after(l, v.shape, v.dims, v.first, tensors...)
	w.order = v.order
	return w
}

// maxText bounds the text of a formula.
const maxText = 2000

// of is the elementwise function text of v, with x for v. A number, a variable and a call
// need no parentheses.
func (v *value) of(text func(x string) string) (*value, error) {
	b, t := v, "x"
	if v.base != nil {
		b, t = v.base, v.text
	}
	w := &value{base: b, text: text(t), params: v.params, shape: b.shape, dims: b.dims, first: b.first, order: b.order}
	if len(w.text) > maxText {
		return nil, fmt.Errorf("the elementwise operators before it make a formula of more than %d characters", maxText)
	}
	return w, nil
}

// both is an elementwise function of two values of the same base.
func (v *value) both(w *value, text func(x, y string) string) (*value, error) {
	b, c := v.origin(), w.origin()
	if b != c {
		return nil, fmt.Errorf("its inputs come from different layers; only functions of one tensor, and a residual x + f(x), can be taken")
	}
	y := w.expression()
	u, err := v.of(func(x string) string { return text(x, y) })
	if err == nil {
		u.params = slices.Clone(v.params)
		for _, p := range w.params {
			if !slices.ContainsFunc(u.params, func(q expr.Param) bool { return q.Name == p.Name }) {
				u.params = append(u.params, p)
			}
		}
	}
	return u, err
}

func (v *value) origin() *value {
	if v.base != nil {
		return v.base
	}
	return v
}

func (v *value) expression() string {
	if v.base != nil {
		return v.text
	}
	return "x"
}

// settle is v as the output of a layer: always the same one.
func (v *value) settle() (*value, error) {
	if v.stat != nil {
		return nil, v.stat.wrong()
	}
	if v.base == nil {
		return v, nil
	}
	if v.made == nil {
		l, err := elementwise(v.text, v.params, v.base.shape)
		if err != nil {
			return nil, err
		}
		v.made = v.base
		if l != nil {
			v.made = v.base.same(l)
		}
	}
	return v.made, nil
}

// elementwise is the layer of a function: nil for x itself, a BatchNorm if it is a straight
// line, a named function where it has the values of one.
func elementwise(text string, params []expr.Param, shape nn.Shape) (nn.Layer, error) {
	f, err := fn.Formula(bare(text), params...)
	if err != nil {
		return nil, err
	}
	if e := f.Expr(); straight(e) {
		if l, ok := line(e, shape); ok {
			return l, nil
		}
	}
	if len(params) == 0 {
		if g := named(f); g != nil {
			f = g
		}
	}
	return nn.Apply{F: f}, nil
}

// bare takes off the parentheses around a formula.
func bare(text string) string {
	if !strings.HasPrefix(text, "(") {
		return text
	}
	depth := 0
	for i, r := range text {
		switch r {
		case '(':
			depth++
		case ')':
			depth--
		}
		if depth == 0 {
			if i == len(text)-1 {
				return text[1:i]
			}
			break
		}
	}
	return text
}

// straight reports a formula whose slope does not depend on x.
func straight(f *expr.Formula) bool {
	yes := len(f.Switches) == 0
	f.Slope.Walk(func(e *expr.Expr) { yes = yes && e.Op() != expr.X })
	return yes
}

// line is a straight line as a layer, nil if it is x itself. ok is false if the line
// differs from place to place of an image.
func line(f *expr.Formula, shape nn.Shape) (l nn.Layer, ok bool) {
	slope, offset := make([]float64, shape.C), make([]float64, shape.C)
	plain := true
	p, y := make([]float64, len(f.Inputs)), [2]float64{}
	for i := range shape.Size() {
		for j, in := range f.Inputs {
			p[j] = in.Start(i)
		}
		f.Pair.At(0, p, y[:])
		c := i % shape.C
		if i >= shape.C && (slope[c] != y[1] || offset[c] != y[0]) {
			return nil, false
		}
		slope[c], offset[c] = y[1], y[0]
		plain = plain && y == [2]float64{0, 1}
	}
	if plain {
		return nil, true
	}
	return affine(slope, offset), true
}

// named returns the named function that has the values of f: graphs spell out functions
// such as GELU, with constants rounded to float32.
func named(f *moment.Func) *moment.Func {
	if f.Formula == nil {
		return nil
	}
	for _, name := range fn.Names() {
		g, err := fn.Named(name)
		if err != nil {
			continue
		}
		if alike(f, g) {
			return g
		}
	}
	return nil
}

// alike compares near zero and as far as float32 reaches, because a graph may bound a
// function far from zero, such as clip(x, -10, 10). Far from zero, points where f is not a
// finite number, as a quotient of exponentials is, say nothing.
func alike(f, g *moment.Func) bool {
	same := func(x float64) bool {
		a, b := f.F(x), g.F(x)
		far := math.Abs(x) > 8 && (math.IsNaN(a) || math.IsInf(a, 0))
		return far || a == b || math.Abs(a-b) <= 2e-7*(1+math.Abs(b))
	}
	for x := -8.0; x <= 8; x += 0.37 {
		if !same(x) {
			return false
		}
	}
	for x := 1e-6; x <= math.MaxFloat32; x *= 1.3 {
		if !same(x) || !same(-x) {
			return false
		}
	}
	return true
}

// affine is x·slope + offset for each channel.
func affine(slope, offset []float64) nn.BatchNorm {
	n := len(slope)
	return nn.BatchNorm{Mean: make([]float64, n), Var: repeat(1, n), Gain: slope, Offset: offset, Eps: 1e-30}
}

func repeat(x float64, n int) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = x
	}
	return v
}

// decimal writes a number for a formula: as short as float32 allows.
func decimal(v float64) string {
	bits := 64
	if float64(float32(v)) == v {
		bits = 32
	}
	s := strconv.FormatFloat(v, 'g', -1, bits)
	if v < 0 || math.Signbit(v) {
		return "(" + s + ")"
	}
	return s
}
