package main

import (
	"utvi/internal/compute/gen/lane"
	"utvi/internal/compute/gen/vec"
)

func stepPoint() {
	lane.Func("stepPointAsm", "func(x, grad, m1, m2 *float32, n int, k *[16]float32)", "computes StepPoint.")
	x, grad, m1, m2 := lane.Arg("x"), lane.Arg("grad"), lane.Arg("m1"), lane.Arg("m2")
	k := spread(beta1, rest1, beta2, rest2, rate, root, eps, clip, keep)
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
