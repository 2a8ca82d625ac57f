package likelihood

import (
	"fmt"
	"math"

	"utvi/gauss"
)

// Outputs says how a likelihood reads the outputs of a network.
type Outputs struct {
	// Classes is set if the outputs are the probabilities of the classes of one
	// target, rather than one target each.
	Classes bool

	// Ends names a last layer whose outputs fit the likelihood, if plain weighted
	// sums, which can be any number, would be misread; otherwise it is "".
	Ends string

	// OwnNoise is set if the likelihood itself contains the noise, as a number or as
	// an output: the variances of the outputs contain none.
	OwnNoise bool

	// NoNoiseLayer is set if the network must not add noise: no nn.Noise.
	NoNoiseLayer bool

	// Floor is the smallest variance of a predicted number; 0: no limit.
	Floor float64
}

// Describer is implemented by likelihoods that say how they read outputs.
type Describer interface{ Outputs() Outputs }

// Splitter is implemented by likelihoods that separate doubt and noise.
type Splitter interface {
	// Split writes, for the outputs of one row, the mean and variance of each target:
	// doubt is the part that comes from the variance of the outputs, noise is the
	// rest. For classes, the targets are their probabilities. Split works in float32,
	// as networks predict, and keeps numbers within 1e30, so that sums stay finite.
	Split(mean, variance, ymean, doubt, noise []float32)
}

// A Wrapper is a likelihood that changes how another one counts, such as Weighted. The
// inner likelihood says what the outputs mean.
type Wrapper interface {
	Likelihood
	Unwrap() Likelihood
	Wrap(inner Likelihood) Likelihood // a copy of the wrapper around inner
}

// Inner returns the likelihood inside all wrappers.
func Inner(l Likelihood) Likelihood {
	for {
		w, ok := l.(Wrapper)
		if !ok || w.Unwrap() == nil {
			return l
		}
		l = w.Unwrap()
	}
}

// Describe returns how a likelihood reads outputs; the zero value if it does not say.
func Describe(l Likelihood) Outputs {
	if d, ok := Inner(l).(Describer); ok {
		return d.Outputs()
	}
	return Outputs{}
}

// most bounds what Split writes.
const most = 1e30

// Outputs implements Describer.
func (l Normal) Outputs() Outputs { return Outputs{Floor: l.floor()} }

// Split implements Splitter: noise, if any, is part of the variance that the network
// propagates.
func (Normal) Split(mean, variance, ymean, doubt, noise []float32) {
	copy(ymean, mean)
	copy(doubt, variance)
	clear(noise)
}

// Outputs implements Describer.
func (l ExpectedNormal) Outputs() Outputs {
	return Outputs{OwnNoise: true, NoNoiseLayer: true, Floor: l.Std * l.Std}
}

// Split implements Splitter.
func (l ExpectedNormal) Split(mean, variance, ymean, doubt, noise []float32) {
	copy(ymean, mean)
	copy(doubt, variance)
	for i := range noise {
		noise[i] = float32(min(l.Std*l.Std, most))
	}
}

// Outputs implements Describer.
func (l Heteroscedastic) Outputs() Outputs { return Outputs{OwnNoise: true, Floor: l.floor()} }

// Split implements Splitter.
func (l Heteroscedastic) Split(mean, variance, ymean, doubt, noise []float32) {
	k := len(ymean)
	copy(ymean, mean)
	copy(doubt, variance)
	for i := range noise {
		noise[i] = float32(min(l.noise(i, float64(mean[k+i]+variance[k+i]/2)), most))
	}
}

// Outputs implements Describer.
func (Poisson) Outputs() Outputs { return Outputs{OwnNoise: true} }

// Split implements Splitter: a count with a known rate has that rate as its variance.
func (Poisson) Split(mean, variance, ymean, doubt, noise []float32) {
	for i, v := range variance {
		rate := math.Exp(min(float64(mean[i])+float64(v)/2, 69))
		ymean[i], noise[i] = float32(rate), float32(rate)
		doubt[i] = float32(min(rate*rate*math.Expm1(min(float64(v), 600)), most))
	}
}

// Outputs implements Describer.
func (l Bernoulli) Outputs() Outputs {
	return Outputs{OwnNoise: true, Ends: "nn.Apply{F: fn.Sigmoid()}"}
}

// Split implements Splitter: the part of p(1−p) about which the networks disagree is
// doubt.
func (Bernoulli) Split(mean, variance, ymean, doubt, noise []float32) {
	for i, p := range mean {
		p = min(max(p, 0), 1)
		ymean[i], doubt[i] = p, min(variance[i], p*(1-p))
		noise[i] = p*(1-p) - doubt[i]
	}
}

// Outputs implements Describer.
func (l Categorical) Outputs() Outputs {
	return Outputs{Classes: true, OwnNoise: true, Ends: "nn.Joint{Map: fn.Softmax()}"}
}

// Split implements Splitter: doubt is the variance of each probability.
func (Categorical) Split(mean, variance, ymean, doubt, noise []float32) {
	copy(ymean, mean)
	copy(doubt, variance)
	clear(noise)
}

// Moments returns the mean and variance, including noise, of each target of every row
// of a network's outputs; for classes, their probabilities and the variances of those.
// A nil likelihood means Normal.
func Moments(l Likelihood, out gauss.Batch[float32]) (gauss.Batch[float32], error) {
	none := gauss.Batch[float32]{}
	if l == nil {
		l = Normal{}
	}
	l = Inner(l)
	if len(out.Mean) != out.Rows*out.Width || out.Var != nil && len(out.Var) != len(out.Mean) {
		return none, fmt.Errorf("likelihood %v: %d rows of %d outputs do not hold %d means and %d variances", l, out.Rows, out.Width, len(out.Mean), len(out.Var))
	}
	reader, err := NewReader(l, out.Width)
	if err != nil {
		return none, err
	}
	k := reader.Numbers
	variance := out.Var
	if variance == nil {
		variance = make([]float32, len(out.Mean))
	}
	y, noise := gauss.New[float32](out.Rows, k), make([]float32, k)
	for r := range out.Rows {
		lo, hi := r*out.Width, (r+1)*out.Width
		doubt := y.Var[r*k : (r+1)*k]
		reader.Split(out.Mean[lo:hi], variance[lo:hi], y.Mean[r*k:(r+1)*k], doubt, noise)
		for i, n := range noise {
			doubt[i] += n
		}
	}
	return y, nil
}
