package predict

import (
	"math"
	"slices"

	"utvi/gauss"
	"utvi/internal/schema"
)

// An Effect says how a column moved a prediction: by how much the prediction changes
// back if the column takes its typical value instead (the training mean of a number or a
// time, the median of a skewed number, the most frequent level of a category), known
// exactly, and all other columns keep their values. Effects of columns that act together do not add up.
type Effect struct {
	Column string
	Mean   float64 // of a number; of a class, the change of its probability
	Std    float64 // of a number; of a class, the change of the entropy
}

// A Why explains the prediction of one target: the columns that moved it most, and those
// that moved its uncertainty most, the largest effect first.
type Why struct{ Mean, Std []Effect }

// Explain explains the predictions of a batch by their columns: for each row and each
// target (in that order), at most the given number of effects. It predicts every row
// once for each column. A network without a table has no columns to explain by.
func (b *Batch) Explain(most int) [][]Why {
	m := b.s.m
	if m.Schema == nil || most < 1 {
		return nil
	}
	targets := len(m.targets)
	base := make([]Effect, b.Len()*targets)
	class := make([]int, b.Len())
	for row := range b.Len() {
		if m.classes != nil && b.Finite(row) {
			class[row] = b.Classes(row).Argmax()
		}
		b.effect(row, class[row], base[row*targets:])
	}
	out := make([][]Why, b.Len())
	for row := range out {
		out[row] = make([]Why, targets)
	}
	other := m.session(b.Len())
	defer other.release()
	other.batch.p, other.batch.s = b.p, other
	x := gauss.Batch[float32]{Rows: b.x.Rows, Width: b.x.Width, Mean: slices.Clone(b.x.Mean), Var: slices.Clone(b.x.Var)}
	now := make([]Effect, targets)
	for _, s := range m.Schema.Spans() {
		replace(x, s)
		if other.predict(x) == nil {
			for row := range b.Len() {
				other.batch.effect(row, class[row], now)
				for t := range now {
					was := base[row*targets+t]
					e := Effect{s.Column.Name, was.Mean - now[t].Mean, was.Std - now[t].Std}
					if e.Mean-e.Mean == 0 && e.Std-e.Std == 0 {
						w := &out[row][t]
						w.Mean = insert(w.Mean, e, most, func(e Effect) float64 { return math.Abs(e.Mean) })
						w.Std = insert(w.Std, e, most, func(e Effect) float64 { return math.Abs(e.Std) })
					}
				}
			}
		}
		restore(x, b.x, s)
	}
	return out
}

// effect writes the mean and the uncertainty of a row's targets.
func (b *Batch) effect(row, class int, dst []Effect) {
	if b.s.m.classes != nil {
		c := b.Classes(row)
		dst[0] = Effect{Mean: c[class], Std: c.Entropy()}
		return
	}
	for t, n := range b.Numbers(row) {
		dst[t] = Effect{Mean: n.Mean, Std: n.Std}
	}
}

// insert keeps the largest effects in order. Equal ones stay in the order of the table.
func insert(all []Effect, e Effect, most int, size func(Effect) float64) []Effect {
	at := len(all)
	for at > 0 && size(all[at-1]) < size(e) {
		at--
	}
	if at == most {
		return all
	}
	all = slices.Insert(all, at, e)
	return all[:min(len(all), most)]
}

// replace gives a column its typical value in all rows.
func replace(x gauss.Batch[float32], s schema.Span) {
	for row := range x.Rows {
		s.Column.Typical(x.Mean[row*x.Width+s.From : row*x.Width+s.To])
		if x.Var != nil {
			clear(x.Var[row*x.Width+s.From : row*x.Width+s.To])
		}
	}
}

func restore(x, from gauss.Batch[float32], s schema.Span) {
	for row := range x.Rows {
		lo, hi := row*x.Width+s.From, row*x.Width+s.To
		copy(x.Mean[lo:hi], from.Mean[lo:hi])
		if x.Var != nil {
			copy(x.Var[lo:hi], from.Var[lo:hi])
		}
	}
}
