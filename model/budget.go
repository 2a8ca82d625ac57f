package model

import (
	"utvi/gauss"
	"utvi/nn"
)

// A Budget is a prediction whose variance is told apart by where it comes from,
// rows × width numbers each.
//
//	Weights   the variance of the network's answer to exactly the inputs' means,
//	          without noise: what it does not know (and what Dropout drops)
//	Inputs    what the variance of the inputs adds to that
//	Noise     what the nn.Noise layers add on top
//
// The parts sum to Var but for rounding. A part is never negative: where the
// spread of the inputs lowers the variance, as it can where the weights matter
// most at the inputs' mean, Inputs is 0 and the parts sum to more.
type Budget[T gauss.Float] struct {
	gauss.Batch[T] // mean and total variance

	Weights, Inputs, Noise []T

	// NoiseInWeights is set where the network has no Noise layer: if it was
	// trained on noisy data, its weights have learned the noise too, and Weights
	// holds both.
	NoiseInWeights bool
}

// budget is what a predictor keeps for budgets.
type budget[T gauss.Float] struct {
	noisy bool
	quiet *Predictor[T]
	parts [3][]T
}

// PredictBudget is Predict with the parts of the variance; it takes two or three
// times as long. The result is valid until the next call.
func (p *Predictor[T]) PredictBudget(x gauss.Batch[T]) Budget[T] {
	if p.budget == nil {
		p.budget = p.newBudget()
	}
	b := p.budget
	out := Budget[T]{Batch: p.Predict(x), NoiseInWeights: !b.noisy}
	n := len(out.Mean)
	out.Weights, out.Inputs, out.Noise = b.parts[0][:n], b.parts[1][:n], b.parts[2][:n]

	without := out.Var // of noise
	if b.noisy {
		without = b.quiet.Predict(x).Var
	}
	excess(out.Noise, out.Var, without)
	copy(out.Inputs, without)
	x.Var = nil
	copy(out.Weights, b.quiet.Predict(x).Var)
	excess(out.Inputs, out.Inputs, out.Weights)
	return out
}

// excess writes max(0, a − b).
func excess[T gauss.Float](dst, a, b []T) {
	for i, x := range a {
		dst[i] = max(0, x-b[i])
	}
}

func (p *Predictor[T]) newBudget() *budget[T] {
	b := &budget[T]{}
	b.noisy = nn.Any(p.net.Config.Layers, func(l nn.Layer) bool {
		n, ok := l.(nn.Noise)
		return ok && !n.Off
	})
	net := p.net
	if b.noisy {
		net = p.net.withoutNoise()
	}
	b.quiet = net.NewPredictorOn(p.pool, p.rows)
	for i := range b.parts {
		b.parts[i] = make([]T, p.rows*net.Outputs())
	}
	return b
}

// withoutNoise returns the network with its Noise layers switched off, over the
// same weights.
func (n *Net[T]) withoutNoise() *Net[T] {
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
		n.quiet = q
	}
	return n.quiet
}
