package importer

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"utvi/internal/expr"
	"utvi/nn"
)

// A value is a tensor of the graph: a constant, or the output of a layer in the layout that the
// graph has it in. An elementwise function of a layer's output stays text until another layer
// needs its result, so that a group of elementwise nodes becomes one function.
type value struct {
	constant *constant

	layer *layer // what made it
	at    layout // where its elements lie among the units of the layer

	text   string // the function; empty: the output of the layer itself
	truth  bool   // the function is 0 or 1
	params []expr.Param

	stat *statistic // of a layer normalisation that is spelt out

	zeros *sides // around an image that Pad made larger
	bare  *value // the image itself
}

// A layer is a layer with its trained numbers, in the order of its tensors, and what it reads.
type layer struct {
	nn.Layer
	tensors [][]float64
	from    []*value          // in settled form; nil of an input of the graph
	shape   nn.Shape          // of its output
	node    string            // the name of the node, or of the input
	named   int               // how many parameters functions of its output have
	made    map[string]*layer // the functions of its output that were needed
	inside  []*layer          // the layers of a residual: of the branch, of the skip
	used    bool              // another layer reads it
}

func (l *layer) input() bool { return l.Layer == nil }

func newLayer(l nn.Layer, shape nn.Shape, node string, from []*value, tensors ...[]float64) *layer {
	return &layer{Layer: l, tensors: tensors, from: from, shape: shape, node: node}
}

// inputOf is an input of the graph.
func inputOf(name string, shape nn.Shape, at layout) *value {
	return &value{layer: &layer{shape: shape, node: name}, at: at}
}

// named are the dimensions as a reader of the graph knows them.
func (v *value) named() string {
	text := make([]string, len(v.at))
	for i, d := range v.at.dims() {
		text[i] = strconv.Itoa(d)
		if d%batch == 0 && d > 0 {
			text[i] = "rows"
			if d > batch {
				text[i] = fmt.Sprintf("rows×%d", d/batch)
			}
		}
	}
	return "[" + strings.Join(text, " ") + "]"
}

// row are the dimensions behind those of the rows, where these come first; else all.
func (v *value) row() []int {
	if v.at.rowsFirst() {
		return v.at.dims()[1:]
	}
	return v.at.dims()
}

// flatRow reports whether the row of v is one dimension in the graph.
func (v *value) flatRow() bool { return v.at.rowsFirst() && len(v.at) == 2 }

// plainFlat reports a row whose elements have the order of the units, or that is not flat.
func (v *value) plainFlat() bool { return !v.flatRow() || v.at.equal(plain(v.row())) }

// first reports whether v is an image or a line whose channels come first in the graph and last
// here.
func (v *value) first() bool {
	if !v.at.rowsFirst() || len(v.at) < 3 || len(v.at) > 4 {
		return false
	}
	dims := v.row()
	return v.layer.shape == channelsFirst(dims) && v.at.equal(firstLayout(dims))
}

// after is the output of a layer on v, with the channels first or in the order of the units.
func (v *value) after(l nn.Layer, shape nn.Shape, dims []int, first bool, tensors ...[]float64) *value {
	at := plain(dims)
	if first {
		at = firstLayout(dims)
	}
	return v.then(l, shape, at, tensors...)
}

// then is the output of a layer on v in some layout.
func (v *value) then(l nn.Layer, shape nn.Shape, at layout, tensors ...[]float64) *value {
	return joined(l, shape, at, []*value{v}, tensors...)
}

// joined is the output of a layer that reads some values.
func joined(l nn.Layer, shape nn.Shape, at layout, from []*value, tensors ...[]float64) *value {
	for _, v := range from {
		v.layer.used = true
	}
	return &value{layer: newLayer(l, shape, "", from, tensors...), at: at}
}

// same is the output of a layer on v that keeps its shape.
func (v *value) same(l nn.Layer, tensors ...[]float64) *value {
	return v.then(l, v.layer.shape, v.at, tensors...)
}

// withSide is the output of a layer on v that gives one side another length; the dimension that was
// this side has the new one.
func (v *value) withSide(l nn.Layer, dim, side, n int, tensors ...[]float64) *value {
	s := v.layer.shape
	inner := [3]int{s.W * s.C, s.C, 1}[side]
	lengths := [3]int{s.H, s.W, s.C}
	old := lengths[side]
	lengths[side] = n
	at := make(layout, len(v.at))
	for i, a := range v.at {
		for _, f := range a {
			if f.step >= inner*old && f.n > 1 && f.step != ofRows {
				f.step = f.step / old * n
			}
			at[i] = append(at[i], f)
		}
	}
	at[dim] = axis{{n, inner}}
	return v.then(l, nn.Shape{H: lengths[0], W: lengths[1], C: lengths[2]}, at.tidy(), tensors...)
}

// maxText bounds the text of a formula.
const maxText = 4000

// of is the elementwise function text of v, with x for v. A number, a variable and a call
// need no parentheses.
func (v *value) of(text func(x string) string) (*value, error) {
	if v.stat != nil || v.constant != nil || v.layer == nil {
		u, err := v.settle()
		if err != nil {
			return nil, err
		}
		v = u
	}
	w := &value{layer: v.layer, at: v.at, text: text(v.expression()), params: v.params}
	if len(w.text) > maxText {
		return nil, fmt.Errorf("the elementwise operators before it make a formula of more than %d characters", maxText)
	}
	return w, nil
}

// alike reports whether two values are functions of one layer's output in one layout.
func (v *value) alike(w *value) bool {
	return v.layer != nil && v.layer == w.layer && v.stat == nil && w.stat == nil && v.at.equal(w.at)
}

// both is an elementwise function of two values that are alike.
func (v *value) both(w *value, text func(x, y string) string) (*value, error) {
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

func (v *value) expression() string {
	if v.text == "" {
		return "x"
	}
	return v.text
}
