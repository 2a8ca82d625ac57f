package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"utvi/internal/compute"
	"utvi/internal/compute/internal/computetest"
)

// ruleCase is a rule applied to tanh(x) + x²/5 over n Gaussians.
type ruleCase struct {
	n, points, ref int
	each           bool
	c              float64
}

var ruleCases = []ruleCase{
	{1, 3, 0, false, 1}, {7, 3, 1, false, 1}, {8, 3, 2, false, 1.25}, {13, 3, 0, false, 1},
	{61, 3, 1, false, 1}, {11, 3, 2, false, 1}, {5, 1, 0, false, 1}, {16, 2, 1, false, 1}, {29, 5, 2, false, 1},
	{24, 9, 4, false, 2}, {9, 2, 0, true, 2}, {31, 3, 0, true, 1.5}, {40, 10, 0, true, 10.0 / 9},
	{63, 21, 0, true, 21.0 / 20},
}

func (c ruleCase) String() string {
	return fmt.Sprintf("n=%d/points=%d/ref=%d/each=%v", c.n, c.points, c.ref, c.each)
}

// planes holds the inputs and outputs of one case.
type planes[T compute.Float] struct {
	m, v, s, x, xi, w, f, d []T
	o                       Moments[T]
	sums                    *Samples[T]
}

func newPlanes[T compute.Float](c ruleCase) *planes[T] {
	src := rand.New(rand.NewPCG(uint64(c.n), uint64(c.points)))
	fill := func(n int, f func() float64) []T {
		a := make([]T, n)
		for i := range a {
			a[i] = T(f())
		}
		return a
	}
	p := &planes[T]{m: fill(c.n, src.NormFloat64), v: fill(c.n, src.ExpFloat64), sums: NewSamples[T](c.n)}
	for i := range p.v {
		if i%5 == 4 {
			p.v[i] = 0
		}
	}
	nodes := c.points
	if c.each {
		nodes *= c.n
	}
	p.xi = fill(nodes, src.NormFloat64)
	if c.points == 3 && c.n != 8 {
		p.xi[c.ref] = 0 // the unscented shape; n = 8 is a rule without a centre
	}
	var sum float64
	p.w = fill(c.points, func() float64 { return 0.1 + src.Float64() })
	for _, w := range p.w {
		sum += float64(w)
	}
	for i := range p.w {
		p.w[i] = T(float64(p.w[i]) / sum)
	}
	make := func() []T { return make([]T, c.n) }
	p.s, p.o = make(), Moments[T]{make(), make(), make(), make(), make(), make()}
	for _, a := range []*[]T{&p.x, &p.f, &p.d} {
		*a = fill(c.n*c.points, func() float64 { return math.NaN() })
	}
	return p
}

func (p *planes[T]) run(c ruleCase, jacobian bool) {
	if c.each {
		PointsEach(p.m, p.v, p.s, p.x, p.xi)
	} else {
		Points(p.m, p.v, p.s, p.x, p.xi)
	}
	for i, x := range p.x {
		t := math.Tanh(float64(x))
		p.f[i], p.d[i] = T(t+float64(x)*float64(x)/5), T(1-t*t+float64(x)*2/5)
	}
	o, d := p.o, p.d
	if !jacobian {
		o, d = Moments[T]{Mean: o.Mean, Var: o.Var}, nil
	}
	if c.each {
		p.sums.Begin(c.n)
		for lo := 0; lo < len(p.f); lo += 4 * c.n { // four planes at a time
			hi := min(len(p.f), lo+4*c.n)
			if jacobian {
				d = p.d[lo:hi]
			}
			p.sums.Add(p.f[lo:hi], d, p.xi[lo:hi])
		}
		p.sums.Moments(o, p.s)
	} else {
		Combine(o, p.s, p.f, d, p.xi, p.w, c.ref, T(c.c))
	}
}

// want is the plain definition in float64: weighted mean and variance, and
// derivatives of both by m and v.
func (p *planes[T]) want(c ruleCase, i int) (want [6]float64) {
	m, s := float64(p.m[i]), math.Sqrt(float64(p.v[i]))
	at := func(j int) (w, xi, f, d float64) {
		w, xi = 1/float64(c.points), float64(p.xi[min(j*c.n+i, len(p.xi)-1)])
		if !c.each {
			w, xi = float64(p.w[j]), float64(p.xi[j])
		}
		x := m + xi*s
		t := math.Tanh(x)
		return w, xi, t + x*x/5, 1 - t*t + x*2/5
	}
	for j := range c.points {
		w, xi, f, d := at(j)
		want[0] += w * f
		want[2] += w * d
		want[3] += w * d * xi / (2 * s)
	}
	for j := range c.points {
		w, xi, f, d := at(j)
		r := f - want[0]
		want[1] += c.c * w * r * r
		want[4] += c.c * w * 2 * r * d
		want[5] += c.c * w * 2 * r * d * xi / (2 * s)
	}
	if s == 0 {
		_, _, f, d := at(0)
		want = [6]float64{f, 0, d, 0, 0, d * d}
	}
	return want
}

func (o Moments[T]) at(i int) [6]float64 {
	return [6]float64{float64(o.Mean[i]), float64(o.Var[i]), float64(o.MM[i]),
		float64(o.MV[i]), float64(o.VM[i]), float64(o.VV[i])}
}

