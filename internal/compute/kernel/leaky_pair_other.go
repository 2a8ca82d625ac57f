//go:build !amd64

package kernel

import "utvi/internal/compute/internal/cpu"

func (p *LeakyPair) push(m, v, mean, variance []float32) { panic(cpu.NotWide) }

func (p *LeakyPair) pull(m, v, gm, gv, dm, dv []float32, rows int) { panic(cpu.NotWide) }

// PullOne has no kernel.
func (p *LeakyPair) PullOne(x *OneOutput, dm, dv []float32, rows int) { panic(cpu.NotWide) }

// PushOuter has no kernel.
func (p *LeakyPair) PushOuter(l *OneInput, mean, variance, squares []float32, rows int) {
	panic(cpu.NotWide)
}

// SumOuter has no kernel.
func (p *LeakyPair) SumOuter(l *OneInput, gm, gv []float32, to *OneInputGradients, rows int, add bool) {
	panic(cpu.NotWide)
}
