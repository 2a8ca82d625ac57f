package model

import (
	"utvi/engine"
	"utvi/gauss"
	"utvi/internal/special"
	"utvi/likelihood"
	"utvi/nn"
)

func newMember(n *Model, pool *engine.Pool, maxRows int) (*member, error) {
	m := &member{net: n.newPredictor(pool, maxRows), likelihood: n.Likelihood}
	if m.likelihood == nil {
		m.likelihood = likelihood.Normal{}
	}
	m.likelihood = likelihood.Inner(m.likelihood)
	reader, err := likelihood.NewReader(m.likelihood, n.Outputs())
	if err != nil {
		return nil, err
	}
	reads := likelihood.Describe(m.likelihood)
	m.splitter = reader
	m.width = reader.Numbers
	m.classes = reader.Classes
	m.noisy = reads.OwnNoise
	m.floor = float32(reads.Floor)
	if !nn.Any(n.Config.Layers, isNoise) {
		return m, nil
	}
	m.noisy = true
	// Only a likelihood that takes outputs as they are has the layer's noise in the
	// units of the target.
	_, asIs := m.likelihood.(likelihood.Normal)
	m.raw = n.lastNoise()
	if m.raw != nil && asIs && !reads.OwnNoise && !reads.Classes {
		m.layer = make([]float32, len(m.raw))
		return m, nil
	}
	m.quiet = n.WithoutNoise().NewPredictorOn(pool, maxRows)
	return m, nil
}

func isNoise(l nn.Layer) bool {
	n, ok := l.(nn.Noise)
	return ok && !n.Off
}

// ready reports a network that does not take the inputs.
func (m *member) ready(x gauss.Batch[float32]) error {
	if x.Var == nil {
		return nil
	}
	if m.quiet != nil {
		if err := m.quiet.ready(nn.Independent); err != nil {
			return err
		}
	}
	return m.net.ready(nn.Independent)
}

// split reads a network's outputs.
func (m *member) split(out gauss.Batch[float32], mean, doubt, noise []float32) {
	for r := range out.Rows {
		lo := r * out.Width
		hi := (r + 1) * out.Width
		at := r * m.width
		end := (r + 1) * m.width
		m.splitter.Split(out.Mean[lo:hi], out.Var[lo:hi], mean[at:end], doubt[at:end], noise[at:end])
	}
}

// layerNoise returns the variances that the last layer adds, nil if it adds none. This
// noise is subtracted: predicting again without it would take twice as long.
func (m *member) layerNoise() []float32 {
	for i := range m.layer {
		s := special.Softplus(float64(m.raw[i]))
		m.layer[i] = float32(s * s)
	}
	return m.layer
}

// lastNoise returns the parameters of the last layer if it is the only noise of the
// network, nil otherwise.
func (n *Net[T]) lastNoise() []T {
	steps := n.Graph().Steps()
	last := steps[len(steps)-1]
	for _, s := range steps {
		if s != last && nn.Any(s.Layer, isNoise) {
			return nil
		}
	}
	if !isNoise(last.Layer) {
		return nil
	}
	return last.Tensors[0].Mean
}

// WithoutNoise returns the network with its Noise layers switched off, over the same
// weights.
func (n *Net[T]) WithoutNoise() *Net[T] {
	if !nn.Any(n.Config.Layers, isNoise) {
		return n
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.quiet == nil {
		c := n.Config
		c.Layers = nn.WithoutNoise(c.Layers).(nn.Chain)
		q, err := declare[T](c, n.fixed, nil)
		if err != nil {
			panic("model: a network that was built cannot be bound again")
		}
		q.Params.Share(n.Params)
		if n.engine != nil && q.Use(n.engine) != nil {
			panic("model: an engine runs a network, but not without its noise")
		}
		n.quiet = q
	}
	return n.quiet
}
