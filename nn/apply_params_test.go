package nn_test

import (
	"strings"
	"testing"

	"utvi/fn"
	"utvi/internal/codec"
	"utvi/moment"
	"utvi/nn"
	"utvi/nn/nntest"
)

// Formulas with parameters pass the suite: gradients of every parameter against
// finite differences, by every kind of rule.
func TestApplyParameters(t *testing.T) {
	one := func() *moment.Func { return fn.MustFormula("a*tanh(b*x)", fn.Learned("a", 1.3), fn.Learned("b", 0.6)) }
	units := fn.MustFormula("where(x > -0.31, x, a*x) + k*softplus(x - c)",
		fn.LearnedPerUnit("a", 0.2), fn.LearnedPerUnit("k", 0.7), fn.Learned("c", -0.31))
	values := make([]float64, 37)
	for i := range values {
		values[i] = 0.5 + float64(i)/20
	}
	mixed := fn.MustFormula("a*sin(w*x) + b*x", fn.Fixed("w", values...), fn.LearnedPerUnit("a", 1.1), fn.Fixed("b", 0.3))
	for name, l := range map[string]nn.Layer{
		"fixed":             nn.Apply{F: fn.MustFormula("a*tanh(b*x)", fn.Fixed("a", 1.3), fn.Fixed("b", 0.6))},
		"ut":                nn.Apply{F: one()},
		"learned ut":        nn.Apply{F: one(), Rule: moment.LearnedUT(1.5)},
		"gh":                nn.Apply{F: one(), Rule: moment.GaussHermite(5)},
		"genut":             nn.Apply{F: one(), Rule: moment.GenUT(0.3, 3.5)},
		"mc":                nn.Apply{F: one(), Rule: moment.MonteCarlo(29)},
		"linear":            nn.Apply{F: one(), Rule: moment.Linear()},
		"per unit":          nn.Apply{F: units},
		"per unit mc":       nn.Apply{F: mixed, Rule: moment.MonteCarlo(5)},
		"mixed":             nn.Apply{F: mixed, Rule: moment.GaussHermite(3)},
		"mixed linear":      nn.Apply{F: mixed, Rule: moment.Linear()},
		"residual":          nn.Residual{Branch: nn.Apply{F: one(), Rule: moment.LearnedUT(2)}},
		"residual of units": nn.Residual{Branch: nn.Chain{nn.Apply{F: mixed}}},
	} {
		t.Run(name, func(t *testing.T) { nntest.Layer(t, l, nn.Vec(37), nntest.Options{}) })
	}
	t.Run("tiles that begin within a row", func(t *testing.T) {
		values := make([]float64, 150)
		for i := range values {
			values[i] = 0.3 + float64(i)/100
		}
		f := fn.MustFormula("a*tanh(w*x)", fn.Fixed("w", values...), fn.Param{Name: "a", Values: values, Learned: true})
		nntest.Layer(t, nn.Apply{F: f}, nn.Vec(150), nntest.Options{Entries: 12})
	})
	t.Run("images", func(t *testing.T) {
		f := fn.MustFormula("softplus(a*x + b)", fn.LearnedPerUnit("a", 1), fn.Learned("b", 0))
		nntest.Layer(t, nn.Apply{F: f}, nn.Shape{H: 3, W: 2, C: 5}, nntest.Options{})
	})
	t.Run("network", func(t *testing.T) {
		f := fn.MustFormula("a*tanh(b*x) + x/(1 + x^2)", fn.LearnedPerUnit("a", 0.8), fn.Learned("b", 0.5))
		nntest.Layer(t, nn.Chain{
			nn.Dense{Out: 23}, nn.Apply{F: f}, nn.Dense{Out: 11}, nn.Apply{F: f, Rule: moment.LearnedUT(2)},
			nn.Residual{Branch: nn.Apply{F: f}}, nn.Dense{Out: 2},
		}, nn.Vec(3), nntest.Options{})
	})
}

