package nn

import (
	"math"
	"testing"

	"utvi/fn"
	"utvi/gauss"
	"utvi/internal/compute"
	"utvi/moment"
	"utvi/rng"
	"utvi/vi"
)

// Units that are computed together give what they give one by one: layers that are observed are
// never computed together. One block of rows and several have the same bits.
func TestPairs(t *testing.T) {
	for name, layers := range map[string]func(act Layer) Chain{
		"both": func(a Layer) Chain { return Chain{Dense{Out: 32}, a, Dense{Out: 48}, a, Dense{Out: 1}} },
		"without biases": func(a Layer) Chain {
			return Chain{Dense{Out: 32, NoBias: true}, a, Dense{Out: 32, NoBias: true}, a, Dense{Out: 1, NoBias: true}}
		},
		"only the first":  func(a Layer) Chain { return Chain{Dense{Out: 32}, a, Dense{Out: 1}} },
		"only the last":   func(a Layer) Chain { return Chain{Dense{Out: 33}, a, Dense{Out: 48}, a, Dense{Out: 1}} },
		"several outputs": func(a Layer) Chain { return Chain{Dense{Out: 16}, a, Dense{Out: 16}, a, Dense{Out: 3}} },
	} {
		layers := layers(Apply{F: fn.LeakyReLU(0.01), Rule: moment.UT(2)})
		run := func(observe func(*Node[float32], gauss.Batch[float32]), wantIn bool, cuts ...int) (results [][]float32, r Runner[float32]) {
			b := &Binder[float32]{Params: &vi.Params[float32]{}, In: Vec(1), Form: Fixed, Train: true, Observe: observe}
			u, err := Bind(layers, b)
			if err != nil {
				t.Fatal(err)
			}
			b.Params.Alloc()
			b.Params.Start(rng.New(1), vi.Std(0.3))
			b.Params.AllocGrads()
			r = u.NewRunner(29, true)
			for tile := range u.PrepareTiles() {
				r.Prepare(tile)
			}
			var blocks []Block[float32]
			row := 0
			out := layers[len(layers)-1].(Dense).Out
			for _, rows := range cuts {
				p := Pass[float32]{In: gauss.Fixed(1, make([]float32, rows)), Out: gauss.New[float32](rows, out), DOut: gauss.New[float32](rows, out)}
				for i := range p.In.Mean {
					p.In.Mean[i] = float32(rng.Normal(rng.New(1), uint64(row+i)))
				}
				for i := range p.DOut.Mean {
					p.DOut.Mean[i] = float32(rng.Normal(rng.New(2), uint64(row*out+i)))
					p.DOut.Var[i] = float32(rng.Normal(rng.New(3), uint64(row*out+i)))
				}
				if wantIn {
					p.DIn = gauss.Fixed(1, make([]float32, rows))
				}
				p.Tape = make([]float32, rows*u.TapeWidth())
				r.Forward(&p)
				r.Backward(&p)
				q := u.NewRunner(29, false)
				predicted := Pass[float32]{In: p.In, Out: gauss.New[float32](rows, out)}
				q.Forward(&predicted)
				if first, _ := together(q); first != firstTogether(r) {
					t.Errorf("%s: the first units are computed together: %v in prediction", name, first)
				}
				results = append(results, p.Out.Mean, p.Out.Var, predicted.Out.Mean, predicted.Out.Var, p.DIn.Mean)
				blocks = append(blocks, Block[float32]{rows, p.Tape})
				row += rows
			}
			for tile := range u.GradTiles() {
				r.Gradient(tile, blocks)
			}
			for _, p := range b.Params.Tensors {
				results = append(results, p.GMean, p.GVar)
			}
			return results, r
		}
		for _, wantIn := range []bool{false, true} {
			want, _ := run(func(*Node[float32], gauss.Batch[float32]) {}, wantIn, 29)
			got, r := run(nil, wantIn, 29)
			first, last := together(r)
			if compute.Family() == "avx512" && (first != (name != "only the last") || last != (name != "only the first" && name != "several outputs")) {
				t.Errorf("%s: computed together: first units %v, last units %v", name, first, last)
			} else if d := denseOf(r.(*chainRunner[float32]).runners[1]); d.squared != (first && d.dense.SquaresOnTape()) {
				t.Errorf("%s: squares there %v", name, d.squared)
			}
			for k := range want {
				var most float64
				for _, x := range want[k] {
					most = max(most, math.Abs(float64(x)))
				}
				for i, x := range want[k] {
					if d := math.Abs(float64(got[k][i] - x)); !(d <= 2e-6*(most+math.Abs(float64(x)))) {
						t.Fatalf("%s, gradient by inputs %v: result %d has %v at %d, want %v", name, wantIn, k, got[k][i], i, x)
					}
				}
			}
		}
		one, _ := run(nil, false, 29)
		cut, _ := run(nil, false, 13, 16)
		for k := range 2 * len(layers) {
			a, b := one[len(one)-1-k%len(one)], cut[len(cut)-1-k%len(cut)]
			if k >= len(one)-5 {
				break
			}
			for i := range a {
				if a[i] != b[i] {
					t.Fatalf("%s: other bits of a gradient in two blocks", name)
				}
			}
		}
	}
}

