// Command optim generates the kernels of the optimiser: the AdamW step with the
// gradient of the KL, the KL itself, and σ² = softplus(ρ)².
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

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

// function opens a leaf function.
func function(name, signature, doc string) {
	TEXT(name, NOSPLIT, signature)
	Doc(name + " " + doc)
	Pragma("noescape")
}

func finish() {
	VZEROUPPER()
	RET()
}

func param(name string) GPVirtual { return Load(Param(name), GP64()).(GPVirtual) }

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
	table := param("k")
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
	function("varianceAVX2", "func(dst, rho *float32, n int)", "computes Variance.")
	dst, rho := param("dst"), param("rho")
	lane.Each(param("n"), func(at lane.At) {
		s := sigmaOf(at.Load(rho)).sigma
		at.Store(vec.Mul(s, s), dst)
	})
	finish()
}
