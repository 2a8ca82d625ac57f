package importer

import (
	"math"
	"strconv"
	"strings"

	"utvi/fn"
	"utvi/internal/expr"
	"utvi/moment"
	"utvi/nn"
)

// settle is v as the output of a layer: always the same one.
func (v *value) settle() (*value, error) {
	if v.stat != nil {
		return v.stat.settle()
	}
	if v.text == "" {
		return v, nil
	}
	made := v.layer.made[v.text]
	if made == nil {
		from := &value{layer: v.layer, at: v.at}
		u, err := from.elementwise(v.text, v.params)
		if err != nil {
			return nil, err
		}
		made = u.layer
		if v.layer.made == nil {
			v.layer.made = map[string]*layer{}
		}
		v.layer.made[v.text] = made
	}
	return &value{layer: made, at: v.at}, nil
}

// elementwise is the function as a layer on v; v itself if it is x.
func (v *value) elementwise(text string, params []expr.Param) (*value, error) {
	if at, ok := offsets(text, params, v.layer.shape); ok {
		return v.same(nn.Positions{Fixed: true}, at), nil
	}
	l, err := elementwise(text, params, v.layer.shape)
	if err != nil || l == nil {
		return v, err
	}
	return v.same(l), nil
}

// offsets are the numbers that a function adds, one a unit, if it does nothing else and they differ
// between the places of a channel.
func offsets(text string, params []expr.Param, shape nn.Shape) ([]float64, bool) {
	if len(params) == 0 || shape.H*shape.W == 1 {
		return nil, false
	}
	f, err := fn.Formula(bare(text), params...)
	if err != nil {
		return nil, false
	}
	e := f.Expr()
	if !straight(e) {
		return nil, false
	}
	at := make([]float64, shape.Size())
	p, y := make([]float64, len(e.Inputs)), [2]float64{}
	differ := false
	for i := range at {
		for j, in := range e.Inputs {
			p[j] = in.Start(i)
		}
		e.Pair.At(0, p, y[:])
		if y[1] != 1 {
			return nil, false
		}
		at[i] = y[0]
		differ = differ || i >= shape.C && at[i] != at[i-shape.C]
	}
	return at, differ
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
