package nntest

import (
	"math"
	"slices"
	"strings"
	"testing"

	"utvi/gauss"
	"utvi/internal/redtest"
	"utvi/nn"
	"utvi/vi"
)

// A mistake is what is wrong with a bend.
type mistake string

const (
	none         mistake = ""
	addsGrad     mistake = "adds to the parameter gradients"
	addsDIn      mistake = "adds to DIn"
	needsDIn     mistake = "needs DIn"
	unitScratch  mistake = "keeps scratch in the unit"
	forgetsTape  mistake = "leaves some of the tape as it was"
	zeroPrior    mistake = "gives its weights a prior without a spread"
	wrongMoments mistake = "is consistent, and wrong about the variance"
)

// A bend is the layer y = a·sin x with a learned a per unit and the linearised
// moments: mean a·sin m, variance (a·cos m)²·v. Its runner keeps a·cos m for
// Backward.
type bend struct{ mistake }

func (bend) Kind() string { return "bend" }

func (l bend) Bind32(b *nn.Binder[float32]) (nn.Unit[float32], error) { return bindBend(l, b) }
func (l bend) Bind64(b *nn.Binder[float64]) (nn.Unit[float64], error) { return bindBend(l, b) }

type bendUnit[T gauss.Float] struct {
	mistake
	shape   nn.Shape
	form    nn.Form
	a       *vi.Tensor[T]
	unused  *vi.Tensor[T] // Normal weights, for the mistake about the prior
	scratch []T
}

func bindBend[T gauss.Float](l bend, b *nn.Binder[T]) (nn.Unit[T], error) {
	a, err := b.Random("a", true, 1, b.In.Size())
	u := &bendUnit[T]{mistake: l.mistake, shape: b.In, form: b.Form, a: a}
	if l.mistake == zeroPrior && err == nil {
		u.unused, err = b.Random("unused", false, 1, 1)
		u.unused.Prior = vi.Prior{}
	}
	return u, err
}

func (u *bendUnit[T]) Out() nn.Shape     { return u.shape }
func (u *bendUnit[T]) Form() nn.Form     { return u.form }
func (u *bendUnit[T]) TapeWidth() int    { return u.shape.Size() }
func (u *bendUnit[T]) GradTiles() int    { return 1 }
func (u *bendUnit[T]) PrepareTiles() int { return 0 }

func (u *bendUnit[T]) NewRunner(maxRows int, _ bool) nn.Runner[T] {
	r := &bendRunner[T]{u, make([]T, maxRows*u.shape.Size())}
	if u.mistake == unitScratch {
		if u.scratch == nil {
			u.scratch = r.slopes
		}
		r.slopes = u.scratch
	}
	return r
}

type bendRunner[T gauss.Float] struct {
	*bendUnit[T]
	slopes []T
}

func (r *bendRunner[T]) Prepare(int) {}

func (r *bendRunner[T]) Forward(p *nn.Pass[T]) {
	for i, m := range p.In.Mean {
		a := float64(r.a.Mean[i%p.In.Width])
		sin, cos := math.Sincos(float64(m))
		p.Out.Mean[i], r.slopes[i] = T(a*sin), T(a*cos)
		if p.In.Var != nil {
			p.Out.Var[i] = r.variance(i, p)
		}
	}
}

// variance is slope²·v.
func (r *bendRunner[T]) variance(i int, p *nn.Pass[T]) T {
	v := r.slopes[i] * r.slopes[i] * p.In.Var[i]
	if r.mistake == wrongMoments {
		v *= 2
	}
	return v
}

func (r *bendRunner[T]) Backward(p *nn.Pass[T]) {
	for i, g := range p.DOut.Mean {
		a, s := r.a.Mean[i%p.In.Width], r.slopes[i]
		dm, da := g*s, g*p.Out.Mean[i]/a
		if p.In.Var != nil {
			h := p.DOut.Var[i]
			if r.mistake == wrongMoments {
				h *= 2
			}
			dm -= 2 * h * s * p.Out.Mean[i] * p.In.Var[i]
			da += 2 * h * s * s / a * p.In.Var[i]
			if p.DIn.Mean != nil || r.mistake == needsDIn {
				r.write(&p.DIn.Var[i], h*s*s)
			}
		}
		if i > 0 || r.mistake != forgetsTape {
			p.Tape[i] = da
		}
		if p.DIn.Mean != nil || r.mistake == needsDIn {
			r.write(&p.DIn.Mean[i], dm)
		}
	}
}

