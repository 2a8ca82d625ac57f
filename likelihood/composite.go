package likelihood

import (
	"errors"
	"fmt"
	"math"
	"strings"
)

// A Composite is a likelihood that gives parts of the outputs to others.
type Composite interface {
	Likelihood
	Children() []Likelihood
	WithChildren(children []Likelihood) Likelihood // a copy made of others, as many
}

// PerPlace scores each place of an image, or each token of a sequence, by Of: pixels with a
// learned noise each (Heteroscedastic), pixels with a class each (Categorical). The outputs of a
// row are places of Channels numbers, one place after the other, as images are; so are the
// targets. Of a Weighted makes the last target of each place its weight, 0 where nothing is known.
//
// The score of a row is the sum over its places, as if their errors were independent.
type PerPlace struct {
	Of       Likelihood `json:"-"`
	Channels int        `json:"channels"` // of a place; 0: a trainer takes the network's
}

// Kind implements Likelihood.
func (PerPlace) Kind() string { return "per place" }

// Children implements Composite.
func (l PerPlace) Children() []Likelihood { return []Likelihood{l.Of} }

// WithChildren implements Composite.
func (l PerPlace) WithChildren(children []Likelihood) Likelihood {
	l.Of = children[0]
	return l
}

// String implements Likelihood.
func (l PerPlace) String() string { return fmt.Sprintf("%v per place", l.Of) }

// NeedsVariance implements Likelihood.
func (l PerPlace) NeedsVariance() bool { return l.Of.NeedsVariance() }

// Targets implements Likelihood: those of Of, for every place.
func (l PerPlace) Targets(outputs int) (int, error) {
	switch {
	case l.Of == nil:
		return 0, errors.New("likelihood per place: no likelihood for a place; set Of")
	case l.Channels < 1:
		return 0, fmt.Errorf("likelihood %v: a place has %d channels; set Channels", l, l.Channels)
	case outputs < 1 || outputs%l.Channels != 0:
		return 0, fmt.Errorf("likelihood %v: the network has %d outputs; it needs a multiple of the %d channels of a place", l, outputs, l.Channels)
	}
	n, err := l.Of.Targets(l.Channels)
	return n * (outputs / l.Channels), err
}

// Row implements Likelihood.
func (l PerPlace) Row(y, mean, variance, dmean, dvar []float64) (nll float64, floored int) {
	c := l.Channels
	k := len(y) / (len(mean) / c)
	for i := 0; i*c < len(mean); i++ {
		lo, hi := i*c, (i+1)*c
		n, low := l.Of.Row(y[i*k:(i+1)*k], mean[lo:hi], variance[lo:hi], dmean[lo:hi], dvar[lo:hi])
		nll += n
		floored += low
	}
	return nll, floored
}

// Outputs implements Describer. The classes of a place are numbers of the row, as many as there
// are places times classes.
func (l PerPlace) Outputs() Outputs {
	o := Describe(l.Of)
	if o.Classes {
		o.Ends = "nn.Softmax{}"
	}
	o.Classes = false
	return o
}

// Several scores outputs that mean different things: the first ones by the first part, the next
// ones by the second, and so on, as the outputs of an nn.Graph lie side by side. So do the targets.
type Several struct {
	Parts []Part `json:"parts"`
}

// A Part is some outputs of a network and their likelihood.
type Part struct {
	Name    string     `json:"name,omitempty"`   // of the graph's output
	Outputs int        `json:"outputs"`          // how many numbers; 0: a trainer takes the network's
	Weight  float64    `json:"weight,omitempty"` // of its score; 0 means 1
	Of      Likelihood `json:"-"`
}

// Kind implements Likelihood.
func (Several) Kind() string { return "several" }

// Children implements Composite.
func (l Several) Children() []Likelihood {
	var all []Likelihood
	for _, p := range l.Parts {
		all = append(all, p.Of)
	}
	return all
}

// WithChildren implements Composite.
func (l Several) WithChildren(children []Likelihood) Likelihood {
	parts := make([]Part, len(l.Parts))
	copy(parts, l.Parts)
	for i := range parts {
		parts[i].Of = children[i]
	}
	return Several{Parts: parts}
}

// String implements Likelihood.
func (l Several) String() string {
	var all []string
	for i, p := range l.Parts {
		s := fmt.Sprintf("%s: %v", p.called(i), p.Of)
		if p.Weight != 0 && p.Weight != 1 {
			s += fmt.Sprintf(" × %g", p.Weight)
		}
		all = append(all, s)
	}
	return strings.Join(all, "; ")
}

// called is the name of part i in sentences.
func (p Part) called(i int) string {
	if p.Name != "" {
		return p.Name
	}
	return fmt.Sprintf("part %d", i)
}

// NeedsVariance implements Likelihood.
func (l Several) NeedsVariance() bool {
	for _, p := range l.Parts {
		if p.Of.NeedsVariance() {
			return true
		}
	}
	return false
}

// Targets implements Likelihood: those of all parts.
func (l Several) Targets(outputs int) (int, error) {
	if len(l.Parts) == 0 {
		return 0, errors.New("likelihood several: there are no parts")
	}
	targets, seen := 0, 0
	for i, p := range l.Parts {
		switch {
		case p.Of == nil:
			return 0, fmt.Errorf("likelihood several: %s has no likelihood; set Of", p.called(i))
		case p.Outputs < 1:
			return 0, fmt.Errorf("likelihood several: %s has %d outputs; set Outputs", p.called(i), p.Outputs)
		case !(p.Weight >= 0) || math.IsInf(p.Weight, 1):
			return 0, fmt.Errorf("likelihood several: %s has the weight %v; it must be a number > 0, or 0 for 1", p.called(i), p.Weight)
		}
		n, err := p.Of.Targets(p.Outputs)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", p.called(i), err)
		}
		targets += n
		seen += p.Outputs
	}
	if seen != outputs {
		return 0, fmt.Errorf("likelihood several: the network has %d outputs; its parts have %d", outputs, seen)
	}
	return targets, nil
}

// Row implements Likelihood.
func (l Several) Row(y, mean, variance, dmean, dvar []float64) (nll float64, floored int) {
	at := 0
	for _, p := range l.Parts {
		hi := at + p.Outputs
		k, err := p.Of.Targets(p.Outputs)
		if err != nil {
			return math.NaN(), floored
		}
		n, low := p.Of.Row(y[:k], mean[at:hi], variance[at:hi], dmean[at:hi], dvar[at:hi])
		if p.Weight != 0 && p.Weight != 1 {
			n *= p.Weight
			for i := at; i < hi; i++ {
				dmean[i] *= p.Weight
				dvar[i] *= p.Weight
			}
		}
		y = y[k:]
		at = hi
		nll += n
		floored += low
	}
	return nll, floored
}

// Outputs implements Describer: what holds for all parts.
func (l Several) Outputs() Outputs {
	o := Outputs{OwnNoise: true, Floor: math.Inf(1)}
	for _, p := range l.Parts {
		part := Describe(p.Of)
		o.OwnNoise = o.OwnNoise && part.OwnNoise
		o.NoNoiseLayer = o.NoNoiseLayer || part.NoNoiseLayer
		o.Floor = min(o.Floor, part.Floor)
	}
	return o
}
