package fit

import (
	"math"

	"utvi/dist"
	"utvi/gauss"
	"utvi/internal/schema"
	"utvi/predict"
)

func dependence(l looker, rows gauss.Batch[float32], s schema.Span) Dependence {
	d := Dependence{Column: *s.Column}
	d.Values, d.Log = grid(s.Column)
	least := make([]float64, len(l.targets)) // that logarithms are taken of
	for t, c := range l.targets {
		d.Targets = append(d.Targets, Curve{Name: c.Name})
		if w := l.m.Net.Warp(t); w != nil && w.Positive && w.Lambda < 0.5 {
			d.Targets[t].Log, least[t] = true, w.Low*c.SD/10
		}
	}
	curves := d.Targets
	if l.m.Classes() != nil {
		for _, level := range l.targets[0].Levels {
			d.Classes = append(d.Classes, Curve{Name: level})
		}
		curves, d.Targets = d.Classes, nil
	}
	x := copyBatch(rows)
	for _, v := range d.Values {
		for row := range x.Rows {
			set(x, row, s, v)
		}
		sums := make([]curveSum, len(curves))
		l.each(x, func(b *predict.Batch, _, at int) {
			if l.m.Classes() != nil {
				for k, p := range b.Classes(at) {
					sums[k].mean += p
					sums[k].square += p * p
				}
				return
			}
			for k := range curves {
				sums[k].add(b.Dist(at, k), least[k])
			}
		})
		for k := range curves {
			curves[k].append(sums[k], float64(x.Rows), d.Classes != nil, l.m.Counts())
		}
	}
	return d
}

// A curveSum adds up the predictions of rows: means and variances, or logarithms of medians
// and half widths.
type curveSum struct{ mean, square float64 }

func (s *curveSum) add(p dist.Dist, least float64) {
	if least == 0 {
		s.mean += p.Mean()
		s.square += p.SD() * p.SD()
		return
	}
	log := func(q float64) float64 { return math.Log(max(p.Quantile(q), least)) }
	s.mean += log(0.5)
	s.square += (log(0.84) - log(0.16)) / 2
}

// append adds the mean over n rows. The band of a class says how far the rows differ; that
// of a count does not reach below 0.
func (c *Curve) append(s curveSum, n float64, class, count bool) {
	mean, half := s.mean/n, math.Sqrt(s.square/n)
	if class {
		half = math.Sqrt(max(0, s.square/n-mean*mean))
	}
	lo, hi := mean-half, mean+half
	switch {
	case c.Log:
		half = s.square / n
		lo, hi = math.Exp(mean-half), math.Exp(mean+half)
		mean = math.Exp(mean)
	case count:
		lo = max(0, lo)
	}
	c.Mean = append(c.Mean, mean)
	c.Lo = append(c.Lo, lo)
	c.Hi = append(c.Hi, hi)
}

// grid are the values of a column that a dependence is shown at: its range, a tenth wider
// on either side, so that one sees what lies beyond the rows. Values that look like marks
// of something else take no part. Of a skewed column they are spaced by their logarithm
// or, if not all are positive, span its central 98 %.
func grid(c *schema.Column) (v []float64, log bool) {
	if c.Type == schema.Categorical {
		v = make([]float64, min(len(c.Levels), mostLevels))
		for i := range v {
			v[i] = float64(i)
		}
		return v, false
	}
	const wide, tail = 100, 2.33
	lo, hi := c.Body()
	margin := (hi - lo) / 10
	if c.Skewed() {
		log = lo > 0 && hi > wide*lo
		if log {
			lo, hi = math.Log(lo), math.Log(hi)
			margin = (hi - lo) / 10
		} else if from, to := max(lo, c.Decode(-tail)), min(hi, c.Decode(tail)); to > from {
			lo = from
			hi = to
			margin = 0
		}
	}
	from, to := lo-margin, hi+margin
	if !log && c.Type == schema.Numeric && lo >= 0 { // no area, age or concentration is negative
		from = max(0, from)
	}
	v = make([]float64, gridPoints)
	for i := range v {
		f := float64(i) / (gridPoints - 1)
		v[i] = from*(1-f) + to*f
		if log {
			v[i] = math.Exp(v[i])
		}
	}
	return v, log
}

// set gives a row another value of a column; a number keeps its uncertainty.
func set(x gauss.Batch[float32], row int, s schema.Span, v float64) {
	in := x.Mean[row*x.Width+s.From : row*x.Width+s.To]
	switch {
	case s.Column.Embedded:
		in[0] = float32(v)
		return
	case s.Column.Type == schema.Categorical:
		clear(in)
		in[int(v)] = 1
		return
	}
	s.Column.Place(v, in)
}
