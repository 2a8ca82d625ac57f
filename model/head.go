package model

import (
	"errors"
	"fmt"

	"utvi/engine"
	"utvi/gauss"
	"utvi/internal/widths"
	"utvi/likelihood"
	"utvi/nn"
)

// A Head predicts targets with an ensemble. The likelihood of each network says what its
// outputs mean; the networks form a mixture with equal weights,
//
//	mean = avg mₖ          variance = avg vₖ + avg (mₖ − mean)²
//
// and the variance is split by its sources. A head must be used by one goroutine at a
// time. Predictions do not allocate.
type Head struct {
	inputs  int
	rows    int // most of a call
	members []*member
	team    team
	spread  []widths.Target // of each target; nil: as predicted

	doubt, exact, quiet, noise, mean []float32 // of one member
	all                              Predictions
	out                              Predictions // of the last call
}

// Predictions are the predicted targets of a batch of rows; each slice has rows × Width
// numbers, row-major. They are valid until the next call.
type Predictions struct {
	Rows    int
	Width   int  // targets of a row, or classes
	Classes bool // the numbers are the probabilities of the classes of one target

	// Var is the sum of three parts:
	//
	//	Weights   the variance at the means of the inputs without noise, including the
	//	          disagreement of the networks: what the model does not know
	//	Inputs    what the variance of the inputs adds to that
	//	Noise     what the likelihood and nn.Noise layers add
	//
	// A part is never negative: Inputs is 0 where the variance of the inputs lowers the
	// total variance.
	Mean, Var              []float32
	Weights, Inputs, Noise []float32

	// NoiseInWeights is set if neither the likelihood nor a layer models noise. If the
	// data were noisy, the weights have learned the noise, and Weights contains both.
	NoiseInWeights bool

	normals []normals
}

// normals are one network's predictions.
type normals struct {
	mean, variance []float32
	parts          [3][]float32 // weights, inputs, noise, until it is known what the networks disagree about; nil: not needed
}

// Members returns the number of networks.
func (p *Predictions) Members() int { return len(p.normals) }

// Member returns the mean and the variance, including noise, that network k predicts
// for number i. The variance is at least the floor of the likelihood.
func (p *Predictions) Member(k, i int) (mean, variance float32) {
	return p.normals[k].mean[i], p.normals[k].variance[i]
}

// Normals returns the means and variances that network k predicts, including noise. There
// may be more numbers than the rows have.
func (p *Predictions) Normals(k int) (mean, variance []float32) {
	return p.normals[k].mean, p.normals[k].variance
}

// NewHead returns a head for batches of at most maxRows rows.
func (e *Ensemble) NewHead(maxRows int) (*Head, error) { return e.NewHeadOn(nil, maxRows, nil) }

// NewHeadOn returns a head that shares its work among the workers of a pool; nil is a
// pool of one worker. The spread of target t corrects the variances that networks predict
// for it; nil leaves them.
func (e *Ensemble) NewHeadOn(pool *engine.Pool, maxRows int, spread []widths.Target) (*Head, error) {
	if pool == nil {
		pool = engine.NewPool(1)
	}
	h := &Head{inputs: e.Inputs(), rows: maxRows, spread: spread}
	a := &h.all
	a.NoiseInWeights = true
	for k, n := range e.Members {
		m, err := newMember(n, pool, maxRows)
		if err != nil {
			return nil, fmt.Errorf("network %d: %w", k, err)
		}
		if k > 0 && (m.width != a.Width || m.classes != a.Classes) {
			return nil, fmt.Errorf("network %d and network 0 have different likelihoods, %v and %v; the networks of an ensemble predict the same targets", k, m.likelihood, h.members[0].likelihood)
		}
		h.members = append(h.members, m)
		a.Width, a.Classes = m.width, m.classes
		a.NoiseInWeights = a.NoiseInWeights && !m.noisy
	}
	if err := h.team.gather(e, h.members, pool, maxRows); err != nil {
		return nil, err
	}
	n := maxRows * a.Width
	for range h.members {
		own := normals{mean: make([]float32, n), variance: make([]float32, n)}
		for i := range own.parts {
			own.parts[i] = make([]float32, n)
		}
		a.normals = append(a.normals, own)
	}
	for _, x := range []*[]float32{&a.Mean, &a.Var, &a.Weights, &a.Inputs, &a.Noise, &h.doubt, &h.exact, &h.quiet, &h.noise, &h.mean} {
		*x = make([]float32, n)
	}
	if spread != nil && len(spread) != a.Width {
		return nil, errors.New("the number of spreads differs from the number of targets")
	}
	return h, nil
}

