package serve

import (
	"encoding/json"
	"math"
	"strconv"

	"utvi/dist"
	"utvi/predict"
)

// words are the names of a model as JSON has them: with quotes, and a colon behind the
// name of a field.
type words struct {
	targets []string
	classes []string
	fields  []string // of classes
}

func newWords(m *predict.Model) (w words) {
	for _, t := range m.Targets() {
		w.targets = append(w.targets, quote(t)+":")
	}
	for _, c := range m.Classes() {
		w.classes = append(w.classes, quote(c))
		w.fields = append(w.fields, quote(c)+":")
	}
	return w
}

// An answerer writes predictions as JSON. Numbers are written so that they are read back
// with all their bits.
type answerer struct {
	words
	interval  bool
	quantiles []float64
	density   int
	ood       bool
}

func newAnswerer(l *loaded, p *predict.Predictor, o *options) *answerer {
	_, interval := o.interval(p)
	return &answerer{words: l.words, interval: interval, quantiles: o.Quantiles, density: o.Density, ood: l.Schema != nil}
}

func quote(s string) string {
	text, _ := json.Marshal(s) // a text always can be
	return string(text)
}

// row appends the prediction of a row.
func (a *answerer) row(out []byte, b *predict.Batch, row int) []byte {
	out = append(out, `{"targets":{`...)
	if a.classes != nil {
		out = append(out, a.targets[0]...)
		out = a.class(out, b.Classes(row))
	} else {
		for t, n := range b.Numbers(row) {
			if t > 0 {
				out = append(out, ',')
			}
			out = append(out, a.targets[t]...)
			out = a.number(out, &n)
			if len(a.quantiles) > 0 || a.density > 0 {
				d := b.Dist(row, t)
				if !b.Finite(row) {
					d = dist.Normal{Mu: math.NaN(), Sigma: math.NaN()} // every number is null
				}
				out = a.shape(out[:len(out)-1], d)
			}
		}
	}
	out = append(out, '}')
	if a.ood {
		out = append(out, `,"ood":`...)
		out = appendFloat(out, b.OOD(row))
	}
	out = append(out, `,"abstain":`...)
	out = strconv.AppendBool(out, b.Abstain(row))
	return append(out, '}')
}

func (a *answerer) number(out []byte, n *predict.Number) []byte {
	out = append(out, `{"mean":`...)
	out = appendFloat(out, n.Mean)
	out = append(out, `,"std":`...)
	out = appendFloat(out, n.Std)
	if a.interval {
		out = append(out, `,"interval":[`...)
		out = appendFloat(out, n.Lo)
		out = append(out, ',')
		out = appendFloat(out, n.Hi)
		out = append(out, ']')
	}
	out = append(out, `,"variance":{"weights":`...)
	out = appendFloat(out, n.Variance.Weights)
	out = append(out, `,"inputs":`...)
	out = appendFloat(out, n.Variance.Inputs)
	out = append(out, `,"noise":`...)
	out = appendFloat(out, n.Variance.Noise)
	return append(out, "}}"...)
}

// beyond is the probability on either side of the drawn density.
const beyond = 0.0005

// shape appends quantiles and the density.
func (a *answerer) shape(out []byte, d dist.Dist) []byte {
	if len(a.quantiles) > 0 {
		out = append(out, `,"quantiles":[`...)
		for i, q := range a.quantiles {
			if i > 0 {
				out = append(out, ',')
			}
			out = appendFloat(out, d.Quantile(q))
		}
		out = append(out, ']')
	}
	if a.density > 0 {
		from, to := d.Quantile(beyond), d.Quantile(1-beyond)
		if from == to { // a count that is almost certain
			from, to = from-0.5, to+0.5
		}
		out = append(out, `,"density":{"from":`...)
		out = appendFloat(out, from)
		out = append(out, `,"to":`...)
		out = appendFloat(out, to)
		out = append(out, `,"values":[`...)
		for i := range a.density {
			if i > 0 {
				out = append(out, ',')
			}
			x := from + (to-from)*float64(i)/float64(a.density-1)
			out = appendFloat(out, math.Exp(d.LogPDF(x)))
		}
		out = append(out, "]}"...)
	}
	return append(out, '}')
}

func (a *answerer) class(out []byte, c dist.Categorical) []byte {
	out = append(out, `{"class":`...)
	if top := c.Argmax(); c[top] == c[top] {
		out = append(out, a.classes[top]...)
	} else {
		out = append(out, "null"...) // the prediction is not finite
	}
	out = append(out, `,"probabilities":{`...)
	for i, p := range c {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, a.fields[i]...)
		out = appendFloat(out, p)
	}
	out = append(out, `},"entropy":`...)
	out = appendFloat(out, c.Entropy())
	return append(out, '}')
}

// appendFloat writes what JSON cannot hold as null.
func appendFloat(out []byte, v float64) []byte {
	if v-v != 0 {
		return append(out, "null"...)
	}
	f := byte('f')
	if abs := math.Abs(v); abs != 0 && (abs < 1e-6 || abs >= 1e21) {
		f = 'e'
	}
	return strconv.AppendFloat(out, v, f, -1, 64)
}
