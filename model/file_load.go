package model

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"utvi/gauss"
	"utvi/internal/compute"
	"utvi/internal/modelfile"
	"utvi/internal/safetensors"
	"utvi/likelihood"
	"utvi/moment"
	"utvi/nn"
	"utvi/nn/codec"
	"utvi/vi"
)

// An Option provides something that a model file refers to by name, such as a
// function.
type Option func(*Library) error

// A Library holds what a model file refers to by name.
type Library struct {
	codec.Library
	Likelihoods likelihood.Library
}

// WithFunc provides a user's function for a model that was saved with a function of
// that Name.
func WithFunc(f *moment.Func) Option {
	if f == nil {
		panic("model: WithFunc of nil")
	}
	return func(l *Library) error { return l.AddFunc(f) }
}

// WithMap provides a user's coupled map, like WithFunc.
func WithMap(m *moment.Map) Option {
	if m == nil {
		panic("model: WithMap of nil")
	}
	return func(l *Library) error { return l.AddMap(m) }
}

// WithMaps provides a family of coupled maps, which are made from the numbers behind their
// names: see moment.Map.Family.
func WithMaps(family string, make codec.MapMaker) Option {
	if make == nil {
		panic("model: WithMaps of nil")
	}
	return func(l *Library) error { return l.AddMaps(family, make) }
}

// WithStochastic provides the functions of a user's nn.Stochastic, like WithFunc. Its
// other fields do not matter.
func WithStochastic(s nn.Stochastic) Option {
	return func(l *Library) error { return l.AddStochastic(&s) }
}

// WithStandIns allows loading a model without the user's functions, in order to
// describe it. Its predictions are then meaningless.
func WithStandIns() Option {
	return func(l *Library) error {
		l.StandIn = true
		return nil
	}
}

// Load reads a model that Save wrote. It predicts the same bits as the saved model. If
// Load returns an error, nothing was loaded.
func Load(path string, options ...Option) (*Model, error) { return LoadAs[float32](path, options...) }

// LoadAs is Load for a network computed in T. Weights saved in float32 can be loaded
// as float64, but not the reverse: nothing is rounded.
func LoadAs[T gauss.Float](path string, options ...Option) (*Net[T], error) {
	f, err := modelfile.Open(path)
	if err != nil {
		return nil, err // which names the path
	}
	n, err := decode[T](f, options)
	if err != nil {
		return nil, fmt.Errorf("cannot load the model %s: %w", path, err)
	}
	return n, nil
}

func decode[T gauss.Float](f *modelfile.File, options []Option) (*Net[T], error) {
	lib, err := library(options)
	if err != nil {
		return nil, err
	}
	if f.IsEnsemble() {
		return nil, errors.New("the file holds an ensemble; load it with model.LoadEnsemble")
	}
	d, err := modelfile.OneNetwork[Facts](f)
	if err != nil {
		return nil, err
	}
	w := newWeights(f)
	n, err := build[T](d, w, "", lib)
	if err != nil {
		return nil, err
	}
	if err := w.allUsed(); err != nil {
		return nil, err
	}
	return n, nil
}

func library(options []Option) (Library, error) {
	lib := Library{Likelihoods: likelihood.Library{}}
	for _, o := range options {
		if err := o(&lib); err != nil {
			return lib, err
		}
	}
	return lib, nil
}

