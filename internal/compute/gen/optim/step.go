package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"utvi/internal/compute/gen/isa"
	"utvi/internal/compute/gen/lane"
	"utvi/internal/compute/gen/vec"
)

func stepPoint() {
	lane.Func("stepPointAsm", "func(x, grad, m1, m2 *float32, n int, k *[16]float32)", "computes StepPoint.")
	x := lane.Arg("x")
	grad := lane.Arg("grad")
	m1 := lane.Arg("m1")
	m2 := lane.Arg("m2")
	k := spread(beta1, rest1, beta2, rest2, rate, root, eps, clip, keep)
	if isa.AVX512 {
		in, out := []reg.Register{x, grad, m1, m2}, []reg.Register{m2, m1, x}
		vec.Loop("", lane.Arg("n"), in, out, func(x []vec.V) []vec.V {
			return stepWide(k, k[keep], x[0], vec.Mul(x[1], k[clip]), x[2], x[3])
		})
		lane.End()
		return
	}
	lane.Together(2, lane.Arg("n"), func(at []lane.At) {
		for _, at := range at { // what is stored comes last, so that nothing waits behind it
			g := vec.Mul(at.Load(grad), k[clip])
			b := vec.Mul(at.Load(m2), k[beta2])
			vec.AddMul(b, vec.Mul(g, g), k[rest2])
			a := vec.Mul(at.Load(m1), k[beta1])
			vec.AddMul(a, g, k[rest1])
			d := vec.Add(vec.Mul(vec.Sqrt(b), k[root]), k[eps])
			y := vec.Sub(vec.Mul(at.Load(x), k[keep]), vec.Div(vec.Mul(a, k[rate]), d))
			at.Store(b, m2)
			at.Store(a, m1)
			at.Store(y, x)
		}
	})
	lane.End()
}

// stepWide returns the moments and the parameter after a step along gradient g, for AVX-512: the
// divider has to divide only.
func stepWide(k map[int]Mem, keep Op, x, g, m1, m2 vec.V) []vec.V {
	b := vec.AddMul(vec.Mul(m2, k[beta2]), vec.Mul(g, g), k[rest2])
	a := vec.AddMul(vec.Mul(m1, k[beta1]), g, k[rest1])
	d := vec.RootTimes(b, k[root], k[halfRoot], k[eps])
	return []vec.V{b, a, vec.MulSub(vec.Copy(x), vec.Reg(keep), vec.Div(vec.Mul(a, k[rate]), d))}
}

// With AVX-512, gradRho and gradMean are followed by the step of the same vector: while
// arithmetic goes on, parameters and moments come and go.

// keepOf is the factor keep of ρ or μ in all lanes; their decays differ.
func keepOf() Mem {
	address, err := Param("keep").Resolve()
	if err != nil {
		panic(err)
	}
	return vec.All(address.Addr)
}

func stepRho() {
	isa.Own("stepRhoAsm", "func(gr, rest, y, rho, gs, m1, m2 *float32, n int, k *[16]float32, keep float32)",
		"is gradRho, and the step of ρ.")
	rho := lane.Arg("rho")
	gr := lane.Arg("gr")
	m1 := lane.Arg("m1")
	m2 := lane.Arg("m2")
	k := spread()
	keep := keepOf()
	vec.LoopBehind(lane.Arg("n"), vec.Stage{
		In: []reg.Register{rho, lane.Arg("gs")}, Out: []reg.Register{gr, lane.Arg("rest"), lane.Arg("y")},
		Body: func(x []vec.V) []vec.V { return gradRhoOf(k, newSigma(x[0], exponential(x[0])), x[1]) },
	}, vec.Stage{
		In: []reg.Register{rho, gr, m1, m2}, Out: []reg.Register{m2, m1, rho},
		Body: func(x []vec.V) []vec.V { return stepWide(k, keep, x[0], x[1], x[2], x[3]) },
	})
	lane.End()
}

func stepMean() {
	isa.Own("stepMeanAsm", "func(gr, rest, y, mu, gmu, m1, m2 *float32, n int, k *[16]float32, keep float32) (kl, norm2 float64)",
		"is gradMean, and the step of μ.")
	gr := lane.Arg("gr")
	rest := lane.Arg("rest")
	y := lane.Arg("y")
	mu := lane.Arg("mu")
	gmu := lane.Arg("gmu")
	m1 := lane.Arg("m1")
	m2 := lane.Arg("m2")
	k := spread()
	keep, all := keepOf(), newSums()
	lane.Together(turn(), lane.Arg("n"), func(at []lane.At) {
		var p part
		for _, v := range at {
			x := v.Load(mu)
			d := vec.Sub(x, k[priorMean])
			g := vec.AddMul(vec.Mul(v.Load(gmu), k[clip]), d, k[pull])
			p.add(k, len(at), g, v.Load(gr), d, v.Load(rest), v.Load(y))
			s := stepWide(k, keep, x, g, v.Load(m1), v.Load(m2))
			v.Store(s[0], m2)
			v.Store(s[1], m1)
			v.Store(s[2], mu)
		}
		all.add(at[0], p)
	})
	all.store()
	lane.End()
}