// Targets returns the number of targets, or the number of classes of the one target.
func (h *Head) Targets() (n int, classes bool) { return h.all.Width, h.all.Classes }

// Predict predicts the rows of x. Inputs with variances take twice the time, and noise
// inside the network as much again.
func (h *Head) Predict(x gauss.Batch[float32]) *Predictions {
	n := x.Rows * h.all.Width
	a, p := &h.all, &h.out
	*p = *a
	p.Rows = x.Rows
	p.Mean = a.Mean[:n]
	p.Var = a.Var[:n]
	p.Weights = a.Weights[:n]
	p.Inputs = a.Inputs[:n]
	p.Noise = a.Noise[:n]
	for _, s := range [][]float32{p.Mean, p.Var, p.Weights, p.Inputs, p.Noise} {
		clear(s)
	}
	h.team.predict(h.members, x)
	for k, m := range h.members {
		h.add(m, a.normals[k], x)
	}
	h.mix()
	return p
}

// TryPredict is Predict, but returns an error where Predict panics: if the rows have the
// wrong width, there are too many, or a variance is negative.
func (h *Head) TryPredict(x gauss.Batch[float32]) (*Predictions, error) {
	if err := checkBatch(x, h.inputs, h.rows); err != nil {
		return nil, err
	}
	for _, m := range h.members {
		if err := m.ready(x); err != nil {
			return nil, err
		}
	}
	return h.Predict(x), nil
}

// add adds the predictions of a network to the sums.
func (h *Head) add(m *member, to normals, x gauss.Batch[float32]) {
	p := &h.out
	n := len(p.Mean)
	mean := h.mean[:n]
	doubt := h.doubt[:n]
	exact := h.exact[:n]
	quiet := h.quiet[:n]
	noise := h.noise[:n]
	fixed := gauss.Batch[float32]{Rows: x.Rows, Width: x.Width, Mean: x.Mean}
	uncertain := x.Var != nil
	if m.quiet != nil {
		m.split(m.quiet.Predict(x), mean, quiet, noise)
	}
	if uncertain {
		net := m.net
		if m.quiet != nil {
			net = m.quiet
		}
		m.split(net.Predict(fixed), mean, exact, noise)
	}
	m.split(h.team.outputs(m, x), mean, doubt, noise)
	layer := m.layerNoise()
	for i := range n {
		own := doubt[i]
		more := float32(0)
		s := noise[i]
		if m.quiet != nil {
			s += max(0, own-quiet[i])
			own = min(own, quiet[i])
		}
		if uncertain {
			more = max(0, own-exact[i])
			own -= more
		}
		if layer != nil {
			s = layer[i%len(layer)]
			own = max(0, own-s)
		}
		to.mean[i], to.variance[i] = mean[i], max(own+more+s, m.floor)
		if h.apart(i%p.Width) > 0 {
			p.Mean[i] += mean[i]
			to.parts[0][i] = own
			to.parts[1][i] = more
			to.parts[2][i] = s
			continue
		}
		if l := h.level(i % p.Width); l != nil {
			f := float32(l.Factor(float64(mean[i]), float64(to.variance[i])))
			own = own * f
			more = more * f
			s = s * f
			to.variance[i] = to.variance[i] * f
		}
		p.Mean[i] += mean[i]
		p.Weights[i] += own
		p.Inputs[i] += more
		p.Noise[i] += s
	}
}

