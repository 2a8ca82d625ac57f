package kernel

import (
	"utvi/internal/compute"
	"utvi/internal/compute/internal/cpu"
)

// This file is the arithmetic of maxima; nn.MaxPool2D has the mathematics. Every family computes
// the same bits.

// Couples are Normals N(m₁, v₁) and N(m₂, v₂), element by element.
type Couples[T compute.Float] struct{ M1, V1, M2, V2 []T }

// A Larger has the derivatives of the mean m and the variance v of the larger of two Normals: MM1 and
// MM2 are ∂m/∂m₁ and ∂m/∂m₂, MV is ∂m/∂v₁ = ∂m/∂v₂, VM is ∂v/∂m₁ = −∂v/∂m₂, VV1 and VV2 are ∂v/∂v₁
// and ∂v/∂v₂.
type Larger[T compute.Float] struct{ MM1, MM2, MV, VM, VV1, VV2 []T }

// Cut is the part of n elements from at on.
func (l *Larger[T]) Cut(at, n int) Larger[T] {
	return Larger[T]{l.MM1[at:][:n], l.MM2[at:][:n], l.MV[at:][:n], l.VM[at:][:n], l.VV1[at:][:n], l.VV2[at:][:n]}
}

func (l *Larger[T]) check(n int) {
	if len(l.MM1) != n || len(l.MM2) != n || len(l.MV) != n || len(l.VM) != n || len(l.VV1) != n || len(l.VV2) != n {
		panic("compute: Larger lengths differ")
	}
}

func (c *Couples[T]) check(n int) {
	if len(c.M1) != n || len(c.V1) != n || len(c.M2) != n || len(c.V2) != n {
		panic("compute: Couples lengths differ")
	}
}

func couples32[T compute.Float](c *Couples[T]) *Couples[float32] {
	return &Couples[float32]{cpu.As32(c.M1), cpu.As32(c.V1), cpu.As32(c.M2), cpu.As32(c.V2)}
}

// Differences writes the Normals whose ReLU μ is what the larger one of a couple has beyond the
// larger mean: of mean −|m₁ − m₂| and variance v₁ + v₂.
func Differences[T compute.Float](mean, variance []T, c *Couples[T]) {
	n := len(mean)
	c.check(n)
	if len(variance) != n {
		panic("compute: Differences lengths differ")
	}
	if cpu.Is32[T]() && cpu.Vector && n > 0 {
		differencesVector(cpu.As32(mean), cpu.As32(variance), couples32(c))
		return
	}
	for i := range mean {
		mean[i] = min(c.M1[i]-c.M2[i], c.M2[i]-c.M1[i])
		variance[i] = c.V1[i] + c.V2[i]
	}
}

// shares are the parts of the variances of the one with the larger mean and of the other that the
// maximum keeps; s is not 0.
func shares[T compute.Float](d, s, mu, u T) (high, low T) {
	return 1 - (u+T(2*mu*(mu-d)))/s, u / s
}

// LargerMoments writes the moments of the larger one, from the moments mu and u of the ReLU of
// their difference. m and v may be those of the couple.
func LargerMoments[T compute.Float](m, v []T, c *Couples[T], mu, u []T) {
	n := len(m)
	c.check(n)
	if len(v) != n || len(mu) != n || len(u) != n {
		panic("compute: LargerMoments lengths differ")
	}
	if cpu.Is32[T]() && cpu.Vector && n > 0 {
		largerMomentsVector(cpu.As32(m), cpu.As32(v), couples32(c), cpu.As32(mu), cpu.As32(u))
		return
	}
	for i := range m {
		m1, m2 := c.M1[i], c.M2[i]
		v1, v2 := c.V1[i], c.V2[i]
		s := v1 + v2
		if s == 0 {
			s = 1 // mu and u are zero
		}
		high, low := shares(min(m1-m2, m2-m1), s, mu[i], u[i])
		if m1 >= m2 {
			m[i], v[i] = m1+mu[i], T(v1*high)+T(v2*low)
		} else {
			m[i], v[i] = m2+mu[i], T(v2*high)+T(v1*low)
		}
	}
}

// LargerSlopes writes the derivatives but MV. MM2 must hold the chance that the one with the smaller
// mean is the larger, which is ∂mu/∂mean; MV is ∂mu/∂variance already.
func LargerSlopes[T compute.Float](l *Larger[T], c *Couples[T], mu, u []T) {
	n := len(mu)
	c.check(n)
	l.check(n)
	if len(u) != n {
		panic("compute: LargerSlopes lengths differ")
	}
	if cpu.Is32[T]() && cpu.Vector && n > 0 {
		largerSlopesVector(larger32(l), couples32(c), cpu.As32(mu), cpu.As32(u))
		return
	}
	for i, mu := range mu {
		m1, m2 := c.M1[i], c.M2[i]
		v1, v2 := c.V1[i], c.V2[i]
		d, s := min(m1-m2, m2-m1), v1+v2
		if s == 0 {
			s = 1
		}
		first := m1 >= m2
		if !first {
			v1, v2 = v2, v1
		}
		chance := l.MM2[i]
		high, low := shares(d, s, mu, u[i])
		vm := 2 * (T(T(v1/s*(mu-d))*chance) - T(T(v2/s*mu)*(1-chance)))
		along := T(vm*d) / (2 * s)
		l.MM1[i], l.MM2[i] = 1-chance, chance
		l.VM[i] = vm
		l.VV1[i], l.VV2[i] = high+along, low+along
		if !first {
			l.MM1[i], l.MM2[i] = chance, 1-chance
			l.VM[i] = 0 - vm
			l.VV1[i], l.VV2[i] = low+along, high+along
		}
	}
}

func larger32[T compute.Float](l *Larger[T]) *Larger[float32] {
	return &Larger[float32]{cpu.As32(l.MM1), cpu.As32(l.MM2), cpu.As32(l.MV), cpu.As32(l.VM), cpu.As32(l.VV1), cpu.As32(l.VV2)}
}

// LargerBack takes the gradients g and h by the moments of the larger one back: those by the second
// Normal go to dm and dv, those by the first stay in g and h.
func LargerBack[T compute.Float](dm, dv, g, h []T, l *Larger[T]) {
	n := len(g)
	l.check(n)
	if len(h) != n || len(dm) != n || len(dv) != n {
		panic("compute: LargerBack lengths differ")
	}
	if cpu.Is32[T]() && cpu.Vector && n > 0 {
		largerBackVector(cpu.As32(dm), cpu.As32(dv), cpu.As32(g), cpu.As32(h), larger32(l))
		return
	}
	for i, x := range g {
		y := h[i]
		a, b := T(y*l.VM[i]), T(x*l.MV[i])
		dm[i] = T(x*l.MM2[i]) - a
		dv[i] = b + T(y*l.VV2[i])
		g[i] = T(x*l.MM1[i]) + a
		h[i] = b + T(y*l.VV1[i])
	}
}
