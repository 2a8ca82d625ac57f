package serve

import (
	"math"
	"slices"

	"utvi/internal/schema"
	"utvi/predict"
)

// An output is an output tensor of a model: its shape behind the rows, and how a row
// of predictions is written into it.
type output struct {
	name     string
	datatype string
	shape    []int64
	read     func(t *tensor, b *predict.Batch, row, at int) // row of b, row at of t
}

// outputs lists the outputs of a model for a predictor and a number of quantiles.
// Numbers have one column for each target, classes one for each class.
func outputs(l *loaded, p *predict.Predictor, quantiles int) []output {
	all := classOutputs(l)
	if l.Classes() == nil {
		all = numberOutputs(l, p, quantiles)
	}
	if l.Schema != nil {
		all = append(all, output{"ood", "FP64", nil, func(t *tensor, b *predict.Batch, row, at int) { t.floats[at] = b.OOD(row) }})
	}
	return append(all, output{"abstain", "BOOL", nil, func(t *tensor, b *predict.Batch, row, at int) { t.bools[at] = b.Abstain(row) }})
}

func numberOutputs(l *loaded, p *predict.Predictor, quantiles int) (all []output) {
	targets := len(l.Targets())
	add := func(name string, get func(n *predict.Number) float64) {
		all = append(all, output{name, "FP64", []int64{int64(targets)}, func(t *tensor, b *predict.Batch, row, at int) {
			numbers := b.Numbers(row)
			for k := range numbers {
				t.floats[at*targets+k] = get(&numbers[k])
			}
		}})
	}
	add("mean", func(n *predict.Number) float64 { return n.Mean })
	add("std", func(n *predict.Number) float64 { return n.Std })
	if p.Options().Interval >= 0 {
		add("lo", func(n *predict.Number) float64 { return n.Lo })
		add("hi", func(n *predict.Number) float64 { return n.Hi })
	}
	add("var_weights", func(n *predict.Number) float64 { return n.Variance.Weights })
	add("var_inputs", func(n *predict.Number) float64 { return n.Variance.Inputs })
	add("var_noise", func(n *predict.Number) float64 { return n.Variance.Noise })
	if quantiles > 0 {
		levels := p.Options().Quantiles
		all = append(all, output{"quantiles", "FP64", []int64{int64(targets), int64(quantiles)}, func(t *tensor, b *predict.Batch, row, at int) {
			for k := range targets {
				finite := b.Finite(row)
				d := b.Dist(row, k)
				for i, q := range levels {
					t.floats[(at*targets+k)*quantiles+i] = math.NaN()
					if finite {
						t.floats[(at*targets+k)*quantiles+i] = d.Quantile(q)
					}
				}
			}
		}})
	}
	return all
}

func classOutputs(l *loaded) []output {
	classes := l.Classes()
	if classes == nil {
		return nil
	}
	names := make([][]byte, len(classes))
	for i, c := range classes {
		names[i] = []byte(c)
	}
	return []output{
		{"class", "BYTES", nil, func(t *tensor, b *predict.Batch, row, at int) {
			t.texts[at] = nil
			if b.Finite(row) {
				t.texts[at] = names[b.Classes(row).Argmax()]
			}
		}},
		{"probabilities", "FP64", []int64{int64(len(classes))}, func(t *tensor, b *predict.Batch, row, at int) {
			copy(t.floats[at*len(classes):], b.Classes(row))
		}},
		{"entropy", "FP64", nil, func(t *tensor, b *predict.Batch, row, at int) { t.floats[at] = b.Classes(row).Entropy() }},
	}
}

// size is the number of elements that rows have.
func (o output) size(rows int) int {
	n := rows
	for _, d := range o.shape {
		n *= int(d)
	}
	return n
}

// memory is what the elements of rows take.
func (o output) memory(rows int) int64 {
	t := tensor{datatype: o.datatype}
	return t.memory(o.size(rows))
}

// make returns room for rows.
func (o output) make(rows int) tensor {
	t := tensor{name: o.name, datatype: o.datatype, shape: append(dims{int64(rows)}, o.shape...)}
	n := o.size(rows)
	switch o.datatype {
	case "BOOL":
		t.bools = make([]bool, n)
	case "BYTES":
		t.texts = make([][]byte, n)
	default:
		t.floats = make([]float64, n)
	}
	return t
}

// A signature is the metadata of a tensor.
type signature struct {
	Name     string  `json:"name"`
	Datatype string  `json:"datatype"`
	Shape    []int64 `json:"shape"` // −1: any number of rows
}

// signatures describe the inputs and outputs of a model. Other types of numbers are
// accepted, too.
func signatures(l *loaded) (in, out []signature) {
	if l.Schema == nil {
		c := l.Networks.Members[0].Config.Input
		shape := []int64{-1, int64(c.C)}
		if c.H*c.W > 1 {
			shape = []int64{-1, int64(c.H), int64(c.W), int64(c.C)}
		}
		in = append(in, signature{networkInput, "FP32", shape})
	} else {
		for _, c := range l.Schema.Columns {
			if !slices.Contains(l.Columns(), c.Name) {
				continue
			}
			kind := "FP64"
			if c.Type != schema.Numeric { // names and times are texts
				kind = "BYTES"
			}
			in = append(in, signature{c.Name, kind, []int64{-1}})
		}
	}
	for _, o := range outputs(l, l.usual, 0) {
		out = append(out, signature{o.name, o.datatype, append([]int64{-1}, o.shape...)})
	}
	return in, out
}
