package affine

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"utvi/internal/compute/kernel"
)

// A convCase is a convolution with operands, worked out by plain loops over the
// definitions.
type convCase struct {
	w                Window
	out              int
	wm, rho, s       []float64
	bm, brho, bs     []float64
	m, v, g, h       []float64
	mo, vo, dm, dv   []float64
	gw, gs, gbm, gbs []float64
}

func newConvCase(r *rand.Rand) *convCase {
	c := &convCase{out: 1 + r.IntN(20)}
	w := Window{H: 1 + r.IntN(6), W: 1 + r.IntN(8), C: 1 + r.IntN(4), KH: 1 + r.IntN(4), KW: 1 + r.IntN(4), Down: 1 + r.IntN(3), Across: 1 + r.IntN(3), Rise: 1, Run: 1, Groups: 1}
	if r.IntN(2) == 0 {
		w.Across = w.Down
	}
	if r.IntN(3) == 0 {
		w.Rise, w.Run = 1+r.IntN(3), 1+r.IntN(3)
	}
	if r.IntN(3) == 0 {
		w.Groups = 1 + r.IntN(3)
		w.C *= w.Groups
		c.out *= w.Groups
	}
	w.Top, w.Left = r.IntN(w.KH), r.IntN(w.KW)
	w.OH, w.OW = 1+r.IntN(6), 1+r.IntN(6) // windows may leave the image on every side
	c.w = w
	fill := func(n int, f func() float64) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = f()
		}
		return x
	}
	channels, filters := w.C/w.Groups, c.out/w.Groups
	n := w.KH * w.KW * channels * c.out
	in := w.H * w.W * w.C
	places := w.OH * w.OW * c.out
	c.wm, c.rho = fill(n, r.NormFloat64), fill(n, r.NormFloat64)
	c.bm, c.brho = fill(c.out, r.NormFloat64), fill(c.out, r.NormFloat64)
	c.m, c.v = fill(in, r.NormFloat64), fill(in, r.Float64)
	c.g, c.h = fill(places, r.NormFloat64), fill(places, r.NormFloat64)
	c.s, c.bs = make([]float64, n), make([]float64, c.out)
	kernel.Variance(c.s, c.rho)
	kernel.Variance(c.bs, c.brho)
	c.mo = make([]float64, places)
	c.vo = make([]float64, places)
	c.dm = make([]float64, in)
	c.dv = make([]float64, in)
	c.gw = make([]float64, n)
	c.gs = make([]float64, n)
	c.gbm = make([]float64, c.out)
	c.gbs = make([]float64, c.out)
	for o := range places {
		f := o % c.out
		oy, ox := o/c.out/w.OW, o/c.out%w.OW
		c.mo[o], c.vo[o] = c.bm[f], c.bs[f]
		c.gbm[f] += c.g[o]
		c.gbs[f] += c.h[o]
		for k := range w.KH * w.KW * channels {
			y, x := oy*w.Down+k/channels/w.KW*w.Rise-w.Top, ox*w.Across+k/channels%w.KW*w.Run-w.Left
			if y < 0 || y >= w.H || x < 0 || x >= w.W {
				continue
			}
			i, q := (y*w.W+x)*w.C+f/filters*channels+k%channels, k*c.out+f
			m := c.m[i]
			v := c.v[i]
			wm := c.wm[q]
			s := c.s[q]
			c.mo[o] += wm * m
			c.vo[o] += m*m*s + v*(wm*wm+s)
			c.dm[i] += c.g[o]*wm + 2*c.h[o]*m*s
			c.dv[i] += c.h[o] * (wm*wm + s)
			c.gw[q] += c.g[o]*m + 2*c.h[o]*v*wm
			c.gs[q] += c.h[o] * (m*m + v)
		}
	}
	return c
}

// Both layouts do what the definition says, whatever the geometry.
func TestConv(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		c := newConvCase(r)
		padded, pl := c.w.padded()
		patches, ql := c.w.patches()
		if !c.w.dilated() {
			c.check(t, "padded", newConv[float64](c.w, padded, pl, c.out, true, true))
		}
		c.check(t, "patches", newConv[float64](c.w, patches, ql, c.out, true, true))
		if t.Failed() {
			return
		}
	}
}

func (c *convCase) check(t *testing.T, how string, v *Conv[float64]) {
	t.Helper()
	near := func(what string, got, want []float64) {
		t.Helper()
		for i := range want {
			if !(math.Abs(got[i]-want[i]) <= 1e-11*(1+math.Abs(want[i]))) {
				t.Errorf("%s, %+v to %d: %s[%d] is %v, want %v", how, c.w, c.out, what, i, got[i], want[i])
				return
			}
		}
	}
	scratch := dirty(max(v.Scratch(), v.PrepareScratch()))
	for i := range v.PrepareTiles() {
		v.Prepare(i, c.wm, c.rho, scratch)
	}
	v.PrepareBias(c.bm, c.brho)
	tape := dirty(v.TapeWidth())
	mo, vo := dirty(len(c.mo)), dirty(len(c.vo))
	v.Forward(tape, c.m, c.v, mo, vo, scratch)
	near("mean", mo, c.mo)
	near("variance", vo, c.vo)
	dm, dv := dirty(len(c.dm)), dirty(len(c.dv))
	v.Record(tape, c.g, c.h)
	v.Backward(tape, c.m, c.g, c.h, dm, dv, scratch)
	near("∂m", dm, c.dm)
	near("∂v", dv, c.dv)
	gw := dirty(len(c.gw))
	gs := dirty(len(c.gs))
	gbm := dirty(c.out)
	gbs := dirty(c.out)
	blocks := []TapeBlock[float64]{{Rows: 1, Tape: tape}}
	for i := range v.GradTiles() {
		v.Gradient(i, blocks, true, true, c.wm, Gradients[float64]{gw, gs, gbm, gbs}, nil)
	}
	near("∂w̄", gw, c.gw)
	near("∂s", gs, c.gs)
	near("∂b̄", gbm, c.gbm)
	near("∂b_s", gbs, c.gbs)
}

// dirty is memory that must be written before it is read.
func dirty(n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = math.NaN()
	}
	return x
}

// Small products take patches, the others the padded image.
func TestConvLayout(t *testing.T) {
	for _, c := range []struct {
		w     Window
		out   int
		small bool
	}{
		{Window{H: 8, W: 8, C: 1, KH: 3, KW: 3, Down: 1, Across: 1, Rise: 1, Run: 1, Groups: 1, OH: 6, OW: 6}, 8, true},
		{Window{H: 28, W: 28, C: 16, KH: 3, KW: 3, Down: 1, Across: 1, Rise: 1, Run: 1, Groups: 1, Top: 1, Left: 1, OH: 28, OW: 28}, 32, false},
		{Window{H: 1, W: 50, C: 1, KH: 1, KW: 3, Down: 1, Across: 1, Rise: 1, Run: 1, Groups: 1, OH: 1, OW: 48}, 4, false}, // one product anyway
		{Window{H: 28, W: 28, C: 64, KH: 1, KW: 1, Down: 1, Across: 1, Rise: 1, Run: 1, Groups: 1, OH: 28, OW: 28}, 64, true},
	} {
		if got := c.w.small(c.out); got != c.small {
			t.Errorf("%s: small is %v", fmt.Sprintf("%+v to %d", c.w, c.out), got)
		}
	}
}
