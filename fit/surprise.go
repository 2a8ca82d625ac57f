package fit

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"utvi/internal/compute"
	"utvi/internal/notation"
	"utvi/internal/schema"
	"utvi/predict"
	"utvi/table"
)

// A Surprise says how new rows are for a model that did not learn them.
type Surprise struct {
	Evaluation *Evaluation `json:"-"`
	Rows       int         `json:"rows"`
	Known      float64     `json:"known"`       // share of them that the model was fitted to, as far as known
	Far        float64     `json:"ood_above_1"` // share of them that are unlike the rows before; of those it is about 1 %
	Targets    []Promise   `json:"targets"`
	Moved      []Move      `json:"moved"` // columns, the most moved first
}

// A Promise compares the score of new rows with what the model's own distributions promise: the
// score that rows drawn from them would have.
type Promise struct {
	Target   string  `json:"target"`
	LL       float64 `json:"ll"`       // log-likelihood of the new rows, nats per row
	Promised float64 `json:"promised"` // what it would be on average
	SE       float64 `json:"se"`       // standard error of the difference if the model is right
}

// Z is by how many standard errors rows score less than promised; below 0 they score more.
func (p Promise) Z() float64 { return (p.Promised - p.LL) / p.SE }

// A Move compares a column of the new rows with what the model remembers.
type Move struct {
	Column   string  `json:"column"`
	Distance float64 `json:"distance"` // of the cumulative shares (Kolmogorov–Smirnov); of levels, of the shares
	From, To string  // medians, or the level whose share grew most with both shares
	Unlikely float64 `json:"p"` // the chance of such a distance if nothing had moved
}

// surprising is the chance below which something is said: once in a thousand columns.
const surprising = 1e-3

// Verdict says in words how the score compares with the promise.
func (p Promise) Verdict() string {
	const far, much = 3, 6
	switch z := p.Z(); {
	case z > much:
		return "much worse than the model's error bars promise"
	case z > far:
		return "worse than the model's error bars promise"
	case z < -far:
		return "better than the model's error bars promise"
	}
	return "as the model's error bars promise"
}

// Surprise says how the rows of a frame that have a target are for the model, which does not learn
// them.
func (m *Model) Surprise(ctx context.Context, f *table.Frame, workers int) (*Surprise, error) {
	if err := m.CheckUpdate(); err != nil {
		return nil, err
	}
	rows, err := m.newRows(f)
	if err != nil {
		return nil, err
	}
	return m.surprise(ctx, f, rows, workers)
}

// surprise compares the new rows with the model's promises and its memory.
func (m *Model) surprise(ctx context.Context, f *table.Frame, rows []int, workers int) (*Surprise, error) {
	pool := compute.NewPool(compute.Workers(workers))
	defer pool.Close()
	e, err := m.Evaluate(ctx, f.Rows(rows), pool)
	if err != nil {
		return nil, err
	}
	s := &Surprise{Evaluation: e, Rows: len(rows), Far: e.OODAbove1, Known: e.Trained}
	if err := m.promises(ctx, f, rows, s); err != nil {
		return nil, err
	}
	s.Moved, err = m.moves(f, rows)
	return s, err
}

// promises computes what the predicted distributions promise of their own scores.
func (m *Model) promises(ctx context.Context, f *table.Frame, rows []int, s *Surprise) error {
	x, err := m.ReadInputs(f.Rows(rows), 0)
	if err != nil {
		return err
	}
	p, err := m.NewPredictor(predict.Options{Interval: -1})
	if err != nil {
		return err
	}
	for _, t := range s.Evaluation.Scores() {
		promise := Promise{Target: t.Target}
		if t.Numbers != nil {
			promise.LL = t.Numbers.LL.Value
		} else {
			promise.LL = t.Classes.LL.Value
		}
		s.Targets = append(s.Targets, promise)
	}
	n := 0
	err = p.Each(ctx, x, func(b *predict.Batch, _ int) error {
		for row := range b.Len() {
			if !b.Finite(row) {
				continue
			}
			n++
			for i := range s.Targets {
				mean, variance := expected(b, row, i, m.Classes() != nil)
				s.Targets[i].Promised += mean
				s.Targets[i].SE += variance
			}
		}
		return nil
	})
	for i := range s.Targets {
		s.Targets[i].Promised /= float64(max(1, n))
		s.Targets[i].SE = math.Sqrt(s.Targets[i].SE) / float64(max(1, n))
	}
	return err
}

// expected is the mean and the variance of ln p(y) where y is drawn from the prediction.
func expected(b *predict.Batch, row, target int, classes bool) (mean, variance float64) {
	var squares float64
	if classes {
		for _, p := range b.Classes(row) {
			if p > 0 {
				mean += p * math.Log(p)
				squares += p * math.Log(p) * math.Log(p)
			}
		}
		return mean, max(0, squares-mean*mean)
	}
	const points = 40
	d := b.Dist(row, target)
	for i := range points {
		l := d.LogPDF(d.Quantile((float64(i) + 0.5) / points))
		mean += l / points
		squares += l * l / points
	}
	return mean, max(0, squares-mean*mean)
}

