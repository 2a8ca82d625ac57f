package gpu

import (
	"fmt"

	"utvi/internal/cuda"
	"utvi/likelihood"
)

// scoring translates a likelihood into an operation.
func scoring(l likelihood.Likelihood) (o op, err error) {
	o.Kind = opScore
	if w, ok := l.(likelihood.Weighted); ok {
		l, o.Flag = w.Of, 1
	}
	switch l := l.(type) {
	case likelihood.Normal:
		o.Choice, o.P = likeNormal, likelihood.Describe(l).Floor
	case likelihood.ExpectedNormal:
		o.Choice, o.P = likeExpected, l.Std
	case likelihood.Heteroscedastic:
		o.Choice = pick(l.Total, int32(likeTotal), likeHeteroscedastic)
		o.P = likelihood.Describe(l).Floor
		o.Q = l.Common
	case likelihood.Categorical:
		o.Choice, o.P = likeCategorical, orElse(l.Floor, 1e-30)
	case likelihood.Bernoulli:
		o.Choice, o.P = likeBernoulli, orElse(l.Floor, 0x1p-24)
	case likelihood.Poisson:
		o.Choice = likePoisson
	case likelihood.Count:
		o.Choice = likeCount
		if l.Dispersed {
			o.Q = 1
		}
	default:
		return o, &Unsupported{What: fmt.Sprintf("it has no kernel for the likelihood %v; normal, expected normal, heteroscedastic, categorical, bernoulli, poisson and counts run", l)}
	}
	return o, nil
}

// countScale writes the code of counts to the card, three numbers for each target; 0 if the
// targets are what they are.
func (t *trainer) countScale() cuda.Ptr {
	l := t.Likelihood
	if w, ok := l.(likelihood.Weighted); ok {
		l = w.Of
	}
	c, ok := l.(likelihood.Count)
	if !ok || c.Scale == nil {
		return 0
	}
	var all []float64
	for i, zero := range c.Scale.Zero {
		base := 0.0
		if c.Scale.Base != nil {
			base = c.Scale.Base[i]
		}
		all = append(all, zero, c.Scale.Step[i], base)
	}
	return place(t.memory, all, 8)
}

func orElse(x, standard float64) float64 {
	if x == 0 {
		return standard
	}
	return x
}
