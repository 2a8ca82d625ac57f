// Command optim generates the kernels of the optimiser: the AdamW step, the
// gradients it takes with the KL and its sum, and σ² = softplus(ρ)².
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"utvi/internal/compute/gen/isa"
	"utvi/internal/compute/gen/lane"
	"utvi/internal/compute/gen/out"
	"utvi/internal/compute/gen/vec"
)

func main() {
	stepPoint()
	gradRho()
	gradMean()
	norm2()
	variance()
	varianceSecond()
	if isa.AVX512 {
		stepRho()
		stepMean()
		prepare()
	}
	out.Write("optim", "kernel", "isa", "lane", "vec")
}

// The factors the kernels take, in the order of AdamW.factors in package compute.
const (
	beta1 = iota
	rest1 // 1 − β₁
	beta2
	rest2
	rate
	root
	eps
	keep
	clip
	twoClip
	pull // Clip·KL/σ₀²
	push // Clip·KL
	priorMean
	lnPrior // ln σ₀ − ½
	halfPrior
	halfRoot
)

// spread lays the chosen factors out on the stack, all lanes alike. AVX-512 needs no such copies: it
// has them all.
func spread(chosen ...int) map[int]Mem {
	table := lane.Arg("k")
	m := map[int]Mem{}
	if isa.AVX512 {
		for c := range halfRoot + 1 {
			m[c] = vec.All(Mem{Base: table, Disp: 4 * c})
		}
		return m
	}
	local := lane.Vectors(len(chosen))
	for i, c := range chosen {
		r := isa.Vec()
		VBROADCASTSS(Mem{Base: table, Disp: 4 * c}, r)
		m[c] = local.Offset(isa.Bytes * i)
		VMOVUPS(r, m[c])
	}
	return m
}

// pointers reads n of them from the array that an argument points to.
func pointers(name string, n int) (p []reg.Register) {
	from := lane.Arg(name)
	for i := range n {
		r := GP64()
		MOVQ(Mem{Base: from, Disp: 8 * i}, r)
		p = append(p, r)
	}
	return p
}
