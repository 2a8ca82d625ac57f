package nn

import (
	"slices"
	"testing"

	"utvi/fn"
	"utvi/gauss"
	"utvi/moment"
	"utvi/rng"
	"utvi/vi"
)

// An activation that is written over its input gives the bits that it gives beside it:
// layers that are observed are never in place.
func TestInPlace(t *testing.T) {
	const rows = 50
	for _, c := range []struct {
		f    *moment.Func
		want bool
	}{{fn.LeakyReLU(0.01), true}, {fn.Tanh(), false}} {
		act := Apply{F: c.f, Rule: moment.UT(2)}
		layers := Chain{act, Dense{Out: 40}, act, Dense{Out: 33}, act, act, Dense{Out: 2}}
		run := func(observe func(*Node[float32], gauss.Batch[float32])) (results [][]float32, shared bool) {
			b := &Binder[float32]{Params: &vi.Params[float32]{}, In: Vec(5), Form: Independent, Train: true, Observe: observe}
			u, err := Bind(layers, b)
			if err != nil {
				t.Fatal(err)
			}
			b.Params.Alloc()
			b.Params.Start(rng.New(1), vi.Std(1e-5))
			b.Params.AllocGrads()
			numbers := func(width int, seed uint64) gauss.Batch[float32] {
				x := gauss.New[float32](rows, width)
				for i := range x.Mean {
					x.Mean[i] = float32(rng.Normal(rng.New(seed), uint64(i)))
					x.Var[i] = float32(rng.Uniform(rng.New(seed+1), uint64(i))) * 1e-9 // small: the function's limit is taken, which looks at the input again
				}
				return x
			}
			for _, train := range []bool{true, false} {
				r := u.NewRunner(rows, train)
				for tile := range u.PrepareTiles() {
					r.Prepare(tile)
				}
				p := Pass[float32]{In: numbers(5, 1), Out: gauss.New[float32](rows, 2), DOut: numbers(2, 3), DIn: gauss.New[float32](rows, 5)}
				p.Tape = make([]float32, rows*u.TapeWidth())
				r.Forward(&p)
				results = append(results, p.Out.Mean, p.Out.Var)
				if train {
					r.Backward(&p)
					results = append(results, p.DIn.Mean, p.DIn.Var)
				}
				if c, ok := r.(*chainRunner[float32]); ok {
					a, fused := c.runners[1].(*activatedRunner[float32])
					shared = shared || fused && a.between.Mean == nil
				}
			}
			return results, shared
		}
		apart, _ := run(func(*Node[float32], gauss.Batch[float32]) {})
		here, shared := run(nil)
		if shared != c.want {
			t.Errorf("%s in place: %v", c.f.Name, shared)
		}
		if !slices.EqualFunc(apart, here, slices.Equal[[]float32]) {
			t.Errorf("%s gives other bits in place", c.f.Name)
		}
	}
}

// A chain writes the inputs of a narrow dense layer, and the gradients of its outputs, onto
// the layer's tape.
func TestChainTape(t *testing.T) {
	const rows = 7
	act := Apply{F: fn.LeakyReLU(0.01), Rule: moment.UT(2)}
	l := Chain{Dense{Out: 32}, act, Dense{Out: 16}, act, Dense{Out: 1}}
	b := &Binder[float32]{Params: &vi.Params[float32]{}, In: Vec(1), Form: Fixed, Train: true}
	u, err := Bind(l, b)
	if err != nil {
		t.Fatal(err)
	}
	b.Params.Alloc()
	b.Params.Start(rng.New(1), vi.Std(0.1))
	r := u.NewRunner(rows, true).(*chainRunner[float32])
	for tile := range u.PrepareTiles() {
		r.Prepare(tile)
	}
	p := Pass[float32]{In: gauss.Fixed(1, make([]float32, rows)), Out: gauss.New[float32](rows, 1), DOut: gauss.New[float32](rows, 1)}
	p.Tape = make([]float32, rows*u.TapeWidth())
	r.Forward(&p)
	r.Backward(&p)
	same := func(what string, got gauss.Batch[float32], mean, variance []float32) {
		if &got.Mean[0] != &mean[0] || &got.Var[0] != &variance[0] {
			t.Errorf("%s are not written onto the tape", what)
		}
	}
	last := &r.passes[2]
	m, v := r.runners[2].(*denseRunner[float32]).dense.TapeInput(last.Tape, rows)
	first, second := r.runners[0].(*activatedRunner[float32]), r.runners[1].(*activatedRunner[float32])
	paired := second.apply.pair != nil
	if !paired { // it writes over its input
		same("the outputs of the third layer", second.first.Out, m, v)
	}
	same("the outputs of the fourth layer", r.passes[1].Out, m, v)
	same("the inputs of the last layer", last.In, m, v)
	g, h := first.dense.dense.TapeGradient(r.passes[0].Tape, rows)
	if !paired {
		same("the gradients of the outputs of the first layer", first.first.DOut, g, h)
		return
	}
	same("the gradients of the outputs of the second layer", r.passes[0].DOut, g, h)
	g, h = second.dense.dense.TapePanels(r.passes[1].Tape, rows)
	same("the gradients of the outputs of the third layer", second.first.DOut, g, h)
}
