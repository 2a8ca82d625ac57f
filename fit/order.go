package fit

import (
	"math"
	"slices"

	"utvi/internal/advice"
	"utvi/internal/schema"
	"utvi/internal/tabular"
)

// inOrder names a column of times in whose order the rows stand: scores of rows in between
// say little about later rows.
func (s survey) inOrder() []Warning {
	const fewest = 20
	d := s.data
	if d.Ordered || d.Groups != nil || d.X.Rows < fewest {
		return nil
	}
	for _, span := range s.schema.Spans() {
		if span.Column.Type != schema.Times || !sorted(d, span.From) {
			continue
		}
		name := span.Column.Name
		return warning("the rows are in the order of %s: if later rows are to be predicted, the scores of rows held out at random are too good (%v to hold out the latest rows)",
			name, advice.Set("Time", name))
	}
	return nil
}

// sorted reports whether an input never falls, or never rises, from row to row.
func sorted(d *tabular.Data, input int) bool {
	up, down := true, true
	for i := 1; i < d.X.Rows; i++ {
		a := d.X.Mean[(i-1)*d.X.Width+input]
		b := d.X.Mean[i*d.X.Width+input]
		up = up && b >= a
		down = down && b <= a
	}
	return up || down
}

// outliers counts the values of a target that are far from all others, and returns the
// farthest: more than ten times the distance of the quartiles beyond them and, if all values
// are above 0, more than five times by their logarithms.
func outliers(d *tabular.Data, target int, c schema.Column) (n int, worst float64) {
	var y []float64
	for i := target; i < len(d.Y); i += d.Outputs() {
		y = append(y, float64(d.Y[i])*c.SD+c.Mean)
	}
	far := beyond(y)
	if c.Min > 0 {
		logs := make([]float64, len(y))
		for i, v := range y {
			logs[i] = math.Log(max(v, c.Min)) // y is rounded
		}
		for i, f := range beyond(logs) {
			far[i] = min(far[i], 2*f)
		}
	}
	most := 0.0
	for i, f := range far {
		if f > 10 {
			n++
		}
		if f > most {
			most, worst = f, y[i]
		}
	}
	const share = 0.02 // more are a part of the distribution
	if float64(n) > max(1, share*float64(len(y))) {
		return 0, 0
	}
	return n, worst
}

// beyond is how far numbers lie beyond their quartiles, by the distance of these.
func beyond(y []float64) []float64 {
	sorted := slices.Sorted(slices.Values(y))
	low, high := sorted[len(y)/4], sorted[3*len(y)/4]
	far := make([]float64, len(y))
	for i, v := range y {
		if high > low {
			far[i] = max(low-v, v-high) / (high - low)
		}
	}
	return far
}
