package importer

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"utvi/fn"
	"utvi/internal/codec"
	"utvi/internal/safetensors"
	"utvi/internal/strictjson"
	"utvi/model"
	"utvi/nn"
	"utvi/vi"
)

// A description says which layers the tensors of a state_dict belong to. A layer has the
// form of model files, and with weights also "from", the prefix of its tensors; without,
// that is its number, as in torch.nn.Sequential. Sizes of rows have the channels first.
//
//	{"input": [3, 32, 32], "layers": [
//	  {"kind": "conv2d", "out": 8, "kernel": [3, 3], "padding": "same", "from": "conv1"},
//	  {"kind": "apply", "f": "relu"}, {"kind": "flatten"}, {"kind": "dense", "out": 10, "from": "fc"}]}
//
// {"kind": "residual", "layers": […], "skip": […]} adds the layers of its two lists; without
// a "skip", it adds the input itself.
type description struct {
	Input  []int             `json:"input"`
	Layers []json.RawMessage `json:"layers"`
}

// LoadStateDict makes a network from the tensors of a PyTorch model, saved as safetensors,
// and a description of its layers as JSON.
func LoadStateDict(path, layers string, o Options) (*model.Model, error) {
	f, err := safetensors.ReadFile(path)
	if err != nil {
		return nil, err
	}
	text, err := read(layers)
	if err != nil {
		return nil, err
	}
	n, err := stateDict(f, text, o)
	if err != nil {
		return nil, fmt.Errorf("cannot import %s with the layers of %s: %w", path, layers, err)
	}
	return n, nil
}

func stateDict(f *safetensors.File, text []byte, o Options) (*model.Model, error) {
	var d description
	if err := strictjson.Unmarshal(text, &d); err != nil {
		return nil, err
	}
	dims := d.Input
	if o.Input != nil {
		dims = o.Input
	}
	total := 1
	for _, n := range dims {
		if n < 1 || n > 1<<24/total {
			return nil, fmt.Errorf("the input is %v; its sizes must be at least 1", dims)
		}
		total *= n
	}
	if len(dims) < 1 || len(dims) > 3 {
		return nil, fmt.Errorf("the input is %v; it is features, channels and a line, or channels, height and width", dims)
	}
	s := &states{tensors: map[string]*safetensors.Tensor{}}
	for i := range f.Tensors {
		if t := &f.Tensors[i]; !strings.HasSuffix(t.Name, "num_batches_tracked") {
			s.tensors[t.Name] = t
		}
	}
	in := inputOf("input", channelsFirst(dims), firstLayout(dims))
	v, err := s.chain(in, d.Layers)
	if err != nil {
		return nil, err
	}
	var left []string
	for name := range s.tensors {
		left = append(left, name)
	}
	if len(left) > 0 {
		slices.Sort(left)
		return nil, fmt.Errorf("no layer takes the tensor %.60q", left[0])
	}
	if !v.plainFlat() {
		return nil, errors.New("the output is an image made flat; let the layers end before that")
	}
	return assemble([]*value{v}, []*value{in}, o)
}

// states are the tensors that no layer has taken yet.
type states struct {
	tensors map[string]*safetensors.Tensor
}

// take returns a tensor, nil if it is optional and missing.
func (s *states) take(name string, optional bool) (*constant, error) {
	t := s.tensors[name]
	switch {
	case t == nil && optional:
		return nil, nil
	case t == nil:
		return nil, fmt.Errorf("the file has no tensor %.60q", name)
	}
	delete(s.tensors, name)
	k := &constant{dims: t.Shape, data: t.F64}
	for _, x := range t.F32 {
		k.data = append(k.data, float64(x))
	}
	if len(k.data) != size(t.Shape) {
		return nil, fmt.Errorf("the tensor %.60q does not hold numbers with fractions", name)
	}
	return k, nil
}

func (s *states) chain(v *value, layers []json.RawMessage) (*value, error) {
	if len(layers) == 0 {
		return nil, errors.New("no layers are described")
	}
	for i, text := range layers {
		next, err := s.layer(v, i, text)
		if err != nil {
			return nil, fmt.Errorf("layer %d: %w", i, err)
		}
		v = next
	}
	return v, nil
}

// A described layer is one of a description.
type described struct {
	kind   string
	from   string // the prefix of its tensors
	fields map[string]json.RawMessage
}

