// Package codec writes layers as JSON, reads them back, and describes them in a line.
//
// A layer is an object that begins with its kind:
//
//	{"kind":"dense","out":128}
//	{"kind":"apply","f":"tanh","rule":"ut(2)"}
//	{"kind":"chain","layers":[…]}
//
// Functions, maps and rules are written by name: built-in ones under "f", "map" and "rule", a
// user's under "user_f", "user_map" and "user_rule", so that a later built-in one cannot take
// its place. A [Library] brings a user's when a layer is read.
package codec

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"utvi/internal/strictjson"
	"utvi/moment"
	"utvi/nn"
)

// kinds lists the codec of every layer. A layer whose fields are plain data is
// one line.
var kinds = map[string]codec{
	"append":          plain[nn.Append](),
	"apply":           via(encodeApply, decodeApply),
	"attention":       plain[nn.MultiHeadAttention](),
	"avgpool2d":       plain[nn.AvgPool2D](),
	"batchnorm":       plain[nn.BatchNorm](),
	"chain":           via(encodeChain, decodeChain),
	"concat":          plain[nn.Concat](),
	"conditional":     via(encodeConditional, decodeConditional),
	"conv1d":          plain[nn.Conv1D](),
	"conv2d":          plain[nn.Conv2D](),
	"convtranspose1d": plain[nn.ConvTranspose1D](),
	"convtranspose2d": plain[nn.ConvTranspose2D](),
	"correlated":      via(encodeCorrelated, decodeCorrelated),
	"dense":           plain[nn.Dense](),
	"dropout":         plain[nn.Dropout](),
	"embed":           plain[nn.Embed](),
	"flatten":         plain[nn.Flatten](),
	"graph":           via(encodeGraph, decodeGraph),
	"gru":             via(encodeGRU, decodeGRU),
	"globalavgpool":   plain[nn.GlobalAvgPool](),
	"globalmaxpool":   plain[nn.GlobalMaxPool](),
	"groupnorm":       plain[nn.GroupNorm](),
	"instancenorm":    plain[nn.InstanceNorm](),
	"joint":           via(encodeJoint, decodeJoint),
	"layernorm":       via(encodeLayerNorm, decodeLayerNorm),
	"lstm":            via(encodeLSTM, decodeLSTM),
	"matmul":          plain[nn.MatMul](),
	"maxpool2d":       plain[nn.MaxPool2D](),
	"multiply":        plain[nn.Multiply](),
	"noise":           plain[nn.Noise](),
	"pad2d":           plain[nn.Pad2D](),
	"periodic":        plain[nn.Periodic](),
	"perplace":        via(encodePerPlace, decodePerPlace),
	"piecewise":       plain[nn.Piecewise](),
	"positions":       plain[nn.Positions](),
	"product":         plain[nn.Product](),
	"reshape":         plain[nn.Reshape](),
	"residual":        via(encodeResidual, decodeResidual),
	"rnn":             via(encodeRNN, decodeRNN),
	"resize":          plain[nn.Resize](),
	"rmsnorm":         plain[nn.RMSNorm](),
	"scale":           plain[nn.Scale](),
	"slice":           plain[nn.Slice](),
	"softmax":         plain[nn.Softmax](),
	"stochastic":      via(encodeStochastic, decodeStochastic),
	"sum":             plain[nn.Sum](),
	"transpose":       plain[nn.Transpose](),
}

// A codec turns a layer into the options that JSON holds of it, and back.
type codec struct {
	encode func(c *coder, l nn.Layer) (any, error)
	decode func(c *coder, options []byte) (nn.Layer, error)
}

// plain is the codec of a layer that is its own options.
func plain[L nn.Layer]() codec {
	return via(
		func(_ *coder, l L) (L, error) { return l, nil },
		func(_ *coder, l L) (L, error) { return l, nil })
}

// via is the codec of a layer whose options are of type O.
func via[L nn.Layer, O any](encode func(*coder, L) (O, error), decode func(*coder, O) (L, error)) codec {
	return codec{
		func(c *coder, l nn.Layer) (any, error) {
			own, ok := l.(L)
			if !ok {
				return nil, fmt.Errorf("a layer of type %T has the kind %q, which belongs to %T", l, l.Kind(), own)
			}
			return encode(c, own)
		},
		func(c *coder, options []byte) (nn.Layer, error) {
			var o O
			if err := strictjson.Unmarshal(options, &o); err != nil {
				return nil, err
			}
			return decode(c, o)
		},
	}
}

// A coder is one encoding or decoding under way.
type coder struct {
	kinds map[string]codec // the list above, which its own functions cannot refer to
	lib   Library
	depth int
	rules map[string]moment.Rule // those made so far: quadrature nodes are costly

	prints   map[string]fingerprint  // of the program's own functions, by kind and name
	formulas map[string]*moment.Func // those read so far

	types map[string]reflect.Type // of the layers from outside, by kind

	noDefaults bool // leave out joint rules that are the default
}

func newCoder(lib Library) *coder {
	return &coder{kinds: kinds, lib: lib, rules: map[string]moment.Rule{},
		prints: map[string]fingerprint{}, formulas: map[string]*moment.Func{}, types: map[string]reflect.Type{}}
}

// maxDepth is how deep layers may hold layers.
const maxDepth = 32

