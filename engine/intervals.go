package engine

// An Intervaler is an engine that finds the intervals of many mixtures at a time.
type Intervaler interface {
	// NewIntervals returns intervals of at most the given number of numbers, each of which
	// the given number of members predict. Number i belongs to target i % len(shapes).
	NewIntervals(members, most int, shapes []Shape) (Intervals, error)
}

// A Shape is what becomes of a member's Normal: a mixture of Normals with the same mean,
// whose variances are Factors times that of the member.
type Shape struct{ Weights, Factors []float64 }

// Intervals finds central intervals. It must be used by one goroutine at a time.
type Intervals interface {
	// Find writes the ends of the intervals of the first n numbers, given what each member
	// predicts. An end is not finite if a prediction is not.
	Find(level float64, n int, mean, variance [][]float32, lo, hi []float64) error
}
