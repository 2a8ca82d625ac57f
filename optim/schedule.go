// Package optim holds what turns gradients into steps: AdamW, schedules of the
// learning rate, and schedules of the KL term. A schedule is a plain function.
package optim

import "math"

// A Schedule gives the learning rate of a step; steps count from 1.
type Schedule func(step int) float64

// Constant is the same rate at every step.
func Constant(rate float64) Schedule {
	return func(int) float64 { return rate }
}

// Cosine falls from rate to zero over steps, along half a cosine.
func Cosine(rate float64, steps int) Schedule {
	return func(step int) float64 {
		x := min(1, float64(step-1)/float64(max(1, steps)))
		return rate * 0.5 * (1 + math.Cos(math.Pi*x))
	}
}

// WarmUp rises linearly to what s gives over the first steps.
func WarmUp(steps int, s Schedule) Schedule {
	return func(step int) float64 {
		if step >= steps {
			return s(step)
		}
		return s(step) * float64(step) / float64(steps)
	}
}

// A KLSchedule weighs the KL term at a step of the training and the epoch it falls
// into, both counted from 1. The weight multiplies KL/N against the mean negative
// log-likelihood of a row; N is the trainer's to know. A weight of 1 is the
// evidence lower bound.
type KLSchedule func(epoch, step int) float64

// FullKL weighs the KL by 1: the choice for a finite table.
func FullKL() KLSchedule {
	return func(int, int) float64 { return 1 }
}

// WarmUpKL rises linearly to 1 over the first steps.
func WarmUpKL(steps int) KLSchedule {
	return func(_, step int) float64 {
		return min(1, float64(step)/float64(max(1, steps)))
	}
}

// PaperKL is the paper's φ(l) = 2^(M−l)/(2^M−1) for epochs l = 1 … M: it sums to
// 1 over the epochs and all but vanishes after some twenty. It is meant for data
// generated on the fly; on a finite table it overfits: use FullKL.
func PaperKL(epochs int) KLSchedule {
	return func(epoch, _ int) float64 {
		return math.Ldexp(1, -epoch) / (1 - math.Ldexp(1, -max(1, epochs)))
	}
}