func testRule[T compute.Float](t *testing.T, c ruleCase, tol float64) {
	p := newPlanes[T](c)
	p.run(c, true)
	for i := range c.n {
		want, got := p.want(c, i), p.o.at(i)
		scale := 1 + math.Abs(want[0]) + want[1]
		for k := range want {
			limit := tol * scale
			if k == 3 || k == 5 {
				limit *= 1 + 1/math.Sqrt(float64(p.v[i])+1e-30)
			}
			if p.v[i] == 0 {
				limit = tol * (1 + math.Abs(want[k]))
			}
			if !(math.Abs(got[k]-want[k]) <= limit) {
				t.Errorf("element %d: moment %d is %g, want %g", i, k, got[k], want[k])
			}
		}
	}
	for i, v := range p.v {
		f, g := p.f[c.ref*c.n+i], p.d[c.ref*c.n+i]
		if v == 0 && p.o.at(i) != [6]float64{float64(f), 0, float64(g), 0, 0, float64(g * g)} {
			t.Errorf("element %d without variance: %v for value %g and slope %g", i, p.o.at(i), f, g)
		}
	}
	// Without the Jacobian: the same mean and variance.
	q := newPlanes[T](c)
	q.run(c, false)
	for i := range c.n {
		if p.o.Mean[i] != q.o.Mean[i] || p.o.Var[i] != q.o.Var[i] {
			t.Errorf("element %d differs without the Jacobian", i)
		}
		if q.o.MM[i] != 0 || q.o.VV[i] != 0 {
			t.Errorf("element %d: a Jacobian nobody asked for", i)
		}
	}
}

func TestRule(t *testing.T) {
	computetest.EachFamily(t, func(t *testing.T) {
		for _, c := range ruleCases {
			t.Run(c.String(), func(t *testing.T) {
				testRule[float32](t, c, 3e-6)
				testRule[float64](t, c, 1e-14)
			})
		}
	})
}

// TestRuleAlone computes every element by itself: the bits do not depend on the
// neighbours, the place or the length.
func TestRuleAlone(t *testing.T) {
	computetest.EachFamily(t, func(t *testing.T) {
		for _, c := range ruleCases {
			all := newPlanes[float32](c)
			all.run(c, true)
			for i := range c.n {
				one := c
				one.n = 1
				p := newPlanes[float32](one)
				p.m[0], p.v[0] = all.m[i], all.v[i]
				copy(p.w, all.w)
				copy(p.xi, all.xi)
				if c.each {
					for j := range c.points {
						p.xi[j] = all.xi[j*c.n+i]
					}
				}
				p.run(one, true)
				if p.o.at(0) != all.o.at(i) {
					t.Errorf("%v: element %d is %v alone, %v among others", c, i, p.o.at(0), all.o.at(i))
				}
			}
		}
	})
}

// TestRuleWrites sees that nothing is written beyond the ends.
func TestRuleWrites(t *testing.T) {
	computetest.EachFamily(t, func(t *testing.T) {
		for n := range 20 {
			a, x := make([]float32, n+9), make([]float32, n+9)
			for i := range a {
				a[i], x[i] = 7, float32(i)+0.5
			}
			Square(a[:n], x[:n])
			for i := range a {
				if want := x[i] * x[i]; i < n && a[i] != want || i >= n && a[i] != 7 {
					t.Fatalf("n %d: Square leaves %g at %d", n, a[i], i)
				}
			}
		}
	})
}

func TestVJP(t *testing.T) {
	computetest.EachFamily(t, func(t *testing.T) {
		for _, n := range []int{0, 1, 7, 8, 21} {
			c := ruleCase{n: n, points: 3, c: 1}
			p := newPlanes[float32](c)
			p.run(c, true)
			gm, gv := make([]float32, n), make([]float32, n)
			dm, dv := make([]float32, n), make([]float32, n)
			for i := range gm {
				gm[i], gv[i] = float32(i)-3.3, 0.7*float32(i)+1
			}
			VJP(gm, gv, p.o, dm, dv)
			for i := range dm {
				o := p.o.at(i)
				a := float64(gm[i])
				b := float64(gv[i])
				m, v := a*o[2]+b*o[4], a*o[3]+b*o[5]
				if math.Abs(float64(dm[i])-m) > 1e-6*(math.Abs(a*o[2])+math.Abs(b*o[4])) ||
					math.Abs(float64(dv[i])-v) > 1e-6*(math.Abs(a*o[3])+math.Abs(b*o[5])) {
					t.Errorf("element %d: %g, %g, want %g, %g", i, dm[i], dv[i], m, v)
				}
			}
			VJP(gm, gv, p.o, gm, gv) // in place
			for i := range dm {
				if gm[i] != dm[i] || gv[i] != dv[i] {
					t.Errorf("element %d differs in place", i)
				}
			}
		}
	})
}

func TestRuleAllocates(t *testing.T) {
	computetest.EachFamily(t, func(t *testing.T) {
		for _, c := range []ruleCase{{21, 3, 0, false, 1}, {21, 5, 2, false, 1}, {21, 3, 0, true, 1.5}} {
			p, q := newPlanes[float32](c), newPlanes[float64](c)
			if a := testing.AllocsPerRun(10, func() {
				p.run(c, true)
				q.run(c, true)
				VJP(p.m, p.v, p.o, p.s, p.v)
				Square(p.m, p.s)
			}); a != 0 {
				t.Errorf("%v: %g allocations", c, a)
			}
		}
	})
}
