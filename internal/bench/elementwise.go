package bench

import (
	"utvi/internal/compute/bytecode"
	"utvi/internal/compute/kernel"
	"utvi/internal/expr"
	"utvi/rng"
)

// elements is how many elements an elementwise measurement works on: everything
// stays in the first-level cache.
const elements = 512

type elem struct {
	name string
	run  func()
}

var ops = []struct {
	name string
	op   kernel.Op
	a    float32
}{
	{"leaky_relu", kernel.OpLeakyReLU, 0.01}, {"elu", kernel.OpELU, 1}, {"gelu", kernel.OpGELU, 0},
	{"silu", kernel.OpSiLU, 0}, {"softplus", kernel.OpSoftplus, 0}, {"sigmoid", kernel.OpSigmoid, 0},
	{"tanh", kernel.OpTanh, 0}, {"erf", kernel.OpErf, 0}, {"normal_cdf", kernel.OpNormalCDF, 0},
	{"exp", kernel.OpExp, 0}, {"sin", kernel.OpSin, 0}, {"cos", kernel.OpCos, 0},
	{"square", kernel.OpSquare, 0}, {"normal_inverse", kernel.OpNormalInverse, 0},
}

// formulas run as programs, also those that spell a function with a kernel.
var formulas = []string{"x/(1+x*x)", "x*sigmoid(x)", "log(1+exp(x))", "x+tanh(x)", "x*tanh(softplus(x))"}

// elementwise lists the elementwise kernels: each function's value and slope, some
// formulas' too, and the arithmetic of the rules, the random numbers and the
// optimiser.
func elementwise() []elem {
	const n = elements
	x := noise(3*n, 1)
	f := make([]float32, 3*n)
	d := noise(3*n, 2)
	m := noise(n, 3)
	v := positive(n, 4)
	s := make([]float32, n)
	var o kernel.Moments[float32]
	for _, p := range []*[]float32{&o.Mean, &o.Var, &o.MM, &o.MV, &o.VM, &o.VV} {
		*p = make([]float32, n)
	}
	xi, w := []float32{0, -1.7320508, 1.7320508}, []float32{2. / 3, 1. / 6, 1. / 6}
	var list []elem
	for _, op := range ops {
		list = append(list, elem{op.name, func() { kernel.Eval(op.op, op.a, x[:n], f[:n], d[:n]) }})
	}
	for _, text := range formulas {
		g, err := expr.Parse(text)
		if err != nil {
			panic("bench: a formula is wrong")
		}
		machine, out := bytecode.NewMachine[float32](g.Pair), [][]float32{f[:n], d[:n]}
		list = append(list, elem{text, func() { machine.Run(x[:n], nil, out) }})
	}
	a := &kernel.AdamW{LR: 1e-9, Beta1: 0.9, Beta2: 0.999, Eps: 1e-8, C1: 1, C2: 1, Clip: 1, KL: 1e-4, PriorVar: 1}
	mu := noise(n, 5)
	rho := noise(n, 6)
	gm := noise(n, 7)
	gs := noise(n, 8)
	mem := make([]float32, 4*n)
	return append(list,
		elem{"points_ut", func() { kernel.Points(m, v, s, x, xi) }},
		elem{"combine_ut", func() { kernel.Combine(o, s, x, d, xi, w, 0, 1) }},
		elem{"vjp", func() { kernel.VJP(gm, gs, o, m, s) }},
		elem{"exact_leaky_relu", func() { kernel.LeakyMoments(o, 0.01, m, v) }},
		elem{"normals", func() { kernel.Normals(f[:n], rng.New(1), 0, 0, n/4, 4) }},
		elem{"kl_norm", func() { kernel.KLNorm(a, mu, rho, gm, gs) }},
		elem{"adamw_step", func() {
			kernel.StepRandom(a, &kernel.Tensor[float32]{Mu: mu, Rho: rho, GMu: gm, GVar: gs,
				M1Mu: mem[:n], M2Mu: mem[n : 2*n], M1Rho: mem[2*n : 3*n], M2Rho: mem[3*n:]})
		}},
	)
}
