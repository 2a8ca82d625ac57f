package model

import (
	"utvi/likelihood"
	"utvi/moment"
	"utvi/nn"
)

// WithLayer provides a kind of layer for a model that was saved with one. The options
// in the file are read into a value of the same type as l.
func WithLayer(l nn.Layer) Option {
	if l == nil {
		panic("model: WithLayer of nil")
	}
	return func(lib *Library) error { return lib.AddLayer(l) }
}

// WithLikelihood provides a likelihood for a model that was trained with one of that
// Kind. The fields that JSON sees are read from the file; l provides the others.
func WithLikelihood(l likelihood.Likelihood) Option {
	if l == nil {
		panic("model: WithLikelihood of nil")
	}
	return func(lib *Library) error { return lib.Likelihoods.Add(l) }
}

// WithRule provides a rule for a model that was saved with a rule of that name.
func WithRule(r moment.Rule) Option {
	if r == nil {
		panic("model: WithRule of nil")
	}
	return func(lib *Library) error { return lib.AddRule(r) }
}

// WithJointRule provides a joint rule, like WithRule.
func WithJointRule(r moment.JointRule) Option {
	if r == nil {
		panic("model: WithJointRule of nil")
	}
	return func(lib *Library) error { return lib.AddJointRule(r) }
}