// moves are the columns whose values are not distributed as those that are remembered.
func (m *Model) moves(f *table.Frame, rows []int) ([]Move, error) {
	old, weights, err := m.remembered(f.Header().File)
	if err != nil {
		return nil, err
	}
	was, is := newTelling(old, m.Schema, m.Net), newTelling(f, m.Schema, m.Net)
	var all []Move
	for i, c := range was.columns {
		if c.at < 0 {
			continue
		}
		mv := Move{Column: c.Name}
		if c.Type == schema.Categorical {
			mv.levels(c.text, weights, pick(is.columns[i].text, rows))
		} else {
			mv.numbers(c, weights, pick(is.columns[i].value, rows))
		}
		if mv.Unlikely < surprising/float64(len(was.columns)) {
			all = append(all, mv)
		}
	}
	slices.SortStableFunc(all, func(a, b Move) int { return cmp.Compare(b.Distance, a.Distance) })
	return all, nil
}

// remembered is the table of made-up rows, and what each stands for.
func (m *Model) remembered(file string) (*table.Frame, []float64, error) {
	lines := strings.NewReader(m.Memory.Cells)
	r, err := table.NewReader(lines, file, table.Options{Header: table.NoHeader, Delimiter: ',', Decimal: '.'})
	if err != nil {
		return nil, nil, fmt.Errorf("the memory of training rows is damaged: %w", err)
	}
	defer r.Close()
	old, err := table.Load(r)
	if err != nil {
		return nil, nil, err
	}
	weights := slices.Repeat([]float64{1}, old.Len())
	for i, w := range m.Memory.Weights[:min(len(m.Memory.Weights), old.Len())] {
		weights[i] = float64(w)
	}
	return old, weights, nil
}

// numbers compares two samples of numbers.
func (m *Move) numbers(c *told, weights []float64, is []float64) {
	type value struct{ v, was, is float64 }
	var all []value
	var total, squares, count float64
	for i, v := range c.value {
		if v == v {
			all = append(all, value{v, weights[i], 0})
			total += weights[i]
			squares += 1 // a made-up row counts once, whatever it stands for
		}
	}
	for _, v := range is {
		if v == v {
			all = append(all, value{v, 0, 1})
			count++
		}
	}
	if total == 0 || count == 0 {
		m.Unlikely = 1
		return
	}
	slices.SortStableFunc(all, func(a, b value) int { return cmp.Compare(a.v, b.v) })
	var a, b float64
	var before, after float64 // medians
	for i, x := range all {
		if a/total < 0.5 && (a+x.was)/total >= 0.5 {
			before = x.v
		}
		if b/count < 0.5 && (b+x.is)/count >= 0.5 {
			after = x.v
		}
		a += x.was
		b += x.is
		if i+1 == len(all) || all[i+1].v > x.v {
			m.Distance = max(m.Distance, math.Abs(a/total-b/count))
		}
	}
	m.From, m.To = short(c, before), short(c, after)
	n := squares * count / (squares + count)
	l := (math.Sqrt(n) + 0.12 + 0.11/math.Sqrt(n)) * m.Distance // Stephens 1970
	m.Unlikely = min(1, 2*math.Exp(-2*l*l))
}

// short is a number of a column, as people read it.
func short(c *told, v float64) string {
	if c.Type == schema.Times {
		return c.WriteTime(v)
	}
	return notation.Short(v, 4)
}

// levels compares the shares of levels.
func (m *Move) levels(was []string, weights []float64, is []string) {
	shares := map[string][2]float64{}
	var total float64
	for i, l := range was {
		s := shares[l]
		s[0] += weights[i]
		shares[l] = s
		total += weights[i]
	}
	for _, l := range is {
		s := shares[l]
		s[1]++
		shares[l] = s
	}
	n := float64(len(is))
	var names []string
	for l := range shares {
		names = append(names, l)
	}
	slices.Sort(names)
	most, count := 0.0, 1.0
	var chi2 float64
	for _, l := range names {
		p, q := shares[l][0]/total, shares[l][1]/n
		m.Distance += math.Abs(p-q) / 2
		if q-p > most {
			most = q - p
			m.From = fmt.Sprintf("%s %.0f %%", l, 100*p)
			m.To = fmt.Sprintf("%.0f %%", 100*q)
		}
		expect := max(p, 0.5/total)
		chi2 += n * (q - p) * (q - p) / (expect * (1 + n/total))
		count++
	}
	// Wilson & Hilferty 1931.
	k := max(1, count-2)
	z := (math.Cbrt(chi2/k) - (1 - 2/(9*k))) / math.Sqrt(2/(9*k))
	m.Unlikely = 0.5 * math.Erfc(z/math.Sqrt2)
}
