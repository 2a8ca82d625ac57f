package model

import (
	"errors"
	"fmt"

	"utvi/internal/codec"
	"utvi/likelihood"
	"utvi/moment"
	"utvi/nn"
)

// An Option provides something that a model file refers to by name, such as a
// function.
type Option func(*library) error

// A library holds what a model file refers to by name.
type library struct {
	codec.Library
	Likelihoods codec.Likelihoods
}

// WithFunc provides a user's function for a model that was saved with a function of
// that Name.
func WithFunc(f *moment.Func) Option {
	if f == nil {
		panic("model: WithFunc of nil")
	}
	return func(l *library) error { return l.AddFunc(f) }
}

// WithMap provides a user's coupled map, like WithFunc.
func WithMap(m *moment.Map) Option {
	if m == nil {
		panic("model: WithMap of nil")
	}
	return func(l *library) error { return l.AddMap(m) }
}

// WithMaps provides a family of coupled maps, which are made from the numbers behind their
// names: see moment.Map.Family.
func WithMaps(family string, make func(numbers []float64) (*moment.Map, error)) Option {
	if make == nil {
		panic("model: WithMaps of nil")
	}
	return func(l *library) error { return l.AddMaps(family, make) }
}

// WithStochastic provides the functions of a user's nn.Stochastic, like WithFunc. Its
// other fields do not matter.
func WithStochastic(s nn.Stochastic) Option {
	return func(l *library) error { return l.AddStochastic(&s) }
}

// WithStandIns allows loading a model without the user's functions, in order to
// describe it. Its predictions are then meaningless.
func WithStandIns() Option {
	return func(l *library) error {
		l.StandIn = true
		return nil
	}
}

// WithLayer provides a kind of layer for a model that was saved with one. The options
// in the file are read into a value of the same type as l.
func WithLayer(l nn.Layer) Option {
	if l == nil {
		panic("model: WithLayer of nil")
	}
	return func(lib *library) error { return lib.AddLayer(l) }
}

// WithLikelihood provides a likelihood for a model that was trained with one of that
// Kind. The fields that JSON sees are read from the file; l provides the others.
func WithLikelihood(l likelihood.Likelihood) Option {
	if l == nil {
		panic("model: WithLikelihood of nil")
	}
	return func(lib *library) error { return lib.Likelihoods.Add(l) }
}

// WithRule provides a rule for a model that was saved with a rule of that name.
func WithRule(r moment.Rule) Option {
	if r == nil {
		panic("model: WithRule of nil")
	}
	return func(lib *library) error { return lib.AddRule(r) }
}

// WithJointRule provides a joint rule, like WithRule.
func WithJointRule(r moment.JointRule) Option {
	if r == nil {
		panic("model: WithJointRule of nil")
	}
	return func(lib *library) error { return lib.AddJointRule(r) }
}

// collect returns what options provide.
func collect(options []Option) (library, error) {
	lib := library{Likelihoods: codec.Likelihoods{}}
	for _, o := range options {
		if err := o(&lib); err != nil {
			return lib, err
		}
	}
	return lib, nil
}

// likelihood returns the likelihood of a description. Old files have only its String.
func (lib library) likelihood(d description, outputs int) (likelihood.Likelihood, error) {
	if d.Likelihood == nil {
		l := codec.ParseLikelihood(d.Facts.Likelihood)
		if l == nil {
			return nil, nil
		}
		if _, err := l.Targets(outputs); err != nil {
			return nil, nil // facts are not binding
		}
		return l, nil
	}
	l, err := codec.UnmarshalLikelihood(d.Likelihood, lib.Likelihoods)
	if unknown, ok := errors.AsType[*codec.UnknownLikelihood](err); ok {
		if lib.StandIn {
			return nil, nil
		}
		return nil, fmt.Errorf("the model needs the likelihood %q: load it with model.WithLikelihood", unknown.Kind)
	}
	if err != nil {
		return nil, err
	}
	_, err = l.Targets(outputs)
	return l, err
}
