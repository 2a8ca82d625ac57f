package fit

import (
	"cmp"
	"context"
	"math"
	"slices"

	"utvi/data"
	"utvi/gauss"
	"utvi/predict"
	"utvi/rng"
	"utvi/table"
)

// An Insight says which columns the predictions depend on, and how.
type Insight struct {
	Importance []Importance // of all columns, the largest first; empty with fewer than MinImportanceRows rows
	Dependence []Dependence // on the columns that matter most
}

// An Importance says how important a column is: by how much the log-likelihood of a row
// falls, in nats, if the column is shuffled among the held-out rows (permutation
// importance; Breiman 2001).
type Importance struct {
	Column string  `json:"column"`
	Loss   float64 `json:"loss"`
}

// A Dependence shows how predictions change with one column (partial dependence;
// Friedman 2001): the mean over held-out rows with the column set to each value, all
// others left as they are. SD is the root of the mean predicted variance.
type Dependence struct {
	Column  table.Column
	Values  []float64 // in the column's unit; of a category 0, 1 … for its levels
	Targets []Curve   // of numbers
	Classes []Curve   // of probabilities
}

// A Curve is a mean prediction at each value, and its uncertainty.
type Curve struct {
	Name     string
	Mean, SD []float64
}

// Head returns the dependence on the first values only.
func (d Dependence) Head(n int) Dependence {
	cut := func(all []Curve) (out []Curve) {
		for _, c := range all {
			out = append(out, Curve{c.Name, c.Mean[:n], c.SD[:n]})
		}
		return out
	}
	return Dependence{d.Column, d.Values[:n], cut(d.Targets), cut(d.Classes)}
}

// MinImportanceRows is how many held-out rows are needed to say which columns matter:
// with fewer rows, shuffling shows only chance.
const MinImportanceRows = 20

const (
	insightRows  = 500 // held-out rows that an insight is made of
	dependencies = 6   // columns whose dependence is shown
	gridPoints   = 41
	mostLevels   = 100        // of a category, the most frequent ones
	shufflings   = 0x73687566 // "shuf": keeps these draws apart from others of the seed
)

// hurriedColumns is the most columns whose importance a stopped fit finds out.
const hurriedColumns = 100

// insight looks at held-out rows. In a hurry, many columns are passed over.
func (m *Model) insight(rows table.Source, seed uint64, hurry bool) (*Insight, error) {
	set, err := m.Schema.Encode(first(rows, insightRows))
	if err != nil {
		return nil, err
	}
	p, err := m.predictor(rows)
	if err != nil {
		return nil, err
	}
	l := looker{m, p, m.Schema.Targets()}
	columns := m.Schema.Spans()
	out, shown := &Insight{Importance: []Importance{}}, columns
	if hurry && len(columns) > hurriedColumns {
		return out, nil
	}
	if set.X.Rows >= MinImportanceRows {
		out.Importance, shown = importance(l, set, columns, seed), nil
		for _, i := range out.Importance {
			shown = append(shown, columns[slices.IndexFunc(columns, func(s table.Span) bool { return s.Column.Name == i.Column })])
		}
	}
	for _, s := range shown[:min(dependencies, len(shown))] {
		out.Dependence = append(out.Dependence, dependence(l, set.X, s))
	}
	return out, nil
}

func importance(l looker, set *data.Set, columns []table.Span, seed uint64) []Importance {
	x := copyBatch(set.X)
	base := logLikelihood(l, x, set.Y)
	perm := make([]int, x.Rows)
	var all []Importance
	for k, s := range columns {
		rng.Perm(rng.New(seed).Sub(uint64(k), shufflings), perm)
		for row, from := range perm {
			copyInputs(x, row, set.X, from, s)
		}
		all = append(all, Importance{s.Column.Name, base - logLikelihood(l, x, set.Y)})
		for row := range perm {
			copyInputs(x, row, set.X, row, s)
		}
	}
	slices.SortStableFunc(all, func(a, b Importance) int { return cmp.Compare(b.Loss, a.Loss) })
	return all
}