// parseLayer reads the i-th layer of a list.
func parseLayer(i int, text json.RawMessage) (*described, error) {
	d := &described{from: strconv.Itoa(i)}
	if err := json.Unmarshal(text, &d.fields); err != nil {
		return nil, errors.New(`it must be an object, as in {"kind": "dense", "out": 10}`)
	}
	if err := json.Unmarshal(d.fields["kind"], &d.kind); err != nil {
		return nil, errors.New(`it has no "kind"`)
	}
	if at, ok := d.fields["from"]; ok {
		if err := json.Unmarshal(at, &d.from); err != nil {
			return nil, errors.New(`"from" must be text`)
		}
		delete(d.fields, "from")
	}
	return d, nil
}

// layer is the output of a layer on v.
func (s *states) layer(v *value, i int, text json.RawMessage) (*value, error) {
	d, err := parseLayer(i, text)
	if err != nil {
		return nil, err
	}
	switch {
	case d.kind == "residual":
		return s.residual(v, d.fields)
	case d.kind == "batchnorm":
		return s.batchNorm(v, d.from, d.fields)
	case d.kind == "dropout":
		return v, nil
	case d.kind == "apply" && d.fields["rule"] == nil && d.fields["f"] != nil:
		return v.apply(d.fields["f"])
	}
	rest, err := json.Marshal(d.fields)
	if err != nil {
		return nil, err
	}
	l, err := codec.Unmarshal(rest, codec.Library{})
	if err != nil {
		return nil, err
	}
	switch l := l.(type) {
	case nn.Dense:
		return s.dense(v, d.from, l)
	case nn.Conv1D:
		return s.conv(v, d.from, l.Flat())
	case nn.Conv2D:
		return s.conv(v, d.from, l)
	case nn.LayerNorm:
		return s.layerNorm(v, d.from, l)
	case nn.Flatten:
		w, err := v.sized([]int{batch, v.layer.shape.Size()})
		if err != nil {
			return nil, err
		}
		return w.flat(), nil
	}
	return v.plain(l)
}

// apply is a named function of v.
func (v *value) apply(text json.RawMessage) (*value, error) {
	var name string
	if err := json.Unmarshal(text, &name); err != nil {
		return nil, errors.New(`"f" must be the name of a function`)
	}
	f, err := fn.Named(name)
	if err != nil {
		return nil, err
	}
	return v.same(nn.Apply{F: f}), nil
}

// plain is the output of a layer without weights.
func (v *value) plain(l nn.Layer) (*value, error) {
	out, err := outOf(l, v.layer.shape)
	if err != nil {
		return nil, err
	}
	if out == v.layer.shape {
		return v.same(l), nil
	}
	return v.after(l, out, v.rowDims(out), v.first()), nil
}

// residual is x + f(x), or s(x) + f(x) with the layers s of "skip".
func (s *states) residual(v *value, fields map[string]json.RawMessage) (*value, error) {
	roads := [2]*value{v, v}
	for i, name := range []string{"layers", "skip"} {
		text, ok := fields[name]
		delete(fields, name)
		if !ok && name == "skip" {
			continue
		}
		var inner []json.RawMessage
		if err := json.Unmarshal(text, &inner); err != nil {
			return nil, fmt.Errorf("the %q of a residual must be a list of layers", name)
		}
		var err error
		roads[i], err = s.chain(v, inner)
		if err != nil {
			return nil, fmt.Errorf("%s of the residual: %w", name, err)
		}
	}
	if delete(fields, "kind"); len(fields) > 0 {
		return nil, fmt.Errorf(`a residual has "layers" and "skip"; it has %s, too`, slices.Sorted(maps.Keys(fields))[0])
	}
	return (*call)(nil).meet("($x + $y)", roads[0], roads[1])
}

// outOf is the shape of a layer's output. The layer must have no weights.
func outOf(l nn.Layer, in nn.Shape) (nn.Shape, error) {
	b := &nn.Binder[float32]{Params: &vi.Params[float32]{}, In: in}
	u, err := nn.Bind(l, b)
	if err != nil {
		return nn.Shape{}, err
	}
	if len(b.Params.Tensors) > 0 {
		return nn.Shape{}, fmt.Errorf("a %s layer has parameters that PyTorch does not have", l.Kind())
	}
	return u.Out(), nil
}
