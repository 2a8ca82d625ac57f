package gpu_test

import (
	"fmt"
	"math"
	"testing"

	"utvi/engine"
	"utvi/fn"
	"utvi/gauss"
	"utvi/internal/compute"
	"utvi/internal/compute/bytecode"
	"utvi/likelihood"
	"utvi/moment"
	"utvi/nn"
	"utvi/optim"
	"utvi/rng"
)

// formulaCases are networks with formulas: every instruction, every rule, parameters.
func formulaCases() []testCase {
	both := fn.MustFormula("a*tanh(b*x) + c*max(x, d)", fn.Learned("a", 1.2), fn.LearnedPerUnit("b", 0.7), fn.Fixed("c", 0.4), fn.Learned("d", -0.57))
	listed := fn.MustFormula("x*sigmoid(b*x)", fn.Fixed("b", 0.5, 1, 2))
	var all []testCase
	for _, rule := range []moment.Rule{moment.UT(2), moment.LearnedUT(2), moment.GaussHermite(9), moment.GenUT(0.5, 4), moment.MonteCarlo(14), moment.Linear()} {
		for _, f := range []*moment.Func{both, listed, fn.MustFormula("x/(1 + x^2)")} {
			layers := nn.Chain{nn.Dense{Out: 3}, nn.Apply{F: f, Rule: rule}, nn.Dense{Out: 1}}
			all = append(all, testCase{fmt.Sprintf("%s %v", f.Name, rule), 2, layers, likelihood.Normal{}})
		}
	}
	act := nn.Apply{F: fn.MustFormula("x*tanh(softplus(x))")}
	return append(all,
		testCase{"a formula and correlations", 3, nn.Correlate(nn.Chain{nn.Dense{Out: 20}, act, nn.Dense{Out: 9}, nn.Apply{F: fn.MustFormula("x*abs(x)/(1+abs(x))")}, nn.Dense{Out: 2}}), likelihood.Normal{}},
		testCase{"fixed inputs of a formula", 3, nn.Chain{nn.Dense{Out: 12, Fixed: true}, nn.Apply{F: both}, nn.Dense{Out: 200}, act, nn.Dense{Out: 180}, act, nn.Dense{Out: 1}}, likelihood.Normal{}})
}

// formulaTexts have every instruction of a program.
var formulaTexts = []string{
	"x - 1/(2+x^2)", "abs(x) + sign(x)", "where(sign(x) == 0, x, 2*x)", "min(x, 2) * max(x, -1)", "x < 0.5", "where(x <= 0, x, sqrt(x+1))", "where(x != 1, 1, x)", "sqrt(x*x+0.1)",
	"log(2+x^2)", "where(x == 1, 2, x)", "log1p(x^2)", "expm1(x/3)", "atan(3*x)", "x^3 - 2*x", "gelu(x)*cos(x)", "erf(x)+normal_cdf(x)", "exp(-x^2)", "-x*sin(x)", "2*elu(x)+relu(x)", "normal_inverse(x)*2",
}

// Every instruction of a program, the limit of vanishing variance, and first and second
// derivatives, against the CPU.
func TestFormulas(t *testing.T) {
	e := card(t)
	seen := map[bytecode.Code]bool{}
	for _, text := range formulaTexts {
		f, err := fn.Named(text)
		if err != nil {
			t.Errorf("%v", err)
			continue
		}
		for _, in := range f.Formula.Limit.Code {
			seen[in.Code] = true
		}
		n := network(t, 1, nn.Chain{nn.Apply{F: f, Rule: moment.GaussHermite(5)}})
		const many = 200
		x := gauss.New[float32](many, 1)
		for i := range many {
			x.Mean[i], x.Var[i] = float32(i-98)/25, float32(i%5)*float32(i%5)/8
			if i%7 == 0 {
				x.Var[i] = 1e-10
			}
		}
		predict := func(e engine.Engine[float32]) gauss.Batch[float32] {
			p, err := e.Compile(n, nn.Independent)
			if err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			out := gauss.New[float32](many, 1)
			p.NewPredictor(compute.NewPool(1), many).Predict(x, out)
			return out
		}
		got, want := predict(e), predict(engine.CPU[float32]())
		if a, b := off(got.Mean, want.Mean), off(got.Var, want.Var); !(a < 2e-6 && b < 5e-6) {
			t.Errorf("%s: means are off by %.1e, variances by %.1e", text, a, b)
		}
		for i := 0; i < many; i += 7 { // no difference of float32 numbers resolves these variances
			if d := math.Abs(float64(got.Var[i] - want.Var[i])); !(d <= 1e-4*float64(want.Var[i])+1e-16) {
				t.Errorf("%s: at %v the variance is %g, on the CPU %g", text, x.Mean[i], got.Var[i], want.Var[i])
			}
		}
		c := testCase{text, 2, nn.Chain{nn.Dense{Out: 8}, nn.Apply{F: f, Rule: moment.Linear()}, nn.Dense{Out: 1}}, likelihood.Normal{}}
		start := network(t, c.in, c.layers)
		gradients := func(e engine.Engine[float32]) []float32 {
			tr, err := e.Train(clone(start), engine.Job{Data: source(t, c, true, true), Likelihood: c.likelihood, Optimizer: optim.Paper(), Batch: 24, Seed: rng.New(9), Pool: compute.NewPool(1)})
			if err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			tr.Gradient(1)
			tr.Update(engine.Update{Step: 1, Rate: 1e-2})
			if err := tr.Sync(); err != nil {
				t.Fatal(err)
			}
			return tr.State().First.Theta
		}
		if d := off(gradients(e), gradients(engine.CPU[float32]())); !(d < 1e-4) {
			t.Errorf("%s: the gradients are off by %.1e", text, d)
		}
	}
	for c := range bytecode.NumCodes {
		if !seen[c] {
			t.Errorf("no formula has the instruction %d", c)
		}
	}
}
