package likelihood

import "fmt"

// A Reader makes predictions of the outputs of a network with a likelihood. It has scratch: one
// goroutine at a time uses it.
type Reader struct {
	Numbers int  // predicted for a row: targets, or the probabilities of classes
	Classes bool // the numbers are the probabilities of the classes of one target

	parts []reading
}

// A reading is runs of outputs that one likelihood reads, one run after the other.
type reading struct {
	by               Splitter
	outputs, numbers int // of a run
	runs             int
}

// NewReader returns a reader of a row's outputs. Numbers come in the order of the outputs: those
// of the first part, place by place, then those of the next.
func NewReader(l Likelihood, outputs int) (*Reader, error) {
	l = Inner(l)
	if _, err := l.Targets(outputs); err != nil {
		return nil, err
	}
	r := &Reader{Classes: Describe(l).Classes}
	if err := r.add(l, outputs); err != nil {
		return nil, err
	}
	for _, p := range r.parts {
		r.Numbers += p.numbers * p.runs
	}
	return r, nil
}

// add adds the readings of a likelihood.
func (r *Reader) add(l Likelihood, outputs int) error {
	switch l := Inner(l).(type) {
	case PerPlace:
		place, err := NewReader(l.Of, l.Channels)
		if err != nil {
			return err
		}
		r.parts = append(r.parts, reading{place, l.Channels, place.Numbers, outputs / l.Channels})
		return nil
	case Several:
		for _, p := range l.Parts {
			err := r.add(p.Of, p.Outputs)
			if err != nil {
				return err
			}
		}
		return nil
	case Splitter:
		return r.append(l.(Likelihood), l, outputs)
	case Predictive:
		return r.append(l, &unsplit{by: l}, outputs)
	default: // its noise is not known
		return fmt.Errorf("the likelihood %v cannot predict: it must implement likelihood.Predictive (Predict, Score) or likelihood.Splitter (Split)", l)
	}
}

func (r *Reader) append(l Likelihood, by Splitter, outputs int) error {
	n, err := l.Targets(outputs)
	if err != nil {
		return err
	}
	if Describe(l).Classes {
		n = outputs
	}
	r.parts = append(r.parts, reading{by, outputs, n, 1})
	return nil
}

// Split implements Splitter.
func (r *Reader) Split(mean, variance, ymean, doubt, noise []float32) {
	for _, p := range r.parts {
		for range p.runs {
			p.by.Split(mean[:p.outputs], variance[:p.outputs], ymean[:p.numbers], doubt[:p.numbers], noise[:p.numbers])
			mean, variance = mean[p.outputs:], variance[p.outputs:]
			ymean = ymean[p.numbers:]
			doubt = doubt[p.numbers:]
			noise = noise[p.numbers:]
		}
	}
}

// unsplit reads outputs with a likelihood that does not separate doubt and noise: all
// variance counts as doubt.
type unsplit struct {
	by                          Predictive
	mean, variance, ymean, yvar []float64
}

// Split implements Splitter.
func (u *unsplit) Split(mean, variance, ymean, doubt, noise []float32) {
	if u.mean == nil {
		u.mean, u.variance = make([]float64, len(mean)), make([]float64, len(mean))
		u.ymean, u.yvar = make([]float64, len(ymean)), make([]float64, len(ymean))
	}
	for i, m := range mean {
		u.mean[i], u.variance[i] = float64(m), float64(variance[i])
	}
	u.by.Predict(u.mean, u.variance, u.ymean, u.yvar)
	for i, m := range u.ymean {
		ymean[i], doubt[i] = float32(m), float32(u.yvar[i])
	}
	clear(noise)
}