func (r *bendRunner[T]) write(dst *T, x T) {
	if r.mistake == addsDIn {
		*dst += x
		return
	}
	*dst = x
}

func (r *bendRunner[T]) Gradient(_ int, blocks []nn.Block[T]) {
	w := r.shape.Size()
	if r.unused != nil {
		clear(r.unused.GMean)
		clear(r.unused.GVar)
	}
	for i := range w {
		var sum T
		for _, b := range blocks {
			for j := i; j < b.Rows*w; j += w {
				sum += b.Tape[j]
			}
		}
		if r.mistake == addsGrad {
			sum += r.a.GMean[i]
		}
		r.a.GMean[i] = sum
	}
}

// Each classic mistake of a layer is noticed by the check that is made for it, with
// inputs of both kinds; the layer without mistakes passes.
func TestMistakesAreNoticed(t *testing.T) {
	for m, want := range map[mistake]struct{ check, message string }{
		none:         {},
		addsGrad:     {"gradients", "the gradient of layer.a.mean[0] is NaN"},
		addsDIn:      {"gradients", "DIn.Mean[0] is NaN"},
		needsDIn:     {"first layer", "Backward panics where DIn.Mean is nil"},
		unitScratch:  {"turns", "does the unit, rather than the runner, keep scratch?"},
		forgetsTape:  {"gradients", "the gradient of layer.a.mean[0] is NaN"},
		zeroPrior:    {"gradients", "the KL divergence of the weights from their priors is NaN"},
		wrongMoments: {"draws", "the variance is"},
	} {
		t.Run(string(m), func(t *testing.T) {
			var found []string
			// A small spread, where the linearised moments are good.
			for _, c := range suite(bend{m}, nn.Vec(5), Options{Spread: 0.1, Draws: 20_000, VarBias: 0.1, MeanBias: 0.2}) {
				if m == unitScratch && strings.HasPrefix(c.name, "concurrent") {
					t.Logf("%s: left out, because the race detector would fail this test", c.name)
					continue
				}
				failed := redtest.Run(t, c.run)
				if len(failed) > 0 {
					found = append(found, c.name)
				}
				if m == none {
					for _, f := range failed {
						t.Errorf("%s: %s", c.name, f)
					}
					continue
				}
				fixed := want.check + " of fixed inputs"
				if c.name == want.check || c.name == fixed && m != wrongMoments {
					if !slices.ContainsFunc(failed, func(f string) bool { return strings.Contains(f, want.message) }) {
						t.Errorf("%s: %q, want %q", c.name, failed, want.message)
					}
				}
			}
			t.Logf("found by: %q", found)
		})
	}
}

// A layer that a file cannot hold is noticed before a network with it was trained.
func TestUnstored(t *testing.T) {
	for want, l := range map[string]nn.Layer{
		"export them":  bend{addsGrad},
		`kind "dense"`: taken{},
	} {
		failed := redtest.Run(t, suite(l, nn.Vec(5), Options{})[0].run)
		if len(failed) != 1 || !strings.Contains(failed[0], want) {
			t.Errorf("%q, want %q", failed, want)
		}
	}
}

// taken has the kind of another layer.
type taken struct{ bend }

func (taken) Kind() string { return "dense" }

func TestRefuses(t *testing.T) {
	dense := func(want string) []string {
		return redtest.Run(t, func(t testing.TB) { Refuses(t, nn.Dense{}, nn.Vec(3), want) })
	}
	if f := dense("0 outputs"); len(f) != 0 {
		t.Errorf("a part of the message: %q", f)
	}
	if f := dense("0 inputs"); len(f) != 1 || !strings.Contains(f[0], "0 outputs") {
		t.Errorf("another message: %q", f)
	}
	if f := dense(""); len(f) != 1 {
		t.Errorf("no message: %q", f)
	}
	if f := redtest.Run(t, func(t testing.TB) { Refuses(t, nn.Dense{Out: 1}, nn.Vec(3), "outputs") }); len(f) != 1 || !strings.Contains(f[0], "gave no error") {
		t.Errorf("a sound layer: %q", f)
	}
}