// mix computes the moments of the mixture from the sums. The disagreement of the
// networks is due to the weights.
func (h *Head) mix() {
	p := &h.out
	share := 1 / float32(len(h.members))
	for i := range p.Mean {
		p.Mean[i] *= share
	}
	for _, part := range p.normals {
		for i, m := range p.Mean {
			d := part.mean[i] - m
			p.Var[i] += d * d
		}
	}
	for i := range p.Mean {
		plain := p.Weights[i] // without what the networks disagree about
		if times := h.apart(i % p.Width); times > 0 {
			plain = p.widen(i, times*p.Var[i]*share, h.level(i%p.Width))
		}
		scale := share
		if h.spread != nil {
			scale *= h.spread[i%p.Width].Scale
		}
		plain = plain*scale + p.Var[i]*share
		p.Weights[i] = p.Weights[i]*scale + p.Var[i]*share
		p.Inputs[i] *= scale
		p.Noise[i] *= scale
		apart := p.Var[i] * share
		p.Var[i] = p.Weights[i] + p.Inputs[i] + p.Noise[i]
		if h.spread != nil {
			spread := h.spread[i%p.Width]
			// The shape of the residuals will widen what is added here, too.
			drawn := float32(spread.Support.Share(float64(plain)))
			if spread.Plain != nil {
				spread.Plain[i] = plain * drawn
			}
			p.draw(i, apart/spread.Scale, drawn)
		}
	}
}

// widen adds to the variance of number i of all networks, which are then levelled, and sums their parts.
// It returns the sum of what their weights leave in doubt without what is added.
func (p *Predictions) widen(i int, more float32, l *widths.Level) (plain float32) {
	for _, n := range p.normals {
		v := n.variance[i] + more
		f := float32(l.Factor(float64(n.mean[i]), float64(v)))
		n.variance[i] = v * f
		plain += n.parts[0][i] * f
		p.Weights[i] += (n.parts[0][i] + more) * f
		p.Inputs[i] += n.parts[1][i] * f
		p.Noise[i] += n.parts[2][i] * f
	}
	return plain
}

// draw draws number i of all networks, whose means vary with a variance, towards 0. With a share of 1
// nothing changes.
func (p *Predictions) draw(i int, apart, share float32) {
	if share == 1 {
		return
	}
	for _, v := range [][]float32{p.Mean, p.Var, p.Weights, p.Inputs, p.Noise} {
		v[i] *= share
	}
	for _, n := range p.normals {
		n.mean[i] *= share
		n.variance[i] = share * (n.variance[i] + (1-share)*apart)
	}
}

// checkBatch reports a batch that cannot be predicted.
func checkBatch[T gauss.Float](x gauss.Batch[T], inputs, rows int) error {
	switch size := x.Rows * x.Width; {
	case x.Width != inputs:
		return fmt.Errorf("the rows have %d numbers; the network has %d inputs", x.Width, inputs)
	case x.Rows < 0 || x.Rows > rows:
		return fmt.Errorf("%d rows; the predictor was made for at most %d", x.Rows, rows)
	case x.Cov != nil:
		return errors.New("the inputs have covariances; a network takes inputs that are independent, with a variance each")
	case len(x.Mean) < size || x.Var != nil && len(x.Var) < size:
		return fmt.Errorf("%d rows of %d inputs do not hold %d means and %d variances", x.Rows, x.Width, len(x.Mean), len(x.Var))
	}
	for i, v := range x.Var {
		if v < 0 {
			return fmt.Errorf("the variance of input %d of row %d is %v; it must be ≥ 0", i%x.Width, i/x.Width, v)
		}
	}
	return nil
}

// TryPredict is Predict, but returns an error where Predict panics: if the rows have the
// wrong width, there are too many, a variance is negative, or there are covariances.
func (p *Predictor[T]) TryPredict(x gauss.Batch[T]) (gauss.Batch[T], error) {
	err := checkBatch(x, p.net.Inputs(), p.rows)
	if err == nil && x.Var != nil {
		err = p.ready(nn.Independent)
	}
	if err != nil {
		return gauss.Batch[T]{}, err
	}
	return p.Predict(x), nil
}

// A member is a network of a head.
type member struct {
	net        *Predictor[float32]
	quiet      *Predictor[float32] // without noise; nil: there is none, or it can be subtracted
	likelihood likelihood.Likelihood
	splitter   likelihood.Splitter
	width      int
	classes    bool
	noisy      bool // the noise is modelled
	floor      float32

	layer []float32 // σ² of a last nn.Noise; nil: there is none
	raw   []float32 // its parameters
}

// apart is how many times what the networks disagree about adds to the variance of each.
func (h *Head) apart(target int) float32 {
	if h.spread == nil {
		return 0
	}
	return h.spread[target].Apart
}

// level is the level of a target, or nil.
func (h *Head) level(target int) *widths.Level {
	if h.spread == nil {
		return nil
	}
	return h.spread[target].Level
}
