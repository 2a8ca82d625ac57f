package engine

import (
	"slices"
	"testing"
	"time"

	"utvi/fn"
	"utvi/moment"
	"utvi/nn"
)

// The blocks of a cut are all rows, each once, in order, and fit the scratch.
func TestCut(t *testing.T) {
	for batch := 1; batch <= 2500; batch++ {
		for _, workers := range []int{1, 2, 3, 4, 7, 16, 64} {
			even := evenCut(batch, workers)
			for _, c := range []cut{even, unevenCut(batch, workers), farCut(batch)} {
				row, most := 0, even.rows
				if c == farCut(batch) {
					most = farBlock
				}
				for b := range c.blocks(batch) {
					s := c.span(b, batch)
					if s.from != row || s.to <= s.from || s.to-s.from > most {
						t.Fatalf("block %d of %v is %v, after %d of %d rows", b, c, s, row, batch)
					}
					row = s.to
				}
				if row != batch {
					t.Fatalf("%v has %d of %d rows", c, row, batch)
				}
			}
		}
	}
	if c := unevenCut(1024, 16); c != (cut{52, 16, 20}) {
		t.Errorf("1024 rows of 16 uneven workers are cut into %v", c)
	}
	if c := farCut(1024); c != (cut{264, 4, 264}) {
		t.Errorf("1024 rows of one worker, with weights from memory, are cut into %v", c)
	}
	if c := unevenCut(1024, 2); c != evenCut(1024, 2) {
		t.Errorf("1024 rows of 2 uneven workers are cut into %v", c)
	}
}

// A pacer takes the faster way, and notices when that changes.
func TestPacer(t *testing.T) {
	var p pacer
	times := [2]time.Duration{100, 90}
	var taken [2][2]int
	for half := range 2 {
		for range pacePeriod {
			i := p.next()
			taken[half][i]++
			p.took(times[i])
		}
		times = [2]time.Duration{100, 98} // too little to count
	}
	if taken[0][0] != paceTries/2 || taken[1][1] != paceTries/2 {
		t.Errorf("ways were taken %v times", taken)
	}
}

// Scores and gradients have the same bits, whichever way the batch is cut.
func TestCutBits(t *testing.T) {
	act := nn.Apply{F: fn.LeakyReLU(0.01), Rule: moment.UT(2)}
	defer func(weights, block int) { farWeights, oneBlock = weights, block }(farWeights, oneBlock)
	farWeights, oneBlock = 0, maxBlock+1 // all weights of one worker come from memory
	for name, layers := range map[string]nn.Chain{
		"plain":      {nn.Dense{Out: 70}, act, nn.Residual{Branch: nn.Chain{nn.Dense{Out: 70}, act}}, nn.LayerNorm{}, nn.Dense{Out: 2}},
		"correlated": {nn.Correlated{Layers: nn.Chain{nn.Dense{Out: 40}, act, nn.Dense{Out: 2}}}},
		"learned":    {nn.Dense{Out: 20}, nn.Apply{F: fn.GELU(), Rule: moment.LearnedUT(2)}, nn.Dense{Out: 2}},
	} {
		const batch = 303
		tr, one := stepTrainer(t, 9, batch, 4, 0, layers), stepTrainer(t, 9, batch, 1, 0, layers)
		cuts := [3]cut{tr.cuts[0], tr.cuts[1], one.cuts[0]}
		if cuts[0] == cuts[1] || cuts[2] != farCut(batch) {
			t.Fatalf("the ways to cut are %v", cuts)
		}
		var nll [3]float64
		var grads [3][]float32
		for i := range cuts {
			tr.take(i % 2)
			if i == 2 {
				tr = one
			}
			tr.Data.Begin(tr.dataKey, 1, batch)
			var s Score
			tr.scoreBatch(&s)
			nll[i] = s.NLL
			for _, x := range tr.params.Tensors {
				grads[i] = append(append(grads[i], x.GMean...), x.GVar...)
				clear(x.GMean)
				clear(x.GVar)
			}
		}
		for i := range cuts[1:] {
			if nll[0] != nll[i+1] || !slices.Equal(grads[0], grads[i+1]) {
				t.Errorf("%s: cut %v and %v, the scores are %v", name, cuts[0], cuts[i+1], nll)
			}
		}
	}
}
