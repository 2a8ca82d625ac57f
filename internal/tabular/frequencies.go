package tabular

import (
	"slices"

	"utvi/rng"
)

// frequencies are starting values for every input, c.Waves each; nil without waves. An
// input of one or two values, or that numbers the levels of a category, has none.
func (c Candidate) frequencies(d Data, seed uint64) [][]float64 {
	if c.Waves == 0 {
		return nil
	}
	all, key := make([][]float64, d.X.Width), rng.New(seed)
	for j := range all {
		if d.numbersLevels(j) || !severalValues(d, j) {
			continue
		}
		for k := range c.Waves {
			all[j] = append(all[j], c.Pitch*rng.Normal(key.Sub(uint64(j), 9), uint64(k)))
		}
	}
	return all
}

// severalValues says whether input j has more than two values.
func severalValues(d Data, j int) bool {
	var seen []float32
	for i := range d.X.Rows {
		if x := d.X.Mean[i*d.X.Width+j]; !slices.Contains(seen, x) {
			seen = append(seen, x)
			if len(seen) > 2 {
				return true
			}
		}
	}
	return false
}
