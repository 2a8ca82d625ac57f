package importer

import (
	"fmt"

	"utvi/internal/advice"
	"utvi/internal/onnx"
	"utvi/nn"
)

// mostInputs bounds the numbers of a row.
const mostInputs = 1 << 24

// inputValue is an input of the graph. The first dimension is that of the rows.
func inputValue(v *onnx.Value, given []int, order channelOrder) (*value, error) {
	if !numbers(v) {
		return nil, fmt.Errorf("it does not hold numbers with fractions")
	}
	size, err := rowSize(v, given)
	if err != nil {
		return nil, err
	}
	if len(size) == 0 || len(size) > 3 {
		return nil, fmt.Errorf("it has %d dimensions; it needs rows and features, rows, channels and a line, or rows, channels, height and width", len(size)+1)
	}
	total := 1
	for _, d := range size {
		if d < 1 {
			return nil, advice.Errorf("its size is %v, with 0 where the graph leaves it open; for rows of 3 × 32 × 32, %v", size, advice.Set("Input", "3,32,32"))
		}
		if d > mostInputs/total {
			return nil, fmt.Errorf("its size is %v; a row may have at most %d numbers", size, mostInputs)
		}
		total *= d
	}
	if order == channelsBehind {
		return inputOf(v.Name, channelsLast(size), plain(size)), nil
	}
	return inputOf(v.Name, channelsFirst(size), firstLayout(size)), nil
}

// state is an input of layers × rows × units, as the state of a recurrent layer; nil of any other. The name
// of its second dimension is that of the rows of another input; or, in a graph for one row, both are 1.
func (r *reader) state(g *onnx.Graph, v *onnx.Value) *value {
	s := v.Shape
	if len(s) != 3 || s[0].Size < 1 || s[2].Size < 1 || s[0].Size > mostInputs/s[2].Size || !numbers(v) {
		return nil
	}
	for i := range g.Inputs {
		w := &g.Inputs[i]
		known := r.values[w.Name]
		if w.Name == v.Name || known != nil && known.constant != nil || len(w.Shape) < 2 || !r.used[w.Name] {
			continue // itself, or a weight, which old files list among the inputs
		}
		rows := w.Shape[0]
		named := rows.Name != "" && rows.Size < 1 && rows.Name == s[1].Name
		if named || rows.Size == 1 && s[1].Size == 1 && s[0].Size > 1 {
			layers := int(s[0].Size)
			units := int(s[2].Size)
			at := layout{{{layers, units}}, rowsAxis(), {{units, 1}}}
			return inputOf(v.Name, nn.Shape{H: 1, W: layers, C: units}, at.tidy())
		}
	}
	return nil
}

// numbers reports whether an input holds numbers with fractions.
func numbers(v *onnx.Value) bool {
	return v.Elem == onnx.Float || v.Elem == onnx.Double || v.Elem == onnx.Float16
}

// rowSize is the size of a row, as the graph or the user gives it; both must agree.
func rowSize(v *onnx.Value, given []int) ([]int, error) {
	var size []int
	for _, d := range v.Shape[min(1, len(v.Shape)):] {
		size = append(size, int(d.Size))
	}
	if given == nil {
		return size, nil
	}
	if len(size) > 0 && len(size) != len(given) {
		return nil, fmt.Errorf("the size %v is given, but the graph has %d dimensions besides the rows", given, len(size))
	}
	for i, d := range size {
		if d > 0 && d != given[i] {
			return nil, fmt.Errorf("the size %v is given, but the graph has %v", given, size)
		}
	}
	return given, nil
}

// A channelOrder says where the channels of an input are, those of an image or the features of a
// series.
type channelOrder int

const (
	channelsInFront channelOrder = iota
	channelsBehind
)

// tokenwise are operators that read a line as tokens with features behind.
var tokenwise = map[string]bool{"MatMul": true, "LSTM": true, "GRU": true, "RNN": true, "LayerNormalization": true}

// orderOf tells where the channels of an input are: as a graph of this module says, or by what the
// graph does with them.
func (r *reader) orderOf(g *onnx.Graph, input *onnx.Value) channelOrder {
	if r.known != nil {
		for _, p := range r.known.Inputs {
			switch {
			case p.Name == input.Name && p.First:
				return channelsInFront
			case p.Name == input.Name:
				return channelsBehind
			}
		}
	}
	return orderIn(g, input.Name, len(input.Shape))
}

// orderIn tells the order by what a graph does: it moves channels from the back to the front, or
// reads a line as tokens.
func orderIn(g *onnx.Graph, input string, dimensions int) channelOrder {
	like := map[string]bool{input: true}
	for _, n := range g.Nodes {
		for at, in := range n.Inputs {
			if !like[in] || len(n.Outputs) == 0 {
				continue
			}
			perm := attributes{n}.ints("perm", nil)
			k := len(perm)
			switch {
			case n.Op == "Transpose" && k > 2 && perm[0] == 0 && perm[1] == k-1:
				return channelsBehind
			case n.Op == "Transpose" && k == 3 && perm[0] == 1 && perm[1] == 0:
				return channelsBehind // times or tokens come first, then the rows
			case dimensions == 3 && tokenwise[n.Op] && at == 0:
				return channelsBehind
			}
			if operators[n.Op].elementwise {
				like[n.Outputs[0]] = true
			}
		}
	}
	return channelsInFront
}

// channelsFirst is the shape of dimensions without rows.
func channelsFirst(size []int) nn.Shape {
	switch len(size) {
	case 1:
		return nn.Vec(size[0])
	case 2:
		return nn.Shape{H: 1, W: size[1], C: size[0]}
	}
	return nn.Shape{H: size[1], W: size[2], C: size[0]}
}

// channelsLast is the same for dimensions with the channels last.
func channelsLast(size []int) nn.Shape {
	switch len(size) {
	case 1:
		return nn.Vec(size[0])
	case 2:
		return nn.Shape{H: 1, W: size[0], C: size[1]}
	}
	return nn.Shape{H: size[0], W: size[1], C: size[2]}
}
