package nntest

import (
	"math"
	"slices"
	"sync"
	"testing"

	"utvi/nn"
)

// same checks that two benches have the same bits.
func (b *bench[T]) same(t testing.TB, c *bench[T], inputs bool, change string) {
	t.Helper()
	equal := func(what string, x, y []T) {
		t.Helper()
		if !slices.EqualFunc(x, y, func(x, y T) bool {
			return math.Float64bits(float64(x)) == math.Float64bits(float64(y))
		}) {
			t.Errorf("%s differs %s", what, change)
		}
	}
	equal("mean", b.out.Mean, c.out.Mean)
	equal("variance", b.out.Var, c.out.Var)
	equal("covariance", b.out.Cov, c.out.Cov)
	if inputs {
		equal("input covariance gradient", apart(b.dx), apart(c.dx))
		equal("input gradient", b.dx.Mean, c.dx.Mean)
		equal("input variance gradient", b.dx.Var, c.dx.Var)
	}
	equal("parameter gradient", b.params.Grad, c.params.Grad)
}

// two returns two benches of one layer, the first one run in a single block.
func two(t testing.TB, s subject) (done, fresh *bench[float32]) {
	t.Helper()
	done, fresh = newBench[float32](t, s), newBench[float32](t, s)
	done.run(rows, backward)
	return done, fresh
}

// blocks: the cut into blocks does not change a bit.
func blocks(t testing.TB, s subject) {
	one, many := two(t, s)
	many.run(3, backward)
	one.same(t, many, true, "with the blocks")
}

// firstLayer: the gradient of a network's input is not needed.
func firstLayer(t testing.TB, s subject) {
	one, b := two(t, s)
	defer func() {
		if e := recover(); e != nil {
			t.Errorf("Backward panics where DIn.Mean is nil, as in the first layer of a network: %v", e)
		}
	}()
	b.run(rows, first)
	one.same(t, b, false, "where DIn.Mean is nil")
}

// half is where runners that share the rows cut them.
const half = 4

// turns: the runners of a unit take turns. What Backward needs of Forward must
// outlive the other's Forward, and the other's Backward.
func turns(t testing.TB, s subject) {
	for _, order := range [][2]int{{0, 1}, {1, 0}} {
		one, b := two(t, s)
		b.soil(backward)
		runners := [2]nn.Runner[float32]{b.unit.NewRunner(half, true), b.unit.NewRunner(half, true)}
		prepare(b.unit, runners[0])
		passes := [2]*nn.Pass[float32]{b.pass(0, half), b.pass(half, rows)}
		for i, r := range runners {
			r.Forward(passes[i])
		}
		for _, i := range order {
			b.backward(runners[i], passes[i], backward)
		}
		for _, p := range passes {
			b.blocks = append(b.blocks, nn.Block[float32]{Rows: p.In.Rows, Tape: p.Tape})
		}
		b.gradient(runners[1])
		one.same(t, b, true, "where two runners of the unit take turns: does the unit, rather than the runner, keep scratch?")
	}
}

// concurrent: the runners of a unit run at the same time. The race detector sees
// more of it than the results can show.
func concurrent(t testing.TB, s subject) {
	const rounds = 30
	one, b := two(t, s)
	b.soil(backward)
	runners := [2]nn.Runner[float32]{b.unit.NewRunner(half, true), b.unit.NewRunner(half, true)}
	prepare(b.unit, runners[0])
	passes := [2]*nn.Pass[float32]{b.pass(0, half), b.pass(half, rows)}
	var (
		wg       sync.WaitGroup
		panicked [2]any
	)
	for i, r := range runners {
		wg.Go(func() {
			defer func() { panicked[i] = recover() }()
			for range rounds {
				r.Forward(passes[i])
				b.backward(r, passes[i], backward)
				if !b.agrees(one, passes[i]) {
					return
				}
			}
		})
	}
	wg.Wait()
	for _, e := range panicked {
		if e != nil {
			t.Fatalf("two runners of the unit at the same time: %v", e)
		}
	}
	for _, p := range passes {
		b.blocks = append(b.blocks, nn.Block[float32]{Rows: p.In.Rows, Tape: p.Tape})
	}
	b.gradient(runners[0])
	one.same(t, b, true, "where two runners of the unit run at the same time: does the unit, rather than the runner, keep scratch?")
}

// agrees reports whether p's outputs and gradients are those of one.
func (b *bench[T]) agrees(one *bench[T], p *nn.Pass[T]) bool {
	lo := int(p.Row)
	hi := lo + p.In.Rows
	out, dx := one.out.Slice(lo, hi), one.dx.Slice(lo, hi)
	return slices.Equal(p.Out.Mean, out.Mean) && slices.Equal(p.Out.Var, out.Var) && slices.Equal(p.Out.Cov, out.Cov) &&
		slices.Equal(p.DIn.Mean, dx.Mean) && slices.Equal(p.DIn.Var, dx.Var)
}

// prediction: a unit bound and run without memory for gradients gives the same bits.
func prediction(t testing.TB, s subject) {
	one := newBench[float32](t, s)
	one.run(rows, forward)
	u, params := bind[float32](t, s, false)
	copy(params.Theta, one.params.Theta)
	r := u.NewRunner(half, false)
	prepare(u, r)
	b := &bench[float32]{unit: u, params: one.params, x: one.x, out: results[float32](u.Out(), u.Form())}
	b.soil(forward)
	for lo := 0; lo < rows; lo += half {
		p := b.pass(lo, min(rows, lo+half))
		p.Tape = nil
		r.Forward(p)
	}
	one.same(t, b, false, "between training and prediction")
}

func allocations(t testing.TB, s subject) {
	b := newBench[float32](t, s)
	r := b.unit.NewRunner(rows, true)
	prepare(b.unit, r)
	p := b.pass(0, rows)
	r.Forward(p)
	b.back(r, p, backward)
	for _, step := range []struct {
		name string
		do   func()
	}{
		{"Forward", func() { r.Forward(p) }},
		{"Backward", func() { r.Backward(p) }},
		{"Gradient", func() { b.gradient(r) }},
		{"Prepare", func() { prepare(b.unit, r) }},
	} {
		if n := testing.AllocsPerRun(5, step.do); n != 0 {
			t.Errorf("%s allocates %v times", step.name, n)
		}
	}
}
