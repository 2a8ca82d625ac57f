package engine

import (
	"utvi/gauss"
	"utvi/internal/compute"
)

// Abilities are what some engines can do and others cannot. The zero value stands for none of
// them. They are fields, not interfaces that an engine may implement: an engine that wraps
// another passes them on, or leaves them out, where one can see it.
type Abilities[T gauss.Float] struct {
	// Card is the name of the card that networks run on; "" if there is none.
	Card string
	// Concurrent is how many trainings at a time suit the engine, whatever the number of cores:
	// side by side they take less time than one after the other. 0 leaves it to the cores.
	Concurrent int
	// NewEnsemble returns a predictor of several programs for batches of at most maxRows rows. It
	// returns false if they gain nothing by it, such as programs of different engines.
	NewEnsemble func(programs []Program[T], pool *Pool, maxRows int) (EnsemblePredictor[T], bool)
	// NewIntervals returns intervals of at most the given number of numbers, each of which
	// the given number of members predict. Number i belongs to target i % len(shapes).
	NewIntervals func(members, most int, shapes []Shape) (Intervals, error)
}

// Beside returns how many trainings to run at a time on an engine; nil stands for the
// CPU. A number n below 1 lets the engine choose.
func Beside(e Engine[float32], n int) int {
	if e != nil && n < 1 {
		if suits := e.Abilities().Concurrent; suits > 0 {
			return suits
		}
	}
	return compute.Workers(n)
}

// An EnsemblePredictor runs batches through several programs. Each row is sent to the engine
// once.
type EnsemblePredictor[T gauss.Float] interface {
	// PredictAll is Predict of every program, in the order of NewEnsemble.
	PredictAll(x gauss.Batch[T], outs []gauss.Batch[T])
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
