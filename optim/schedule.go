// Package optim turns gradients into steps: AdamW, schedules of the learning rate, and
// schedules of the KL term. A schedule is a plain function.
package optim

import "math"

// A Schedule returns the learning rate of a step. Steps count from 1.
type Schedule func(step int) float64

// Constant returns the same rate at every step.
func Constant(rate float64) Schedule {
	return func(int) float64 { return rate }
}

// Cosine returns a schedule that falls from rate to zero over the given steps, along
// half a cosine.
func Cosine(rate float64, steps int) Schedule {
	return func(step int) float64 {
		x := min(1, float64(step-1)/float64(max(1, steps)))
		return rate * 0.5 * (1 + math.Cos(math.Pi*x))
	}
}

// WarmUp returns a schedule that rises linearly to s over the first steps.
func WarmUp(steps int, s Schedule) Schedule {
	return func(step int) float64 {
		if step >= steps {
			return s(step)
		}
		return s(step) * float64(step) / float64(steps)
	}
}

// A KLSchedule returns the weight of the KL term at a step and its epoch; both count
// from 1. The weight multiplies KL/N, which is added to the mean negative
// log-likelihood of a row; the trainer knows N. A weight of 1 is the evidence lower
// bound.
type KLSchedule func(epoch, step int) float64

// FullKL returns the weight 1 at every step: the choice for a finite table.
func FullKL() KLSchedule {
	return func(int, int) float64 { return 1 }
}

// WarmUpKL returns a weight that rises linearly to 1 over the first steps.
func WarmUpKL(steps int) KLSchedule {
	return func(_, step int) float64 {
		return min(1, float64(step)/float64(max(1, steps)))
	}
}

// PaperKL returns the paper's schedule φ(l) = 2^(M−l)/(2^M−1) for epochs l = 1 … M.
// Its weights sum to 1 over the epochs and almost vanish after about twenty epochs. It
// is meant for data generated on the fly. On a finite table it overfits: use FullKL
// there.
func PaperKL(epochs int) KLSchedule {
	return func(epoch, _ int) float64 {
		return math.Ldexp(1, -epoch) / (1 - math.Ldexp(1, -max(1, epochs)))
	}
}
