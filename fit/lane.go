package fit

import (
	"math"

	"utvi/calibrate"
	"utvi/dist"
	"utvi/gauss"
	"utvi/internal/compute"
	"utvi/table"
	"utvi/tabular"
)

// A lane predicts the rows of chunks, one chunk at a time, in the units of the
// table. Each worker has its own.
type lane struct {
	m       *Model
	enc     *table.Encoder
	p       *tabular.Predictor
	x       gauss.Batch[float32]
	out     *tabular.Predictions // of the rows last predicted
	targets []table.Column

	mixture dist.Mixture
	scaled  dist.Affine
	class   dist.Categorical
	scratch calibrate.Scratch
}

func (m *Model) lanes(enc *table.Encoder, n int) []*lane {
	all := make([]*lane, n)
	for i := range all {
		all[i] = &lane{m: m, enc: enc, targets: m.Schema.Targets(), p: m.Net.NewPredictor(compute.NewPool(1), table.MaxRows)}
		all[i].class = make(dist.Categorical, len(m.Schema.Classes()))
	}
	return all
}

// predict carries the rows of a chunk through the network.
func (l *lane) predict(c *table.Chunk) error {
	n := c.Rows() * l.enc.Width()
	if n > cap(l.x.Mean) {
		l.x.Mean = make([]float32, n)
		if l.m.Schema.Uncertain() {
			l.x.Var = make([]float32, n)
		}
	}
	l.x.Rows, l.x.Width, l.x.Mean = c.Rows(), l.enc.Width(), l.x.Mean[:n]
	if l.x.Var != nil {
		l.x.Var = l.x.Var[:n]
	}
	if err := l.enc.Inputs(c, l.x); err != nil {
		return err
	}
	l.out = l.p.Predict(l.x)
	return nil
}

// moments are mean and standard deviation of a target, before any calibration.
func (l *lane) moments(row, target int) (mean, sd float64) {
	t, i := &l.targets[target], row*len(l.targets)+target
	return float64(l.out.Mean[i])*t.SD + t.Mean, math.Sqrt(float64(l.out.Var[i])) * t.SD
}

// raw is what the network predicts of a target before any calibration. It lives until
// the next call.
func (l *lane) raw(row, target int) dist.Dist {
	l.fill(row, target, &l.mixture, &l.scaled)
	return &l.scaled
}

// kept is raw in memory of its own.
func (l *lane) kept(row, target int) dist.Dist {
	a := new(dist.Affine)
	l.fill(row, target, new(dist.Mixture), a)
	return a
}

func (l *lane) fill(row, target int, m *dist.Mixture, a *dist.Affine) {
	l.out.Dist(row, target, m)
	*a = dist.Affine{Dist: m, Scale: l.targets[target].SD, Shift: l.targets[target].Mean}
}

// dist is the prediction of a target, corrected where the model is calibrated.
func (l *lane) dist(row, target int) dist.Dist {
	d := l.raw(row, target)
	if c := l.m.calibration(target); c != nil {
		d = c.Apply(d, &l.scratch)
	}
	return d
}

// budget tells where the variance sd² of a prediction comes from. What a calibration
// changes, it changes in proportion.
func (l *lane) budget(row, target int, sd float64) Budget {
	i := row*len(l.targets) + target
	k := sd * sd / float64(l.out.Var[i])
	return Budget{k * float64(l.out.Weights[i]), k * float64(l.out.Inputs[i]), k * float64(l.out.Noise[i])}
}

// unfamiliar tells how far a row is from those the model has learned from: beyond 1
// as far as the farthest hundredth of them.
func (l *lane) unfamiliar(row int) float64 { return float64(l.out.Unfamiliar[row]) }

// classes are the probabilities of a row's classes, valid until the next call.
func (l *lane) classes(row int, corrected bool) dist.Categorical {
	k := len(l.class)
	var sum float64
	for j, p := range l.out.Mean[row*k : (row+1)*k] {
		l.class[j] = max(float64(p), 0)
		sum += l.class[j]
	}
	for j := range l.class { // softmax's mean is a float32's rounding off 1
		l.class[j] /= sum
	}
	if c := l.m.calibration(0); corrected && c != nil && c.Temperature != nil {
		c.Temperature.Apply(l.class, l.class)
	}
	return l.class
}
