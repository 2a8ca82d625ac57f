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
		for _, at := range at {
			g := vec.Mul(at.Load(grad), k[clip])
			b := vec.Mul(at.Load(m2), k[beta2])
			vec.AddMul(b, vec.Mul(g, g), k[rest2])
			at.Store(b, m2)
			a := vec.Mul(at.Load(m1), k[beta1])
			vec.AddMul(a, g, k[rest1])
			at.Store(a, m1)

			d := vec.Add(vec.Mul(vec.Sqrt(b), k[root]), k[eps])
			y := vec.Mul(at.Load(x), k[keep])
			at.Store(vec.Sub(y, vec.Div(vec.Mul(a, k[rate]), d)), x)
		}
	})
	lane.End()
}
