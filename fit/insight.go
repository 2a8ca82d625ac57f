package fit

import (
	"context"
	"fmt"
	"slices"

	"utvi/data"
	"utvi/gauss"
	"utvi/internal/schema"
	"utvi/internal/vision"
	"utvi/predict"
)

// An Insight says which columns the predictions depend on, and how.
type Insight struct {
	Importance []Importance // of all columns, the largest first, or of those that matter most (Columns); empty where Skipped says why
	Columns    int          // from which those of Importance were found, shuffled in blocks; 0: they are all
	Dependence []Dependence // on the columns that matter most

	Skipped string // why there is no Importance, as half a sentence

	Pictures *vision.Showing // of a model of images, which has nothing of the above; else nil
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
// others left as they are.
type Dependence struct {
	Column  schema.Column
	Values  []float64 // in the column's unit; of a category 0, 1 … for its levels
	Log     bool      // the values are spaced by their logarithm
	Targets []Curve   // of numbers
	Classes []Curve   // of probabilities
}

// A Curve is a mean prediction at each value, and the band of ± the root of the mean
// predicted variance. Of a target that is predicted by its logarithm (Log), both are means
// of logarithms: of medians, and of the half width of the central 68 %.
type Curve struct {
	Name         string
	Log          bool
	Mean, Lo, Hi []float64
}

// Head returns the dependence on the first values only.
func (d Dependence) Head(n int) Dependence {
	cut := func(all []Curve) (out []Curve) {
		for _, c := range all {
			c.Mean = c.Mean[:n]
			c.Lo = c.Lo[:n]
			c.Hi = c.Hi[:n]
			out = append(out, c)
		}
		return out
	}
	d.Values = d.Values[:n]
	d.Targets = cut(d.Targets)
	d.Classes = cut(d.Classes)
	return d
}

const (
	// With fewer held-out rows, shuffling a column shows only chance.
	minImportanceRows = 20

	dependencies = 6 // columns whose dependence is shown
	gridPoints   = 41
	mostLevels   = 100        // of a category, the most frequent ones
	shufflings   = 0x73687566 // "shuf": keeps these draws apart from others of the seed
)

// What a stopped fit looks at: that many held-out rows, and no columns if there are more.
const (
	hurriedRows    = 500
	hurriedColumns = 100
)

// insight looks at held-out rows. In a hurry, many columns are passed over.
func (m *Model) insight(set *data.Set, seed uint64, hurry bool) (*Insight, error) {
	p, err := m.NewPredictor(predict.Options{Interval: -1})
	if err != nil {
		return nil, err
	}
	l := looker{m, p, m.Schema.Targets()}
	columns := m.Schema.Spans()
	out, shown := &Insight{Importance: []Importance{}}, columns
	if hurry && len(columns) > hurriedColumns {
		out.Skipped = "the fit was stopped"
		return out, nil
	}
	if rows := set.X.Rows; rows < minImportanceRows {
		out.Skipped = fmt.Sprintf("%s been held out, at least %d are needed", have(rows), minImportanceRows)
	} else {
		out.Importance, shown = importance(l, set, columns, seed, looks(set.X)), nil
		if len(out.Importance) < len(columns) {
			out.Columns = len(columns)
		}
		for _, i := range out.Importance {
			shown = append(shown, columns[slices.IndexFunc(columns, func(s schema.Span) bool { return s.Column.Name == i.Column })])
		}
	}
	for _, s := range shown[:min(dependencies, len(shown))] {
		out.Dependence = append(out.Dependence, dependence(l, set.X, s))
	}
	return out, nil
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
	targets []schema.Column
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

func copyInputs(dst gauss.Batch[float32], to int, src gauss.Batch[float32], from int, s schema.Span) {
	w := src.Width
	copy(dst.Mean[to*w+s.From:to*w+s.To], src.Mean[from*w+s.From:])
	if src.Var != nil {
		copy(dst.Var[to*w+s.From:to*w+s.To], src.Var[from*w+s.From:])
	}
}