// logLikelihood is the mean log-likelihood of a row, summed over targets.
func logLikelihood(l looker, x gauss.Batch[float32], y []float32) (sum float64) {
	const least = -1e3 // one hopeless row must not outweigh all others
	k := len(l.targets)
	l.each(x, func(b *predict.Batch, row, at int) {
		if l.m.Classes() != nil {
			sum += max(b.Classes(at).LogPMF(int(y[row])), least)
			return
		}
		for j, t := range l.targets {
			sum += max(b.Dist(at, j).LogPDF(float64(y[row*k+j])*t.SD+t.Mean), least)
		}
	})
	return sum / float64(x.Rows)
}

// A looker looks at predictions of encoded rows.
type looker struct {
	m       *Model
	p       *predict.Predictor
	targets []table.Column
}

// each predicts rows and visits each, with its place in the batch.
func (l looker) each(x gauss.Batch[float32], visit func(b *predict.Batch, row, at int)) {
	err := l.p.Each(context.Background(), x, func(b *predict.Batch, first int) error {
		for at := range b.Len() {
			visit(b, first+at, at)
		}
		return nil
	})
	if err != nil { // the rows were encoded by the model's own schema
		panic("fit: encoded rows cannot be predicted")
	}
}

func copyBatch(x gauss.Batch[float32]) gauss.Batch[float32] {
	x.Mean, x.Var = slices.Clone(x.Mean), slices.Clone(x.Var)
	return x
}

func copyInputs(dst gauss.Batch[float32], to int, src gauss.Batch[float32], from int, s table.Span) {
	w := src.Width
	copy(dst.Mean[to*w+s.From:to*w+s.To], src.Mean[from*w+s.From:])
	if src.Var != nil {
		copy(dst.Var[to*w+s.From:to*w+s.To], src.Var[from*w+s.From:])
	}
}

func dependence(l looker, rows gauss.Batch[float32], s table.Span) Dependence {
	d := Dependence{Column: *s.Column, Values: grid(*s.Column)}
	curves := len(l.targets)
	for _, t := range l.targets {
		d.Targets = append(d.Targets, Curve{Name: t.Name})
	}
	if l.m.Classes() != nil {
		d.Targets, curves = nil, len(l.m.Classes())
		for _, level := range l.targets[0].Levels {
			d.Classes = append(d.Classes, Curve{Name: level})
		}
	}
	x := copyBatch(rows)
	for _, v := range d.Values {
		for row := range x.Rows {
			set(x, row, s, v)
		}
		mean, variance := make([]float64, curves), make([]float64, curves)
		l.each(x, func(b *predict.Batch, _, at int) {
			if l.m.Classes() != nil {
				for k, p := range b.Classes(at) {
					mean[k] += p
					variance[k] += p * p
				}
				return
			}
			for k := range curves {
				p := b.Dist(at, k)
				mean[k] += p.Mean()
				variance[k] += p.SD() * p.SD()
			}
		})
		n := float64(x.Rows)
		for k := range curves {
			m, sd := mean[k]/n, math.Sqrt(variance[k]/n)
			if d.Classes != nil { // how far the rows differ
				d.Classes[k].Mean = append(d.Classes[k].Mean, m)
				d.Classes[k].SD = append(d.Classes[k].SD, math.Sqrt(max(0, variance[k]/n-m*m)))
				continue
			}
			d.Targets[k].Mean = append(d.Targets[k].Mean, m)
			d.Targets[k].SD = append(d.Targets[k].SD, sd)
		}
	}
	return d
}

// grid are the values of a column that a dependence is shown at: its range, a tenth
// wider on either side, so that one sees what lies beyond the rows.
func grid(c table.Column) []float64 {
	if c.Type == table.Categorical {
		v := make([]float64, min(len(c.Levels), mostLevels))
		for i := range v {
			v[i] = float64(i)
		}
		return v
	}
	lo, hi := c.Min, c.Max
	margin := (hi - lo) / 10
	v := make([]float64, gridPoints)
	for i := range v {
		f := float64(i) / (gridPoints - 1)
		v[i] = (lo-margin)*(1-f) + (hi+margin)*f
	}
	return v
}

// set gives a row another value of a column; a number keeps its uncertainty.
func set(x gauss.Batch[float32], row int, s table.Span, v float64) {
	in := x.Mean[row*x.Width+s.From : row*x.Width+s.To]
	switch {
	case s.Column.Embedded:
		in[0] = float32(v)
		return
	case s.Column.Type == table.Categorical:
		clear(in)
		in[int(v)] = 1
		return
	}
	s.Column.Place(v, in)
}
