// Package gauss holds batches of Gaussians: means, variances and, where the Gaussians
// of a row are correlated, covariances.
package gauss

// A Batch is rows × width Gaussians, row-major. A nil Var means that every
// variance is zero.
type Batch[T Float] struct {
	Rows, Width int
	Mean, Var   []T

	// Cov holds the covariances where the Gaussians of a row are correlated: rows ×
	// width × width numbers, symmetric, with Var on the diagonal. It is nil otherwise.
	Cov []T
}

// New returns a batch of zero means and zero variances.
func New[T Float](rows, width int) Batch[T] {
	if rows < 0 || width < 0 {
		panic("gauss: rows and width must be ≥ 0")
	}
	return Batch[T]{Rows: rows, Width: width, Mean: make([]T, rows*width), Var: make([]T, rows*width)}
}

// Fixed returns a batch of the given values without variance, with width values in
// each row. The batch shares the memory of mean.
func Fixed[T Float](width int, mean []T) Batch[T] {
	if width < 1 || len(mean)%width != 0 {
		panic("gauss: the number of values must be a multiple of the width")
	}
	return Batch[T]{Rows: len(mean) / width, Width: width, Mean: mean}
}

// FromStd returns a batch of the given values and their standard deviations, with
// width values in each row. The batch shares the memory of mean.
func FromStd[T Float](width int, mean, std []T) Batch[T] {
	b := Fixed(width, mean)
	if len(std) != len(mean) {
		panic("gauss: each value needs a standard deviation")
	}
	b.Var = make([]T, len(std))
	for i, s := range std {
		if s < 0 {
			panic("gauss: a standard deviation is negative")
		}
		b.Var[i] = s * s
	}
	return b
}

// Slice returns rows [lo, hi) of the batch, in the same memory.
func (b Batch[T]) Slice(lo, hi int) Batch[T] {
	s := Batch[T]{Rows: hi - lo, Width: b.Width, Mean: b.Mean[lo*b.Width : hi*b.Width]}
	if b.Var != nil {
		s.Var = b.Var[lo*b.Width : hi*b.Width]
	}
	if b.Cov != nil {
		s.Cov = b.Cov[lo*b.Width*b.Width : hi*b.Width*b.Width]
	}
	return s
}
