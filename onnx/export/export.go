// Package export writes networks as ONNX graphs that any runtime can run: means and
// variances by ordinary operators (opset 17), nothing random, no operator of our own.
//
// An imported network keeps the names and the layout of its inputs and outputs; any other
// network has the input x, rows × inputs (rows × height × width × channels for
// images), and x_variance if it is asked for; its outputs are mean and variance.
// Functions and rules that are Go code, and rules that draw random numbers, are refused.
package export

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"utvi/internal/codec"
	"utvi/internal/onnx"
	"utvi/model"
	"utvi/nn"
)

// Options say what a graph offers.
type Options struct {
	// Variance adds the input x_variance, the variances of x.
	Variance bool
}

// Network writes a network as a graph.
func Network(n *model.Model, o Options) (*onnx.Model, error) {
	return Ensemble(&model.Ensemble{Members: []*model.Model{n}}, o)
}

// Ensemble writes an ensemble as a graph: the mean and the variance of the mixture.
func Ensemble(e *model.Ensemble, o Options) (*onnx.Model, error) {
	w := &writer{ops: ops{onnx.NewBuilder("utvi")}}
	w.Reserve("mean", "variance")
	first := e.Members[0]
	ports := signatureOf(first)
	if ports != nil {
		for _, p := range ports.Outputs {
			w.Reserve(p.Name, p.Variance())
		}
	}
	in := w.declared(ports, first.Config.Input, o.Variance)
	var outs []signal
	for k, n := range e.Members {
		if len(e.Members) > 1 {
			w.prefix = fmt.Sprintf("member%d/", k)
		}
		out, err := w.network(n, in)
		if err != nil {
			return nil, err
		}
		outs = append(outs, out)
	}
	w.Scope("")
	out := w.mixture(outs)
	w.outputs(ports, out)
	m := w.Model()
	m.Metadata = facts(first)
	return m, nil
}

// network writes one network.
func (w *writer) network(n *model.Model, in signal) (signal, error) {
	root, err := n.GraphFor(in.form)
	if err != nil {
		return signal{}, err
	}
	out, _, err := w.layer(root, in)
	return out, err
}

// mixture is the mean and the variance of equally likely predictions.
func (w *writer) mixture(parts []signal) signal {
	out := parts[0]
	if len(parts) == 1 {
		return out
	}
	var means, variances []value
	for _, p := range parts {
		means, variances = append(means, p.mean), append(variances, w.varianceOf(p))
	}
	share := 1 / float64(len(parts))
	out.mean = w.times(w.total(means), share)
	for _, m := range means {
		variances = append(variances, w.square(w.sub(m, out.mean)))
	}
	out.variance, out.form = w.times(w.total(variances), share), nn.Independent
	return out
}

// facts are the metadata of a network: what is known of its training.
func facts(n *model.Model) (all []onnx.Entry) {
	f := n.Facts
	entries := map[string]string{
		"utvi.rows": number(f.Rows), "utvi.steps": number(f.Steps), "utvi.likelihood": f.Likelihood,
		"utvi.data": f.Data, "utvi.date": f.Date,
	}
	if n.Likelihood != nil {
		if text, err := codec.MarshalLikelihood(n.Likelihood); err == nil {
			entries["utvi.likelihood"] = string(text)
		}
	}
	if f.NLL != 0 {
		entries["utvi.nll"] = strconv.FormatFloat(f.NLL, 'g', -1, 64)
	}
	for k, v := range f.More {
		entries[onnx.MetadataOfFacts+k] = v
	}
	for _, k := range slices.Sorted(maps.Keys(entries)) {
		if entries[k] != "" {
			all = append(all, onnx.Entry{Key: k, Value: entries[k]})
		}
	}
	return all
}

func number(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// dims are the dimensions of rows of a shape.
func dims(s nn.Shape) []onnx.Dim {
	d := []onnx.Dim{{Name: "N"}}
	for _, n := range sizes(s) {
		d = append(d, onnx.Dim{Size: int64(n)})
	}
	return d
}

// sizes are the dimensions of one row: one for a vector, three for an image.
func sizes(s nn.Shape) []int {
	if s.H == 1 && s.W == 1 {
		return []int{s.C}
	}
	return []int{s.H, s.W, s.C}
}

// A node is a layer of a network.
type node = nn.Node[float32]

// A signal is what flows between two layers: values of the shape of its rows, with
// variances unless it is fixed. The covariances, rows × units × units, are written only
// if they are used.
type signal struct {
	mean, variance value
	cov            func() value
	shape          nn.Shape
	form           nn.Form
	parts          []signal // that a step of a graph reads side by side; mean and variance are then ""
}

func (s signal) rank() int { return 1 + len(sizes(s.shape)) }

// varianceOf is the variance of a signal, also of a fixed one.
func (w *writer) varianceOf(s signal) value {
	if s.form == nn.Fixed {
		return w.zeros(s.mean)
	}
	return s.variance
}
