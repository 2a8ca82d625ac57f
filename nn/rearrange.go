package nn

import (
	"errors"
	"fmt"

	"utvi/gauss"
)

// An Axis is a side of a Shape. The empty Axis stands for the channels.
type Axis string

// The sides of a shape.
const (
	Height   Axis = "height"
	Width    Axis = "width"
	Channels Axis = "channels"
)

// side is the number of the axis, in the order in which units are stored.
func (a Axis) side() (int, error) {
	switch a {
	case Height:
		return 0, nil
	case Width:
		return 1, nil
	case Channels, "":
		return 2, nil
	}
	return 0, fmt.Errorf("the axis is %q; it must be %q, %q or %q", string(a), Height, Width, Channels)
}

func (s Shape) sides() [3]int { return [3]int{s.H, s.W, s.C} }

func shapeOf(sides [3]int) Shape { return Shape{sides[0], sides[1], sides[2]} }

// Concat lays the signals that a step of a Graph reads one behind the other along an axis; the
// other sides must be the same. Moments are copied, so that nothing is assumed.
type Concat struct {
	Axis Axis `json:"axis,omitempty"` // empty: the channels
}

// Kind is "concat", as model files and the names of parameters have it.
func (Concat) Kind() string { return "concat" }

// Bind32 checks that the shapes meet; it declares nothing.
func (l Concat) Bind32(b *Binder[float32]) (Unit[float32], error) { return bindConcat(l, b) }

// Bind64 is Bind32 in float64, in which gradients are checked.
func (l Concat) Bind64(b *Binder[float64]) (Unit[float64], error) { return bindConcat(l, b) }

func bindConcat[T gauss.Float](l Concat, b *Binder[T]) (Unit[T], error) {
	axis, err := l.Axis.side()
	if err != nil {
		return nil, err
	}
	parts, err := partsOf(b, "a concatenation")
	if err != nil {
		return nil, err
	}
	out := parts[0].shape.sides()
	out[axis] = 0
	for _, p := range parts {
		sides := p.shape.sides()
		out[axis] += sides[axis]
		sides[axis] = out[axis]
		if sides != out {
			return nil, fmt.Errorf("the shapes of %s do not meet; they may differ in one side only, the axis along which they are laid", list(b))
		}
	}
	source := make([]int, 0, shapeOf(out).Size())
	shape := shapeOf(out)
	for i := range shape.Size() {
		at := [3]int{i / (shape.W * shape.C), i / shape.C % shape.W, i % shape.C}
		k := 0
		for at[axis] >= parts[k].shape.sides()[axis] {
			at[axis] -= parts[k].shape.sides()[axis]
			k++
		}
		p := parts[k]
		source = append(source, p.at+(at[0]*p.shape.W+at[1])*p.shape.C+at[2])
	}
	return newMoved(b, shape, source), nil
}

// Slice keeps the units From ≤ i < To along an axis.
type Slice struct {
	Axis Axis `json:"axis,omitempty"` // empty: the channels
	From int  `json:"from,omitempty"`
	To   int  `json:"to"`
}

// Kind is "slice", as model files and the names of parameters have it.
func (Slice) Kind() string { return "slice" }

// Bind32 checks that the slice lies within the axis; it declares nothing.
func (l Slice) Bind32(b *Binder[float32]) (Unit[float32], error) { return bindSlice(l, b) }

// Bind64 is Bind32 in float64, in which gradients are checked.
func (l Slice) Bind64(b *Binder[float64]) (Unit[float64], error) { return bindSlice(l, b) }

