package kernel

import (
	"testing"

	"utvi/internal/compute/internal/computetest"
)

// BenchmarkRule times points and sums of a tile in L1 without evaluating.
func BenchmarkRule(b *testing.B) {
	const n = 520
	for _, c := range []struct {
		name     string
		points   int
		each     bool
		jacobian bool
	}{
		{"3", 3, false, false}, {"3J", 3, false, true}, {"5J", 5, false, true}, {"9J", 9, false, true},
		{"Each3", 3, true, false}, {"Each3J", 3, true, true}, {"Each16J", 16, true, true},
	} {
		rule := ruleCase{n: n, points: c.points, ref: 1, each: c.each, c: 1}
		p := newPlanes[float32](rule)
		p.run(rule, true)
		o, d := p.o, p.d
		if !c.jacobian {
			o, d = Moments[float32]{Mean: o.Mean, Var: o.Var}, nil
		}
		points := func() {
			if c.each {
				PointsEach(p.m, p.v, p.s, p.x, p.xi)
			} else {
				Points(p.m, p.v, p.s, p.x, p.xi)
			}
		}
		combine := func() {
			if c.each {
				p.sums.Begin(n)
				p.sums.Add(p.f, d, p.xi)
				p.sums.Moments(o, p.s)
			} else {
				Combine(o, p.s, p.f, d, p.xi, p.w, 1, 1)
			}
		}
		b.Run(c.name+"/points", func(b *testing.B) {
			for b.Loop() {
				points()
			}
			computetest.PerElement(b, n)
		})
		b.Run(c.name+"/combine", func(b *testing.B) {
			for b.Loop() {
				combine()
			}
			computetest.PerElement(b, n)
		})
	}
}

func BenchmarkVJP(b *testing.B) {
	const n = 512
	c := ruleCase{n: n, points: 3, c: 1}
	p := newPlanes[float32](c)
	p.run(c, true)
	for b.Loop() {
		VJP(p.m, p.v, p.o, p.s, p.x[:n])
	}
	computetest.PerElement(b, n)
}

func BenchmarkSquare(b *testing.B) {
	x, y := make([]float32, 512), make([]float32, 512)
	for b.Loop() {
		Square(y, x)
	}
	computetest.PerElement(b, 512)
}
