package engine

import (
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"utvi/fn"
	"utvi/internal/compute"
	"utvi/moment"
	"utvi/nn"
	"utvi/rng"
)

// The blocks of a batch are all rows, each once, in order, and fit the scratch, whatever the paces;
// of equally fast workers none has much more than its part.
func TestShares(t *testing.T) {
	for _, workers := range []int{1, 2, 3, 7, 16, 64} {
		pool := compute.NewPool(workers)
		s := newShares(pool, false, nil)
		draw := rng.New(uint64(workers))
		for batch := 1; batch <= 3000; batch += 1 + batch/100 {
			for _, even := range []bool{true, false} {
				for w := range s.of {
					s.of[w].pace = 1
					if !even {
						s.of[w].pace = math.Max(0, rng.Normal(draw, uint64(batch*workers+w)))
					}
				}
				s.cut(batch)
				row := 0
				blocks := 0
				most := s.most(batch)
				for rows := range s.all {
					if rows.from != row || rows.to <= row || rows.to-rows.from > most {
						t.Fatalf("%d workers: block %d is %v, after %d of %d rows", workers, blocks, rows, row, batch)
					}
					row = rows.to
					blocks++
				}
				if last := s.of[workers-1].blocks.to; row != batch || blocks != last || blocks > workers+batch/maxBlock {
					t.Fatalf("%d workers: %d of %d rows are in %d blocks of %d", workers, row, batch, blocks, last)
				}
				for w := range s.of {
					rows := s.of[w].rows.to - s.of[w].rows.from
					if even && rows > max(minBlock, batch/workers)+4 {
						t.Fatalf("one of %d equal workers has %d of %d rows", workers, rows, batch)
					}
				}
			}
		}
		pool.Close()
	}
}

// Every block runs once, by its owner, or by another worker while the owner is busy.
func TestSharesRun(t *testing.T) {
	const workers, batch = 4, 4 * 3 * maxBlock
	pool := compute.NewPool(workers)
	defer pool.Close()
	var mu sync.Mutex
	var ran []span
	stolen := 0
	release := make(chan bool)
	var s *shares
	s = newShares(pool, false, func(worker, block int, rows span) {
		mu.Lock()
		ran = append(ran, rows)
		if own := s.of[worker].blocks; block < own.from || block >= own.to {
			stolen++
		}
		all := len(ran) == batch/maxBlock
		mu.Unlock()
		if all {
			close(release)
		}
		if worker == 0 { // it stays with its first block until all others have begun
			select {
			case <-release:
			case <-time.After(5 * time.Minute): // a hang, on whatever machine
				t.Error("nobody runs the blocks of a worker that is busy")
			}
		}
	})
	s.cut(batch)
	s.run()
	slices.SortFunc(ran, func(a, b span) int { return a.from - b.from })
	row := 0
	for _, r := range ran {
		if r.from != row {
			t.Fatalf("the blocks that ran are %v", ran)
		}
		row = r.to
	}
	if row != batch || stolen < 2 {
		t.Errorf("%d of %d rows ran, %d blocks by other workers", row, batch, stolen)
	}
}

// No block runs twice when workers reach for the last ones together.
func TestSharesRunOnce(t *testing.T) {
	const workers, batch = 8, 8 * maxBlock
	pool := compute.NewPool(workers)
	defer pool.Close()
	var times [batch / maxBlock]atomic.Int32
	s := newShares(pool, false, func(_, block int, _ span) { times[block].Add(1) })
	s.cut(batch)
	for run := range 3000 {
		s.run()
		for b := range times {
			if n := times[b].Load(); int(n) != run+1 {
				t.Fatalf("run %d: block %d ran %d times", run, b, n)
			}
		}
	}
}

// The paces are those of the workers as they run: one that takes longer has fewer rows the next
// time. The test owns the watches, so that no other program on the machine changes what they show.
func TestPacesAreMeasured(t *testing.T) {
	const workers, batch, slow = 4, 256, 1
	pool := compute.NewPool(workers)
	defer pool.Close()
	var watches [workers]time.Time
	var atWork sync.WaitGroup
	s := newShares(pool, false, func(worker, _ int, rows span) {
		atWork.Done()
		atWork.Wait() // every worker runs the one block of its own
		row := 10 * time.Microsecond
		if worker == slow {
			row *= 3
		}
		watches[worker] = watches[worker].Add(time.Duration(rows.to-rows.from) * row)
	})
	s.now = func(worker int) time.Time { return watches[worker] }
	counts := func() (c [workers]int) {
		s.cut(batch)
		for w := range s.of {
			c[w] = s.of[w].count
		}
		return c
	}
	if got, want := counts(), [workers]int{64, 64, 64, 64}; got != want {
		t.Fatalf("workers of unknown pace have %v rows, want %v", got, want)
	}
	for range 3 {
		atWork.Add(workers)
		s.run()
		if got, want := counts(), [workers]int{76, 28, 76, 76}; got != want {
			t.Fatalf("worker %d takes three times as long; they have %v rows, want %v", slow, got, want)
		}
	}
}

