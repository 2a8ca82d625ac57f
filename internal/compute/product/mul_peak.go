package product

import (
	"runtime"
	"time"

	"utvi/internal/compute/internal/cpu"
)

// PeakGFLOPS measures for about d what one core can do at most: billions of
// float32 operations a second in independent multiply-adds that touch no
// memory, the best of many short runs. It is what products are compared with.
func PeakGFLOPS(d time.Duration) float64 {
	const rounds = 20_000
	best := 0.0
	for begin := time.Now(); ; {
		t := time.Now()
		var ops float64
		if cpu.Vector {
			fmaLoop(rounds)
			ops = float64(2 * fmaRound * cpu.Lanes() * rounds)
		} else {
			ops = 16 * rounds
			runtime.KeepAlive(addLoop(rounds))
		}
		best = max(best, ops/float64(time.Since(t).Nanoseconds()))
		if time.Since(begin) >= d {
			return best
		}
	}
}

// fmaRound is how many multiply-adds of vectors a round of fmaLoop has.
var fmaRound = map[bool]int{false: 12, true: 24}[runtime.GOARCH == "arm64"]

// addLoop is the twin of fmaLoop: n rounds of 8 independent multiply-adds.
func addLoop(n int) float32 {
	var a, b, c, d, e, f, g, h float32
	x := float32(n) * 0x1p-20
	for range n {
		a += float32(x * a)
		b += float32(x * b)
		c += float32(x * c)
		d += float32(x * d)
		e += float32(x * e)
		f += float32(x * f)
		g += float32(x * g)
		h += float32(x * h)
	}
	return a + b + c + d + e + f + g + h
}
