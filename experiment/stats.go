package experiment

import (
	"math"
	"slices"
)

// meanSD returns the mean and the n−1 standard deviation, 0 for one number.
func meanSD(x []float64) (mean, sd float64) {
	for _, v := range x {
		mean += v
	}
	mean /= float64(len(x))
	if len(x) < 2 {
		return mean, 0
	}
	for _, v := range x {
		sd += (v - mean) * (v - mean)
	}
	return mean, math.Sqrt(sd / float64(len(x)-1))
}

// auroc is the area under the receiver operating characteristic: the probability
// that one of high exceeds one of low, ties counting half. It is computed from
// ranks (Mann–Whitney).
func auroc(low, high []float64) float64 {
	low = slices.Clone(low)
	slices.Sort(low)
	var sum float64
	for _, x := range high {
		below, _ := slices.BinarySearch(low, x)
		upTo := below
		for upTo < len(low) && low[upTo] == x {
			upTo++
		}
		sum += float64(below+upTo) / 2
	}
	return sum / float64(len(low)) / float64(len(high))
}
