package nn

import (
	"fmt"
	"math"

	"utvi/gauss"
	"utvi/internal/compute"
)

// BatchNorm normalises each channel by a mean and a variance over rows and places: (x −
// Mean)/√(Var + Eps)·Gain + Offset. With Mean and Var it is frozen, as in a network that was
// trained elsewhere. BatchNorm{} learns gains and offsets, and each training step moves its mean and
// variance towards those of the step's batch; within a step these are fixed, so that rows stay apart.
// Gradients leave out what that normalisation would undo, by the mean gradients of earlier batches.
type BatchNorm struct {
	Mean   []float64 `json:"mean,omitempty"`   // nil, like Var: learned
	Var    []float64 `json:"var,omitempty"`    // what units vary by, over rows and by their own variances
	Gain   []float64 `json:"gain,omitempty"`   // nil means ones
	Offset []float64 `json:"offset,omitempty"` // nil means zeros
	Eps    float64   `json:"eps,omitempty"`    // 0 means 1e-5
}

// Kind is "batchnorm", as model files and the names of parameters have it.
func (BatchNorm) Kind() string { return "batchnorm" }

// TakesCovariances implements CovarianceTaker: covariances pass the layer.
func (BatchNorm) TakesCovariances() bool { return true }

// Bind32 folds the statistics into a slope and a constant for each channel. It declares nothing, or
// gain, offset, mean and variance of each channel if they are learned.
func (l BatchNorm) Bind32(b *Binder[float32]) (Unit[float32], error) { return bindBatchNorm(l, b) }

// Bind64 is Bind32 in float64, in which gradients are checked.
func (l BatchNorm) Bind64(b *Binder[float64]) (Unit[float64], error) { return bindBatchNorm(l, b) }

type batchNorm[T gauss.Float] struct {
	Stateless
	Weightless[T]
	shape           Shape
	slope, constant []T // per channel
}

func bindBatchNorm[T gauss.Float](l BatchNorm, b *Binder[T]) (Unit[T], error) {
	n := b.In.C
	if l.learned() {
		return bindLearnedNorm(l, b)
	}
	for i, x := range [][]float64{l.Mean, l.Var, l.Gain, l.Offset} {
		name := []string{"Mean", "Var", "Gain", "Offset"}[i]
		if optional := i >= 2; len(x) != n && !(x == nil && optional) {
			return nil, fmt.Errorf("%s has %d numbers; the input has %d channels", name, len(x), n)
		}
		for j, v := range x {
			if !compute.Finite(v) || name == "Var" && v < 0 {
				return nil, fmt.Errorf("%s[%d] is %v; numbers must be finite, and variances ≥ 0", name, j, v)
			}
		}
	}
	if _, err := orEps(l.Eps); err != nil {
		return nil, err
	}
	u := &batchNorm[T]{Stateless: Stateless(b.Form), shape: b.In, slope: make([]T, n), constant: make([]T, n)}
	slope, constant := l.Affine()
	compute.Convert(u.slope, slope)
	compute.Convert(u.constant, constant)
	return u, nil
}

func (l BatchNorm) learned() bool {
	return l.Mean == nil && l.Var == nil && l.Gain == nil && l.Offset == nil
}

// Affine returns the map as slope·x + constant, for each channel. A layer that learns needs the
// numbers of its tensors: gain, offset, mean, variance and what follows.
func (l BatchNorm) Affine(tensors ...[]float64) (slope, constant []float64) {
	if l.learned() {
		if len(tensors) < 4 {
			panic("nn: a BatchNorm that learns is a map with the numbers of its tensors only")
		}
		l.Gain, l.Offset = tensors[0], tensors[1]
		l.Mean, l.Var = tensors[2], tensors[3]
	}
	eps, _ := orEps(l.Eps)
	for i, m := range l.Mean {
		a, c := 1/math.Sqrt(l.Var[i]+eps), 0.0
		if l.Gain != nil {
			a *= l.Gain[i]
		}
		if l.Offset != nil {
			c = l.Offset[i]
		}
		slope, constant = append(slope, a), append(constant, c-a*m)
	}
	return slope, constant
}

func orEps(eps float64) (float64, error) {
	if !(eps >= 0) || math.IsInf(eps, 0) {
		return 0, fmt.Errorf("the field Eps is %v; it must be a number > 0, or 0 for 1e-5", eps)
	}
	if eps == 0 {
		return 1e-5, nil
	}
	return eps, nil
}

func (u *batchNorm[T]) Out() Shape                    { return u.shape }
func (u *batchNorm[T]) NewRunner(int, bool) Runner[T] { return u }

func (u *batchNorm[T]) Forward(p *Pass[T])  { straight(p, u.slope, u.constant, u.Form()) }
func (u *batchNorm[T]) Backward(p *Pass[T]) { straightBack(p, u.slope, u.Form()) }

func (u *batchNorm[T]) Follow(int)            {}
func (u *batchNorm[T]) Sense(s *Sense[T])     { s.PassOnScaled(u.slope) }
func (u *batchNorm[T]) SenseBack(s *Sense[T]) { s.PassOnScaledBack(u.slope, nil) }
