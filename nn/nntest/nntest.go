// Package nntest is the conformance suite of layers: the test of a new layer calls
// Layer in one line.
package nntest

import (
	"strings"
	"testing"

	"utvi/gauss"
	"utvi/internal/codec"
	"utvi/nn"
	"utvi/vi"
)

// A Library holds what a model file refers to by name: functions, maps, rules and layers.
type Library = codec.Library

// Options adapt the suite to a layer.
type Options struct {
	// Mean and Spread place the inputs: means around Mean ± Spread, variances
	// up to Spread². The zero values are 0 and 1.
	Mean, Spread float64
	// Tolerance is the largest relative error of a derivative; 0 means 1e-6.
	Tolerance float64
	// Entries is the number of entries of each tensor that are checked; 0 means 40, and 12
	// in short tests.
	Entries int
	// SkipFixed leaves out inputs without variance.
	SkipFixed bool
	// Library holds what it takes to read the layer from a model file, beside its kind: functions,
	// maps and rules of your own.
	Library Library

	// Draws is the number of draws of inputs and weights that check the moments of the
	// outputs, within 5 standard errors; 0 skips this check. A layer that approximates
	// may be wrong by MeanBias standard deviations in the mean and by the factor 1 ±
	// VarBias in the variance.
	Draws             int
	MeanBias, VarBias float64
}

// A check is one part of the suite.
type check struct {
	name string
	run  func(t testing.TB)
}

// Layer checks a layer on inputs of the given shape, with and without variance and, if
// the layer takes covariances, with those:
//
//   - gradients in float64 against finite differences, and a finite KL divergence of
//     the weights from their priors;
//   - buffers that hold NaN before they are used: everything must be written;
//   - no gradient of the input, as in the first layer of a network;
//   - runners of one unit that take turns, or run at the same time: each must have
//     its own scratch;
//   - the same bits for any cut into blocks, and in prediction as in training;
//   - float32 against float64;
//   - no allocations;
//   - the layer as a model file stores it, and back;
//   - moments against drawn inputs and weights, if Options.Draws is set.
func Layer(t *testing.T, l nn.Layer, in nn.Shape, o Options) {
	t.Helper()
	for _, c := range suite(l, in, o) {
		t.Run(c.name, func(t *testing.T) { c.run(t) })
	}
}

// suite lists the checks of a layer.
func suite(l nn.Layer, in nn.Shape, o Options) []check {
	if o.Spread == 0 {
		o.Spread = 1
	}
	if o.Tolerance == 0 {
		o.Tolerance = 1e-6
	}
	if o.Entries == 0 {
		o.Entries = 40
		if testing.Short() {
			o.Entries = 12
		}
	}
	all := []struct {
		name string
		run  func(t testing.TB, s subject)
	}{
		{"gradients", gradients},
		{"first layer", firstLayer},
		{"turns", turns},
		{"concurrent", concurrent},
		{"blocks", blocks},
		{"prediction", prediction},
		{"float32", precision},
		{"allocations", allocations},
		{"draws", draws},
	}
	forms := []struct {
		nn.Form
		name string
	}{{nn.Independent, ""}, {nn.Fixed, " of fixed inputs"}, {nn.Covariant, " of covariant inputs"}}
	taker, ok := l.(nn.CovarianceTaker)
	takes := ok && taker.TakesCovariances()
	checks := []check{{"stored", func(t testing.TB) { stored(t, l, o.Library) }}}
	for _, c := range all {
		for _, f := range forms {
			if c.name == "draws" && o.Draws == 0 || f.Form == nn.Fixed && o.SkipFixed || f.Form == nn.Covariant && !takes {
				continue
			}
			checks = append(checks, check{c.name + f.name, func(t testing.TB) { c.run(t, subject{layer: l, in: in, Options: o, form: f.Form}) }})
		}
	}
	return checks
}

// A subject is the layer under test, with its inputs.
type subject struct {
	layer nn.Layer
	in    nn.Shape
	Options
	form  nn.Form // of the inputs
	drawn bool    // the weights have no variance
}

// bind binds the layer to parameters that have no values yet.
func bind[T gauss.Float](t testing.TB, s subject, train bool) (nn.Unit[T], *vi.Params[T]) {
	t.Helper()
	b := &nn.Binder[T]{Params: &vi.Params[T]{}, In: s.in, Form: s.form, Name: "layer", Fixed: s.drawn, Train: train}
	u, err := nn.Bind(s.layer, b)
	if err != nil {
		t.Fatal(err)
	}
	b.Params.Alloc()
	return u, b.Params
}

// prepare prepares all weights of a unit.
func prepare[T gauss.Float](u nn.Unit[T], r nn.Runner[T]) {
	for i := range u.PrepareTiles() {
		r.Prepare(i)
	}
}

// Refuses checks that binding the layer returns an error, and that its message
// contains want.
func Refuses(t testing.TB, l nn.Layer, in nn.Shape, want string) {
	t.Helper()
	_, err := nn.Bind(l, &nn.Binder[float32]{Params: &vi.Params[float32]{}, In: in, Name: "layer"})
	if err == nil {
		t.Fatalf("binding %+v gave no error", l)
	}
	if got := err.Error(); want == "" || !strings.Contains(got, want) {
		t.Errorf("the error is %q; it should contain %q", got, want)
	}
}
