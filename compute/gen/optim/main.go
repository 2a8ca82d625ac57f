// Command optim generates the kernels of the optimiser: the AdamW step with the
// gradient of the KL, the KL itself, and σ² = softplus(ρ)².
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"

	"utvi/compute/gen/lane"
	"utvi/compute/gen/out"
	"utvi/compute/gen/vec"
)

func main() {
	stepRandom()
	stepPoint()
	klNorm()
	norm2()
	variance()
	out.Write("optim", "lane", "vec")
}

// The factors the kernels take, in the order of type factors in package compute.
const (
	beta1 = iota
	rest1 // 1 − β₁
	beta2
	rest2
	rate
	root
	eps
	keepMean
	keepRho
	clip
	twoClip
	pull // Clip·KL/σ₀²
	push // Clip·KL
	priorMean
	lnPrior // ln σ₀ − ½
	halfPrior
	numFactors
)

// spread lays the chosen factors out on the stack, eight lanes each.
func spread(chosen ...int) map[int]Mem {
	table := lane.Arg("k")
	local := lane.Vectors(len(chosen))
	m := map[int]Mem{}
	for i, c := range chosen {
		r := YMM()
		VBROADCASTSS(Mem{Base: table, Disp: 4 * c}, r)
		m[c] = local.Offset(32 * i)
		VMOVUPS(r, m[c])
	}
	return m
}

func variance() {
	lane.Func("varianceAVX2", "func(dst, rho *float32, n int)", "computes Variance.")
	dst, rho := lane.Arg("dst"), lane.Arg("rho")
	lane.Together(4, lane.Arg("n"), func(at []lane.At) {
		for i, s := range sigmas(at, rho) {
			at[i].Store(vec.Mul(s.sigma, s.sigma), dst)
		}
	})
	lane.End()
}
