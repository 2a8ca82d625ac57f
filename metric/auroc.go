package metric

import (
	"math"
	"slices"
)

// AUROC returns the probability that a random element of high is greater than a random
// element of low, where equal elements count half: the area under the receiver
// operating characteristic. It says how well a score separates two groups; ½ is
// chance. It is NaN if a group is empty.
func AUROC(low, high []float64) float64 {
	if len(low) == 0 || len(high) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(low))
	var sum float64
	for _, x := range high {
		below, _ := slices.BinarySearch(sorted, x)
		upTo, _ := slices.BinarySearch(sorted, math.Nextafter(x, math.Inf(1)))
		sum += float64(below+upTo) / 2
	}
	return sum / float64(len(low)) / float64(len(high))
}
