package tabular

import (
	"math"
	"slices"

	"utvi/model"
)

// Classes that are numbers, such as grades, often follow a number behind them. Where they do, a network
// needs no output of its own for each class. Of a class with rank r the logit is
//
//	a·r − b·r²/2 + c
//
// with a and b from the network and c from the share of the class: of a Normal over the ranks, b is the
// precision, and a/b the mean. The three columns are where training begins; it may change them.

// inOrder are candidates with ranks: a network, and the linear ones.
func inOrder(all []Candidate) (more []Candidate) {
	for i, x := range all {
		if i == 0 || x.Depth == 0 {
			x.Ranked = true
			more = append(more, x)
		}
	}
	return more
}

// mostRanked is the largest number of classes that are tried in order.
const mostRanked = 12

// RanksOf are Ranks of classes with rising values; nil for fewer than three classes, or many.
func RanksOf(values []float64) []float64 {
	n := float64(len(values))
	if len(values) < 3 || len(values) > mostRanked {
		return nil
	}
	var mean, square float64
	for _, v := range values {
		mean += v / n
	}
	for _, v := range values {
		square += (v - mean) * (v - mean) / n
	}
	ranks := slices.Clone(values)
	for i, v := range values {
		ranks[i] = (v - mean) / math.Sqrt(square)
	}
	return ranks
}

// rank begins the last layer of a network with the ranks and the shares of the classes.
func (d Data) rank(m *model.Model) {
	shares := make([]float64, d.Classes)
	for i, y := range d.Y {
		shares[int(y)] += d.weight(i)
	}
	all := m.Params.Tensors
	weights, biases := all[len(all)-2], all[len(all)-1]
	set(weights, func(i int) (float64, float64) {
		if r := d.Ranks[i%d.Classes]; i < d.Classes {
			return r, 0
		} else {
			return -r * r / 2, 0
		}
	})
	set(biases, func(i int) (float64, float64) { return math.Log((shares[i] + 1) / (d.total() + float64(d.Classes))), 0 })
	m.Changed()
}