// Marshal writes a layer as JSON. It refuses functions that Unmarshal could not find
// again.
func Marshal(l nn.Layer) ([]byte, error) { return newCoder(Library{}).encode(l) }

// Unmarshal reads JSON that Marshal wrote; lib holds the user's functions, maps, rules
// and layers. It checks the form only: nn.Bind checks whether the layer fits its input.
func Unmarshal(data []byte, lib Library) (nn.Layer, error) { return newCoder(lib).decode(data) }

func (c *coder) enter() error {
	if c.depth++; c.depth > maxDepth {
		return fmt.Errorf("layers are nested more than %d deep", maxDepth)
	}
	return nil
}

func (c *coder) encode(l nn.Layer) ([]byte, error) {
	if err := c.enter(); err != nil {
		return nil, err
	}
	defer func() { c.depth-- }()
	if l == nil {
		return nil, errors.New("a layer is nil")
	}
	encode := (*coder).encodeOutside
	if k, ok := c.kinds[l.Kind()]; ok {
		encode = k.encode
	}
	options, err := encode(c, l)
	if err != nil {
		return nil, err
	}
	body, err := json.Marshal(options)
	if err != nil {
		return nil, fmt.Errorf("a layer of kind %q cannot be saved: %w", l.Kind(), err)
	}
	b := fmt.Appendf(nil, `{"kind":%q`, l.Kind())
	if len(body) > 2 { // not {}
		b = append(b, ',')
	}
	return append(b, body[1:]...), nil
}

func (c *coder) decode(data []byte) (nn.Layer, error) {
	if err := c.enter(); err != nil {
		return nil, err
	}
	defer func() { c.depth-- }()
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(data, &fields); err != nil || fields == nil {
		return nil, errors.New("a layer is not a JSON object")
	}
	var kind string
	if err := json.Unmarshal(fields["kind"], &kind); err != nil {
		return nil, errors.New("a layer has no kind")
	}
	delete(fields, "kind")
	options, err := json.Marshal(fields)
	if err != nil {
		return nil, err
	}
	var l nn.Layer
	if k, ok := c.kinds[kind]; ok {
		l, err = k.decode(c, options)
	} else if like := c.lib.Layers[kind]; like != nil {
		l, err = c.decodeOutside(like, options)
	} else {
		return nil, fmt.Errorf("unknown layer kind %.40q; this version knows %s, and model.WithLayer adds others", kind, c.names())
	}
	if err != nil && kind != "chain" { // a chain names the layer itself
		err = fmt.Errorf("%s: %w", kind, err)
	}
	if err != nil {
		return nil, err
	}
	return l, nil
}

func (c *coder) names() string {
	return strings.Join(slices.Sorted(maps.Keys(c.kinds)), ", ")
}

type chainOptions struct {
	Layers []json.RawMessage `json:"layers"`
}

func encodeChain(c *coder, l nn.Chain) (o chainOptions, err error) {
	o.Layers, err = c.encodeAll(l)
	return o, err
}

func decodeChain(c *coder, o chainOptions) (nn.Chain, error) { return c.decodeAll(o.Layers) }

func encodeCorrelated(c *coder, l nn.Correlated) (chainOptions, error) {
	return encodeChain(c, l.Layers)
}

func decodeCorrelated(c *coder, o chainOptions) (nn.Correlated, error) {
	layers, err := c.decodeAll(o.Layers)
	return nn.Correlated{Layers: layers}, err
}

func (c *coder) encodeAll(layers []nn.Layer) (all []json.RawMessage, err error) {
	all = make([]json.RawMessage, len(layers))
	for i, l := range layers {
		all[i], err = c.encode(l)
		if err != nil {
			return nil, fmt.Errorf("layer %d: %w", i, err)
		}
	}
	return all, nil
}

func (c *coder) decodeAll(all []json.RawMessage) (layers []nn.Layer, err error) {
	layers = make([]nn.Layer, len(all))
	for i, raw := range all {
		layers[i], err = c.decode(raw)
		if err != nil {
			return nil, fmt.Errorf("layer %d: %w", i, err)
		}
	}
	return layers, nil
}

// residualOptions: a residual without a skip, as in older files, adds its input.
type residualOptions struct {
	Branch json.RawMessage `json:"branch"`
	Skip   json.RawMessage `json:"skip,omitempty"`
}

func encodeResidual(c *coder, l nn.Residual) (o residualOptions, err error) {
	o.Branch, err = c.encode(l.Branch)
	if err == nil && l.Skip != nil {
		o.Skip, err = c.encode(l.Skip)
	}
	return o, err
}

func decodeResidual(c *coder, o residualOptions) (l nn.Residual, err error) {
	l.Branch, err = c.decode(o.Branch)
	if err == nil && o.Skip != nil {
		l.Skip, err = c.decode(o.Skip)
	}
	return l, err
}

// layerNormOptions: files from before LayerNorm had a random mean do not name it.
type layerNormOptions struct {
	Eps        float64 `json:"eps,omitempty"`
	RandomMean bool    `json:"random_mean,omitempty"`
}

func encodeLayerNorm(_ *coder, l nn.LayerNorm) (layerNormOptions, error) {
	return layerNormOptions{l.Eps, !l.FixedMean}, nil
}

func decodeLayerNorm(_ *coder, o layerNormOptions) (nn.LayerNorm, error) {
	return nn.LayerNorm{Eps: o.Eps, FixedMean: !o.RandomMean}, nil
}