// Rows are dealt by pace: workers that take longer soon have so many fewer rows that all end
// together, and get their part again when they are as fast as the others.
func TestPaces(t *testing.T) {
	const workers, batch = 16, 1024
	pool := compute.NewPool(workers)
	defer pool.Close()
	s := newShares(pool, false, nil)
	var times [workers]float64 // that a row takes
	gain := func() float64 {   // over one worker that is not slow
		var longest float64
		for range 25 {
			s.cut(batch)
			longest = 0
			for w := range s.of {
				x := &s.of[w]
				x.done = x.rows.to - x.rows.from
				took := times[w] * float64(x.done)
				x.busy = time.Duration(took * 1e6)
				longest = max(longest, took)
			}
		}
		return batch / longest
	}
	for _, c := range []struct {
		slow        int
		times, want float64
	}{{0, 1, 16}, {4, 1.8, 13.4}, {1, 2.5, 14.2}, {12, 1.4, 11.9}, {16, 3, 5.3}, {0, 1, 16}} {
		fastest := 0.0
		for w := range times {
			times[w] = 1
			if w*7%workers < c.slow { // anywhere
				times[w] = c.times
			}
			fastest += 1 / times[w]
		}
		got := gain()
		t.Logf("%d of %d workers take %.1f times as long: %.1f times as fast as one that does not, of at most %.1f", c.slow, workers, c.times, got, fastest)
		if got < c.want {
			t.Errorf("%d of %d workers take %.1f times as long: %.1f times as fast as one that does not, want %.1f", c.slow, workers, c.times, got, c.want)
		}
	}
	s.of[3].busy *= 20 // once
	if s.cut(batch); s.of[3].count < 44 {
		t.Errorf("after a single delay a worker has %d rows", s.of[3].count)
	}
	times[5] = 1000
	gain()
	if x := &s.of[5]; x.rows.to-x.rows.from < 12 {
		t.Errorf("a worker that hardly runs has %v, too little to notice when it does", x.rows)
	}
}

// Scores and gradients have the same bits, however the batch is cut.
func TestCutBits(t *testing.T) {
	act := nn.Apply{F: fn.LeakyReLU(0.01), Rule: moment.UT(2)}
	defer func(weights, block int) { farWeights, oneBlock = weights, block }(farWeights, oneBlock)
	farWeights, oneBlock = 0, maxBlock+1 // all weights of one worker come from memory
	for name, layers := range map[string]nn.Chain{
		"one input":  {nn.Dense{Out: 512}, act, nn.Dense{Out: 320}, act, nn.Dense{Out: 2}},
		"plain":      {nn.Dense{Out: 70}, act, nn.Residual{Branch: nn.Chain{nn.Dense{Out: 70}, act}}, nn.LayerNorm{}, nn.Dense{Out: 2}},
		"wide":       {nn.Dense{Out: 300}, act, nn.Dense{Out: 2}},
		"correlated": {nn.Correlated{Layers: nn.Chain{nn.Dense{Out: 40}, act, nn.Dense{Out: 2}}}},
		"learned":    {nn.Dense{Out: 20}, nn.Apply{F: fn.GELU(), Rule: moment.LearnedUT(2)}, nn.Dense{Out: 2}},
	} {
		const batch = 303
		in := 9
		if name == "one input" {
			in = 1
		}
		several, one := stepTrainer(t, in, batch, 4, 0, layers), stepTrainer(t, in, batch, 1, 0, layers)
		draw := rng.New(3)
		var nll float64
		var grads []float32
		blocks := map[int]bool{}
		for i := range 12 {
			tr := several
			if i == 0 {
				tr = one
			}
			for w := range tr.shares.of {
				x := &tr.shares.of[w]
				x.pace, x.done = 0.1+math.Abs(rng.Normal(draw, uint64(4*i+w))), 0
			}
			s := tr.Gradient(1)
			blocks[len(tr.blocks)] = true
			var g []float32
			for _, x := range tr.params.Tensors {
				g = append(append(g, x.GMean...), x.GVar...)
				clear(x.GMean)
				clear(x.GVar)
			}
			if i == 0 {
				nll, grads = s.NLL, g
			} else if s.NLL != nll || !slices.Equal(g, grads) {
				t.Errorf("%s: cut into %v, the score is %v; with one worker it is %v", name, slices.Collect(tr.shares.all), s.NLL, nll)
			}
		}
		if len(blocks) < 3 {
			t.Errorf("%s: the batch was cut into numbers of blocks %v only", name, blocks)
		}
		for _, tr := range []*trainer{several, one} {
			tr.Pool.Close()
		}
	}
}
