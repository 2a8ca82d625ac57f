package tabular

import "slices"

// edgeRows is how many rows the edges of a column are taken from.
const edgeRows = 20_000

// edges are quantiles of every input, which cut it into at most c.Bins intervals; nil
// without bins. An input of one or two values, such as a category's, has none, and neither
// has the number of a level.
func (c Candidate) edges(d Data) [][]float64 {
	if c.Bins == 0 {
		return nil
	}
	w, step := d.X.Width, (d.X.Rows+edgeRows-1)/edgeRows
	all, column := make([][]float64, w), make([]float32, 0, d.X.Rows/step+1)
	for j := range all {
		if d.numbersLevels(j) {
			continue
		}
		column = column[:0]
		for i := 0; i < d.X.Rows; i += step {
			column = append(column, d.X.Mean[i*w+j])
		}
		all[j] = cut(column, c.Bins)
	}
	return all
}

// cut returns the edges of intervals with about equally many numbers. Numbers that occur
// often make fewer intervals.
func cut(column []float32, bins int) []float64 {
	slices.Sort(column)
	distinct := slices.Compact(slices.Clone(column))
	if len(distinct) < 3 {
		return nil
	}
	var edges []float64
	add := func(x float32) {
		const least = 1e-5 // between edges: inputs are of unit size
		if n := len(edges); n == 0 || float64(x) > edges[n-1]+least {
			edges = append(edges, float64(x))
		}
	}
	if len(distinct) <= bins {
		for _, x := range distinct {
			add(x)
		}
	} else {
		for k := range bins + 1 {
			add(column[(len(column)-1)*k/bins])
		}
	}
	if len(edges) < 2 {
		return nil
	}
	return edges
}
