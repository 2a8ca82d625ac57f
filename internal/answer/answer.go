// Package answer says what a model is, and what it predicts, as JSON: to clients of a server, and to
// a page that has the model inside.
package answer

import (
	"encoding/json"
	"math"
	"strconv"

	"utvi/dist"
	"utvi/predict"
)

// Words are the names of a model as JSON has them: with quotes, and a colon behind the
// name of a field.
type Words struct {
	Targets []string
	Classes []string
	Fields  []string // of classes
}

// NewWords returns the words of a model.
func NewWords(m *predict.Model) (w Words) {
	for _, t := range m.Targets() {
		w.Targets = append(w.Targets, Quote(t)+":")
	}
	for _, c := range m.Classes() {
		w.Classes = append(w.Classes, Quote(c))
		w.Fields = append(w.Fields, Quote(c)+":")
	}
	return w
}

// An Answerer writes predictions as JSON. Numbers are written so that they are read back
// with all their bits.
type Answerer struct {
	Words
	interval  bool
	quantiles []float64
	density   int
	ood       bool
}

// New returns what writes the predictions of p, with quantiles of some levels and so many points
// of the density.
func New(w Words, p *predict.Predictor, quantiles []float64, density int) *Answerer {
	_, interval := Level(p)
	return &Answerer{Words: w, interval: interval, quantiles: quantiles, density: density, ood: p.Model().Schema != nil}
}

// Level is the level of the intervals, if there are any.
func Level(p *predict.Predictor) (level float64, ok bool) {
	switch level = p.Options().Interval; {
	case level == 0:
		return 0.9, true
	default:
		return level, level > 0
	}
}

// Quote is a text as JSON has it.
func Quote(s string) string {
	text, _ := json.Marshal(s) // a text always can be
	return string(text)
}

// Row appends the prediction of a row.
func (a *Answerer) Row(out []byte, b *predict.Batch, row int) []byte {
	out = append(out, `{"targets":{`...)
	if a.Classes != nil {
		out = append(out, a.Targets[0]...)
		out = a.class(out, b.Classes(row))
	} else {
		for t, n := range b.Numbers(row) {
			if t > 0 {
				out = append(out, ',')
			}
			out = append(out, a.Targets[t]...)
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
		out = AppendFloat(out, b.OOD(row))
	}
	out = append(out, `,"abstain":`...)
	out = strconv.AppendBool(out, b.Abstain(row))
	return append(out, '}')
}

func (a *Answerer) number(out []byte, n *predict.Number) []byte {
	out = append(out, `{"mean":`...)
	out = AppendFloat(out, n.Mean)
	out = append(out, `,"std":`...)
	out = AppendFloat(out, n.Std)
	if a.interval {
		out = append(out, `,"interval":[`...)
		out = AppendFloat(out, n.Lo)
		out = append(out, ',')
		out = AppendFloat(out, n.Hi)
		out = append(out, ']')
	}
	out = append(out, `,"variance":{"weights":`...)
	out = AppendFloat(out, n.Variance.Weights)
	out = append(out, `,"inputs":`...)
	out = AppendFloat(out, n.Variance.Inputs)
	out = append(out, `,"noise":`...)
	out = AppendFloat(out, n.Variance.Noise)
	return append(out, "}}"...)
}

// NumberBytes is the length of a number, at most, with what stands before it.
const NumberBytes = 26

// beyond is the probability on either side of the drawn density.
const beyond = 0.0005

// shape appends quantiles and the density.
func (a *Answerer) shape(out []byte, d dist.Dist) []byte {
	if len(a.quantiles) > 0 {
		out = append(out, `,"quantiles":[`...)
		for i, q := range a.quantiles {
			if i > 0 {
				out = append(out, ',')
			}
			out = AppendFloat(out, d.Quantile(q))
		}
		out = append(out, ']')
	}
	if a.density > 0 {
		from, to := d.Quantile(beyond), d.Quantile(1-beyond)
		if from == to { // a count that is almost certain
			from, to = from-0.5, to+0.5
		}
		out = append(out, `,"density":{"from":`...)
		out = AppendFloat(out, from)
		out = append(out, `,"to":`...)
		out = AppendFloat(out, to)
		out = append(out, `,"values":[`...)
		for i := range a.density {
			if i > 0 {
				out = append(out, ',')
			}
			x := from + (to-from)*float64(i)/float64(a.density-1)
			out = AppendFloat(out, math.Exp(d.LogPDF(x)))
		}
		out = append(out, "]}"...)
	}
	return append(out, '}')
}

func (a *Answerer) class(out []byte, c dist.Categorical) []byte {
	out = append(out, `{"class":`...)
	if top := c.Argmax(); c[top] == c[top] {
		out = append(out, a.Classes[top]...)
	} else {
		out = append(out, "null"...) // the prediction is not finite
	}
	out = append(out, `,"probabilities":{`...)
	for i, p := range c {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, a.Fields[i]...)
		out = AppendFloat(out, p)
	}
	out = append(out, `},"entropy":`...)
	out = AppendFloat(out, c.Entropy())
	return append(out, '}')
}

// AppendFloat writes what JSON cannot hold as null.
func AppendFloat(out []byte, v float64) []byte {
	if v-v != 0 {
		return append(out, "null"...)
	}
	f := byte('f')
	if abs := math.Abs(v); abs != 0 && (abs < 1e-6 || abs >= 1e21) {
		f = 'e'
	}
	return strconv.AppendFloat(out, v, f, -1, 64)
}