func bindSlice[T gauss.Float](l Slice, b *Binder[T]) (Unit[T], error) {
	axis, err := l.Axis.side()
	if err != nil {
		return nil, err
	}
	out := b.In.sides()
	if l.From < 0 || l.To <= l.From || l.To > out[axis] {
		return nil, fmt.Errorf("the slice goes from %d to %d; in the input %v it must lie within 0 and %d, and keep at least 1", l.From, l.To, b.In, out[axis])
	}
	out[axis] = l.To - l.From
	shape := shapeOf(out)
	source := make([]int, shape.Size())
	for i := range source {
		at := [3]int{i / (shape.W * shape.C), i / shape.C % shape.W, i % shape.C}
		at[axis] += l.From
		source[i] = (at[0]*b.In.W+at[1])*b.In.C + at[2]
	}
	return newMoved(b, shape, source), nil
}

// Transpose changes the order of height, width and channels: the sides of the output are the
// sides Order of the input. The empty Order exchanges width and channels.
type Transpose struct {
	Order [3]Axis `json:"order,omitzero"`
}

// Kind is "transpose", as model files and the names of parameters have it.
func (Transpose) Kind() string { return "transpose" }

// Bind32 checks that the order names each side; it declares nothing.
func (l Transpose) Bind32(b *Binder[float32]) (Unit[float32], error) { return bindTurned(l, b) }

// Bind64 is Bind32 in float64, in which gradients are checked.
func (l Transpose) Bind64(b *Binder[float64]) (Unit[float64], error) { return bindTurned(l, b) }

func bindTurned[T gauss.Float](l Transpose, b *Binder[T]) (Unit[T], error) {
	order := l.Order
	if order == ([3]Axis{}) {
		order = [3]Axis{Height, Channels, Width}
	}
	in := b.In.sides()
	strides := [3]int{b.In.W * b.In.C, b.In.C, 1}
	var out, by [3]int
	seen := [3]bool{}
	for i, a := range order {
		side, err := a.side()
		if err != nil {
			return nil, err
		}
		if seen[side] {
			return nil, fmt.Errorf("the order %q names a side twice; it must name height, width and channels once each", order)
		}
		seen[side] = true
		out[i] = in[side]
		by[i] = strides[side]
	}
	source := make([]int, b.In.Size())
	for i := range source {
		source[i] = i/(out[1]*out[2])*by[0] + i/out[2]%out[1]*by[1] + i%out[2]*by[2]
	}
	return newMoved(b, shapeOf(out), source), nil
}

// Reshape gives the units, in their order, another shape of the same size. A side of 0 is what is
// left for it; at most one may be 0.
type Reshape struct {
	H int `json:"h"`
	W int `json:"w"`
	C int `json:"c"`
}

// Kind is "reshape", as model files and the names of parameters have it.
func (Reshape) Kind() string { return "reshape" }

// Bind32 checks that the sizes are the same; it declares nothing.
func (l Reshape) Bind32(b *Binder[float32]) (Unit[float32], error) { return bindReshape(l, b) }

// Bind64 is Bind32 in float64, in which gradients are checked.
func (l Reshape) Bind64(b *Binder[float64]) (Unit[float64], error) { return bindReshape(l, b) }

func bindReshape[T gauss.Float](l Reshape, b *Binder[T]) (Unit[T], error) {
	sides := [3]int{l.H, l.W, l.C}
	known, open := 1, -1
	for i, n := range sides {
		switch {
		case n < 0:
			return nil, fmt.Errorf("the shape is %d×%d×%d; no side may be negative", l.H, l.W, l.C)
		case n == 0 && open >= 0:
			return nil, errors.New("two sides are 0; at most one can be what is left")
		case n == 0:
			open = i
		case n > b.In.Size()/known:
			return nil, fmt.Errorf("the shape %d×%d×%d needs more units than the %d of the input %v", l.H, l.W, l.C, b.In.Size(), b.In)
		default:
			known *= n
		}
	}
	if open >= 0 {
		sides[open] = b.In.Size() / known
	}
	shape := shapeOf(sides)
	if shape.Size() != b.In.Size() {
		return nil, fmt.Errorf("the shape %d×%d×%d does not fit the %d units of the input %v", l.H, l.W, l.C, b.In.Size(), b.In)
	}
	return newMoved(b, shape, nil), nil
}
