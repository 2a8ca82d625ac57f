package suggest

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"slices"

	"utvi/gauss"
	"utvi/internal/compute"
	"utvi/internal/delimited"
	"utvi/internal/notation"
	"utvi/internal/special"
	"utvi/predict"
	"utvi/table"
)

// smooth is the share of a row's doubt by which each draw is blurred: a few hundred draws then tell
// small chances of large improvements.
const smooth = 0.3

// bestKnown is what a value must beat: the best that is predicted of the rows which the model
// remembers. A measured best would be one that noise made.
func (p *picker) bestKnown(ctx context.Context, m *predict.Model) (float64, error) {
	if best := p.config.Best; best == best {
		return p.loss(best), nil
	}
	best := math.Inf(1)
	take := func(b *predict.Batch, _ int) error {
		for row := range b.Len() {
			if b.Finite(row) {
				best = min(best, p.loss(b.Numbers(row)[p.target].Mean))
			}
		}
		return nil
	}
	x, err := remembered(m)
	if err != nil {
		return 0, err
	}
	known, err := m.NewPredictor(predict.Options{Interval: -1})
	if err == nil && x.Rows > 0 {
		err = known.Each(ctx, x, take)
	}
	if err != nil || !math.IsInf(best, 1) {
		return best, err
	}
	// Nothing is remembered: the middle of the candidates is no high bar.
	means := make([]float64, p.rows)
	for row := range means {
		means[row] = p.loss(p.each[row].mean[p.target])
	}
	slices.Sort(means)
	return means[len(means)/2], nil
}

// remembered are the inputs of the rows that a model remembers, none if it remembers nothing.
func remembered(m *predict.Model) (x gauss.Batch[float32], err error) {
	if m.Memory == nil || m.Memory.Cells == "" {
		return x, nil
	}
	lines := &delimited.Lines{}
	for _, name := range m.Memory.Columns {
		lines.Text(name)
	}
	lines.End()
	var text bytes.Buffer
	if err := lines.Flush(&text); err != nil {
		return x, err
	}
	text.WriteString(m.Memory.Cells)
	r, err := table.NewReader(&text, "memory", table.Options{Header: table.WithHeader, Delimiter: ',', Decimal: '.'})
	if err != nil {
		return x, err
	}
	defer r.Close()
	return m.ReadInputs(r, 0)
}

// loss is what is made small.
func (p *picker) loss(f float64) float64 {
	switch p.config.Goal {
	case Max:
		return -f
	case Near:
		return math.Abs(f - p.config.At)
	}
	return f
}

// improve picks rows by their expected improvement on what is best by then, in each draw.
func (p *picker) improve(ctx context.Context) ([]Suggestion, error) {
	draws := p.values[0]
	best := make([]float64, len(draws))
	for s := range best {
		best[s] = p.best
	}
	blur := make([]float64, p.rows)
	for row := range blur {
		blur[row] = smooth * math.Sqrt(p.variance(0, row))
	}
	first := make([]float64, p.rows)
	gains := make([]float64, p.rows)
	pool := compute.NewPool(compute.Workers(0))
	defer pool.Close()
	var all []Suggestion
	const part = 64
	for len(all) < p.config.Count {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		pool.Run((p.rows+part-1)/part, func(_, task int) {
			for row := task * part; row < min(p.rows, (task+1)*part); row++ {
				var sum float64
				for s, d := range draws {
					sum += ahead(best[s]-p.loss(d[row]), blur[row])
				}
				gains[row] = sum / float64(len(draws)) * p.factor[row]
				if len(all) == 0 {
					first[row] = sum / float64(len(draws))
				}
			}
		})
		row := p.top(gains)
		if row < 0 {
			break
		}
		p.taken[row] = true
		x := p.suggestion(row, gains[row])
		x.Expected = first[row]
		x.Chance = p.chance(row, blur[row])
		x.Why = p.why(x, len(all) > 0 && gains[row] < 0.7*x.Expected*p.factor[row])
		all = append(all, x)
		for s, d := range draws {
			best[s] = min(best[s], p.loss(d[row]))
		}
		p.sharpen(blur, row)
	}
	if len(all) == 0 {
		return nil, ErrNone
	}
	return all, nil
}

// sharpen lowers the blur of rows that the one picked says something about: of what two rows have in
// common, draws tell all.
func (p *picker) sharpen(blur []float64, picked int) {
	draws := p.values[0]
	n := float64(len(draws))
	moments := func(row int) (mean, own, with float64) {
		var at float64
		for _, d := range draws {
			mean += d[row] / n
			at += d[picked] / n
		}
		for _, d := range draws {
			own += (d[row] - mean) * (d[row] - mean) / n
			with += (d[row] - mean) * (d[picked] - at) / n
		}
		return mean, own, with
	}
	_, variance, _ := moments(picked)
	for row := range blur {
		_, own, with := moments(row)
		if own > 0 && variance > 0 {
			blur[row] = min(blur[row], smooth*math.Sqrt(max(0, own-with*with/variance)))
		}
	}
}

// ahead is E max(0, d + sd·z).
func ahead(d, sd float64) float64 {
	if !(sd > 0) {
		return max(0, d)
	}
	z := d / sd
	return d*special.CDF(z) + sd*math.Exp(-z*z/2)/math.Sqrt(2*math.Pi)
}

// chance is the probability that f beats the best known.
func (p *picker) chance(row int, blur float64) float64 {
	var sum float64
	for _, d := range p.values[0] {
		behind := p.loss(d[row]) - p.best
		if blur > 0 {
			sum += special.CDF(-behind / blur)
		} else if behind < 0 {
			sum++
		}
	}
	return sum / float64(len(p.values[0]))
}

func (p *picker) why(x Suggestion, less bool) string {
	best := "to be below " + notation.Short(p.best, 4)
	switch p.config.Goal {
	case Max:
		best = "to be above " + notation.Short(-p.best, 4)
	case Near:
		best = fmt.Sprintf("to be within %s of %s", notation.Short(p.best, 3), notation.Short(p.config.At, 4))
	}
	text := fmt.Sprintf("%.0f %% chance %s", 100*x.Chance, best)
	if less {
		text += "; less is gained where rows above say the same"
	}
	return text + unlike(x)
}

// unlike notes a row that is unlike those that were learned.
func unlike(x Suggestion) string {
	if x.OOD > 1 {
		return "; unlike the training rows"
	}
	return ""
}
