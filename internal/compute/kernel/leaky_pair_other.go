//go:build !amd64

package kernel

import "utvi/internal/compute/internal/cpu"

func (p *LeakyPair) push(m, v, mean, variance []float32) { panic(cpu.NotWide) }

func (p *LeakyPair) pull(m, v, gm, gv, dm, dv []float32, rows int) { panic(cpu.NotWide) }

func (p *LeakyPair) PullOne(m, v, mean, columns, g, h, dm, dv []float32, rows int) {
	panic(cpu.NotWide)
}

func (p *LeakyPair) PushOuter(x, w, s, bm, bs, mean, variance, squares []float32, rows int) {
	panic(cpu.NotWide)
}

func (p *LeakyPair) SumOuter(x, w, s, bm, bs, gm, gv, gw, gs, gbm, gbs []float32, rows int, add bool) {
	panic(cpu.NotWide)
}