// build makes a network from a description. Everything is compared with the tensors of
// the file before memory is allocated.
func build[T gauss.Float](d description, w *weights, prefix string, lib Library) (*Net[T], error) {
	l, err := codec.Unmarshal(d.Layers, lib.Library)
	if err != nil {
		return nil, err
	}
	chain, ok := l.(nn.Chain)
	if !ok {
		return nil, fmt.Errorf("the network has kind %q; it must be a chain", l.Kind())
	}
	n, err := declare(Config{
		Input: nn.Shape{H: d.Input[0], W: d.Input[1], C: d.Input[2]}, Layers: chain,
		Seed: d.Seed, Init: vi.Init{RhoMin: d.Init[0], RhoMax: d.Init[1]},
	}, false, func(t *vi.Tensor[T]) error { return expect(w, t, prefix) })
	if err != nil {
		return nil, err
	}
	n.Facts = d.Facts
	n.Likelihood, err = lib.likelihood(d, n.Outputs())
	if err != nil {
		return nil, err
	}
	n.Params.Alloc()
	for _, t := range n.Params.Tensors {
		copyTensor(t.Mean, w.byName[prefix+t.Name+modelfile.MeanSuffix])
		if t.Random {
			copyTensor(t.Rho, w.byName[prefix+t.Name+modelfile.RhoSuffix])
			if c := w.byName[prefix+t.Name+modelfile.CenterSuffix]; c != nil {
				t.Center = make([]T, t.Len())
				copyTensor(t.Center, c)
			}
		}
	}
	if err := n.Params.CheckFinite(); err != nil {
		return nil, err
	}
	n.Changed()
	return n, setPriors(n.Params, d.Priors)
}

// likelihood returns the likelihood of a description. Old files have only its String.
func (lib Library) likelihood(d description, outputs int) (likelihood.Likelihood, error) {
	if d.Likelihood == nil {
		l := likelihood.Parse(d.Facts.Likelihood)
		if l == nil {
			return nil, nil
		}
		if _, err := l.Targets(outputs); err != nil {
			return nil, nil // facts are not binding
		}
		return l, nil
	}
	l, err := likelihood.Unmarshal(d.Likelihood, lib.Likelihoods)
	if unknown, ok := errors.AsType[*likelihood.UnknownError](err); ok {
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

func setPriors[T gauss.Float](p *vi.Params[T], priors map[string][2]float64) error {
	known := 0
	for _, t := range p.Tensors {
		if !t.Random {
			continue
		}
		q, ok := priors[t.Name]
		if !ok {
			return fmt.Errorf("the prior of %s is missing", t.Name)
		}
		if err := checkPrior(t.Name, q); err != nil {
			return err
		}
		t.Prior = vi.Prior{Mean: q[0], Std: q[1]}
		known++
	}
	if known != len(priors) {
		return errors.New("the file has priors for tensors that the network does not have")
	}
	return nil
}

// weights are the tensors of a file.
type weights struct {
	byName map[string]*safetensors.Tensor
	used   map[string]bool
}

func newWeights(f *modelfile.File) *weights {
	w := &weights{byName: make(map[string]*safetensors.Tensor, len(f.Tensors)), used: make(map[string]bool, len(f.Tensors))}
	for i := range f.Tensors {
		w.byName[f.Tensors[i].Name] = &f.Tensors[i]
	}
	return w
}

func expect[T gauss.Float](w *weights, t *vi.Tensor[T], prefix string) error {
	suffixes := []string{modelfile.MeanSuffix}
	if t.Random {
		suffixes = append(suffixes, modelfile.RhoSuffix)
		if w.byName[prefix+t.Name+modelfile.CenterSuffix] != nil {
			suffixes = append(suffixes, modelfile.CenterSuffix)
		}
	}
	for _, s := range suffixes {
		name := prefix + t.Name + s
		have, ok := w.byName[name]
		if !ok {
			return fmt.Errorf("the tensor %s is missing", name)
		}
		if !slices.Equal(have.Shape, t.Shape) {
			return fmt.Errorf("the tensor %s has the shape %v; the network needs %v", name, have.Shape, t.Shape)
		}
		if !readable[T](have) {
			return fmt.Errorf("the tensor %s does not hold %T numbers", name, T(0))
		}
		w.used[name] = true
	}
	return nil
}

func (w *weights) allUsed() error {
	for _, name := range slices.Sorted(maps.Keys(w.byName)) {
		if !w.used[name] {
			return fmt.Errorf("the file has a tensor %.60q that the network does not have", name)
		}
	}
	return nil
}

func readable[T gauss.Float](t *safetensors.Tensor) bool {
	_, wide := any(T(0)).(float64)
	return t.F32 != nil || wide && t.F64 != nil
}

func copyTensor[T gauss.Float](dst []T, t *safetensors.Tensor) {
	compute.Convert(dst, t.F32)
	compute.Convert(dst, t.F64)
}