// together reports whether the first two layers of a chain are one kernel, and whether the last
// one leaves its way back to the function before it.
func together(r Runner[float32]) (first, last bool) {
	c, ok := r.(*chainRunner[float32])
	if !ok { // an observed one
		return false, false
	}
	for i, r := range c.runners {
		if a, ok := r.(*activatedRunner[float32]); ok {
			first = first || i == 0 && a.outer != nil
			last = last || i == len(c.runners)-2 && a.last != nil
		}
	}
	return first, last
}

func firstTogether(r Runner[float32]) bool {
	first, _ := together(r)
	return first
}

// Only a dense layer and a leaky ReLU by three points, of which nobody sees what is between,
// become one unit. All others stay as they are.
func TestFuse(t *testing.T) {
	three := Apply{F: fn.LeakyReLU(0.01), Rule: moment.UT(2)}
	for name, c := range map[string]struct {
		layers  Chain
		observe bool
		sense   bool
		units   int
	}{
		"two pairs":         {layers: Chain{Dense{Out: 4}, three, Dense{Out: 3}, three, Dense{Out: 2}}, units: 3},
		"a pair at the end": {layers: Chain{Dense{Out: 4}, Dense{Out: 4}, three}, units: 2},
		"two functions":     {layers: Chain{Dense{Out: 4}, three, three}, units: 2},
		"five points":       {layers: Chain{Dense{Out: 4}, Apply{F: fn.LeakyReLU(0.01), Rule: moment.GaussHermite(5)}}, units: 2},
		"a learned rule":    {layers: Chain{Dense{Out: 4}, Apply{F: fn.LeakyReLU(0.01), Rule: moment.LearnedUT(1)}}, units: 2},
		"another function":  {layers: Chain{Dense{Out: 4}, Apply{F: fn.Tanh(), Rule: moment.UT(2)}}, units: 2},
		"fixed numbers":     {layers: Chain{Dense{Out: 4, Fixed: true}, three}, units: 2},
		"observed":          {layers: Chain{Dense{Out: 4}, three}, observe: true, units: 2},
		"correlated":        {layers: Chain{Dense{Out: 4}, three}, sense: true, units: 2},
	} {
		b := &Binder[float32]{Params: &vi.Params[float32]{}, In: Vec(3), Sense: c.sense}
		if c.observe {
			b.Observe = func(*Node[float32], gauss.Batch[float32]) {}
		}
		u, err := bindChain(c.layers, b)
		if err != nil {
			t.Fatal(err)
		}
		if got := len(u.(*chain[float32]).units); got != c.units {
			t.Errorf("%s: %d units, want %d", name, got, c.units)
		}
	}
	b := &Binder[float64]{Params: &vi.Params[float64]{}, In: Vec(3)}
	u, err := bindChain(Chain{Dense{Out: 4}, three}, b)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(u.(*chain[float64]).units); n != 2 {
		t.Errorf("in float64: %d units, want 2", n)
	}
}