func TestApplyParametersRefuses(t *testing.T) {
	f := fn.MustFormula("a*x", fn.Fixed("a", 1, 2, 3))
	nntest.Refuses(t, nn.Apply{F: f}, nn.Vec(5), "the parameter a has 3 values for 5 units; each unit needs one")
}

// A formula is stored as text, and found again without any library.
func TestFormulaInFile(t *testing.T) {
	for _, f := range []*moment.Func{
		fn.MustFormula("x / (1 + x^2)"),
		fn.MustFormula("a*tanh(b*x)", fn.Fixed("a", 1.7), fn.Learned("b", 0.25)),
		fn.MustFormula("a*x + w*sin(x)", fn.LearnedPerUnit("a", 1), fn.Fixed("w", 1, 2.5)),
	} {
		named := *f
		named.Name = "my-own"
		for _, f := range []*moment.Func{f, &named} {
			data, err := codec.Marshal(nn.Apply{F: f})
			if err != nil {
				t.Fatal(err)
			}
			l, err := codec.Unmarshal(data, codec.Library{})
			if err != nil {
				t.Fatal(err)
			}
			got := l.(nn.Apply).F
			if got.Formula == nil || got.Formula.String() != f.Formula.String() || got.F(0.37) != f.F(0.37) {
				t.Errorf("%s came back as %s", data, got.Name)
			}
		}
	}
	// What is known by name stays so.
	data, err := codec.Marshal(nn.Apply{F: fn.MustFormula("x*sigmoid(x)")})
	if err != nil || !strings.Contains(string(data), `"f":"silu"`) {
		t.Errorf("%s, %v", data, err)
	}
	data, err = codec.Marshal(nn.Apply{F: fn.MustFormula("x*tanh(softplus(x))")})
	if err != nil || !strings.Contains(string(data), `"f":"x*tanh(softplus(x))"`) {
		t.Errorf("%s, %v", data, err)
	}
	// A formula under the name of another is written out.
	other := fn.MustFormula("x/(1 + x^2)")
	other.Name = "mish"
	data, err = codec.Marshal(nn.Apply{F: other})
	if err != nil || !strings.Contains(string(data), `"f":"x/(1 + x^2)"`) {
		t.Errorf("%s, %v", data, err)
	}
	// A user's code that is named like a formula is still the user's.
	own := &moment.Func{Name: "x/(1+x)", F: func(x float64) float64 { return x / (1 + x) }}
	data, err = codec.Marshal(nn.Apply{F: own})
	if err != nil || !strings.Contains(string(data), `"user_f":"x/(1+x)"`) {
		t.Errorf("%s, %v", data, err)
	}
	if _, err := codec.Unmarshal([]byte(`{"kind":"apply","f":"x/(1+","rule":"ut(2)"}`), codec.Library{}); err == nil ||
		err.Error() != `apply: formula "x/(1+": character 6: found the end; expected a number, x, a function or (` {
		t.Error(err)
	}
}

// The slope of a formula moves with its parameters, and its gradient by them is not
// computed: correlations pass formulas whose parameters are fixed.
func TestApplyParametersAndCorrelations(t *testing.T) {
	learned := nn.Apply{F: fn.MustFormula("a*tanh(x)", fn.Learned("a", 1)), Rule: moment.UT(2)}
	fixed := nn.Apply{F: fn.MustFormula("a*tanh(b*x)", fn.Fixed("a", 2), fn.Fixed("b", 0.5)), Rule: moment.UT(2)}
	if learned.TakesCovariances() || !fixed.TakesCovariances() || (nn.Apply{F: learned.F}).TakesCovariances() {
		t.Error("covariances are taken by the wrong formulas")
	}
	want := "the formula a*tanh(x) cannot carry correlations while its parameter a is learned; make the parameter fixed"
	if err := moment.CheckSlope(moment.UT(2), learned.F); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}
