package model

import (
	"utvi/likelihood"
	"utvi/moment"
	"utvi/nn"
)

// WithLayer brings a kind of layers to a model that was saved with one. What the
// file holds of the layer goes into a value of the same type as l.
func WithLayer(l nn.Layer) Option {
	if l == nil {
		panic("model: WithLayer of nil")
	}
	return func(lib *Library) error { return lib.AddLayer(l) }
}

// WithLikelihood brings a likelihood to a model that was trained with one of that Kind.
// Its fields that JSON sees are read from the file, the others are kept.
func WithLikelihood(l likelihood.Likelihood) Option {
	if l == nil {
		panic("model: WithLikelihood of nil")
	}
	return func(lib *Library) error { return lib.Likelihoods.Add(l) }
}

// WithRule brings a rule to a model that was saved with one of that name.
func WithRule(r moment.Rule) Option {
	if r == nil {
		panic("model: WithRule of nil")
	}
	return func(lib *Library) error { return lib.AddRule(r) }
}

// WithJointRule brings a joint rule, like WithRule.
func WithJointRule(r moment.JointRule) Option {
	if r == nil {
		panic("model: WithJointRule of nil")
	}
	return func(lib *Library) error { return lib.AddJointRule(r) }
}
