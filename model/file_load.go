package model

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"utvi/gauss"
	"utvi/internal/codec"
	"utvi/internal/compute"
	"utvi/internal/modelfile"
	"utvi/internal/safetensors"
	"utvi/nn"
	"utvi/vi"
)

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
	lib, err := collect(options)
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

// build makes a network from a description. Everything is compared with the tensors of
// the file before memory is allocated.
func build[T gauss.Float](d description, w *weights, prefix string, lib library) (*Net[T], error) {
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
			if s := w.byName[prefix+t.Name+modelfile.SpreadSuffix]; s != nil {
				t.Spread = make([]T, t.Len())
				copyTensor(t.Spread, s)
				if slices.ContainsFunc(t.Spread, func(x T) bool { return !(x > 0) }) {
					return nil, fmt.Errorf("%s: the prior of a weight has a standard deviation that is not > 0", t.Name)
				}
			}
		}
	}
	if err := n.Params.CheckFinite(); err != nil {
		return nil, err
	}
	n.Changed()
	return n, setPriors(n.Params, d.Priors)
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
		for _, s := range []string{modelfile.CenterSuffix, modelfile.SpreadSuffix} {
			if w.byName[prefix+t.Name+s] != nil {
				suffixes = append(suffixes, s)
			}
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
