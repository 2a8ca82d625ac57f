package tabular

import (
	"math"
	"testing"

	"utvi/data"
	"utvi/gauss"
	"utvi/rng"
)

func TestSlope(t *testing.T) {
	for _, c := range []struct{ ratio, want float64 }{
		{-0.3, 0},                 // chance
		{0, 0},                    // nothing but noise
		{math.Log(1.1), 0.1},      // of e², a part that falls by 1/n is 1 in 11 at n/2
		{math.Log(2), 1},          // e² falls by 1/n
		{math.Log(4), 2},          // e falls by 1/n
		{math.Log(1.5), 0.5},      // and not 0.58, as a power would
		{2 * math.Log(3), 3.1699}, // a power, and not 8
	} {
		if got := slope(c.ratio); math.Abs(got-c.want) > 1e-4 {
			t.Errorf("the slope of the ratio %v is %v, want %v", c.ratio, got, c.want)
		}
	}
}

// errorsOf is a training whose predictions of zeros are off by sd·N(0, 1).
func errorsOf(n int, sd float64, seed uint64) *result {
	h := heldOutPredictions{Mean: make([]float32, 2*n), Var: make([]float32, 2*n)}
	for i := range n {
		h.Mean[2*i] = float32(sd * rng.Normal(rng.New(seed), uint64(i)))
		h.Mean[2*i+1] = float32(rng.Normal(rng.New(seed), uint64(i+n)))
		h.Var[2*i], h.Var[2*i+1] = 1, 1
	}
	return &result{log: record{Held: []heldOutPredictions{h}}}
}

// Of two targets, the errors of the first halve with twice as many rows.
func TestNarrow(t *testing.T) {
	const n = 4000
	held := Data{Set: data.Set{X: gauss.Fixed(1, make([]float32, n)), Y: make([]float32, 2*n), Targets: 2}}
	folds := []fold{{held: held, by: [][]*result{nil, {errorsOf(n, 0.5, 1), errorsOf(n, 0.5, 2)}}}, {held: held, by: [][]*result{nil, {errorsOf(n, 0.5, 3), errorsOf(n, 0.5, 4)}}}}
	r := &run{plan: plan{folds: 10}}
	trial := &Trial{Stop: 1}
	halves := []*result{errorsOf(n, 1, 5), {}} // the second ended early
	if c, same := r.narrow(folds, halves, trial, 1, 0), r.narrow(folds, halves, trial, 1, 1); math.Abs(c-0.81) > 0.01 || same < 0.99 || same > 1 {
		t.Errorf("the variances shrink by %v and %v, want 0.81 and 1", c, same)
	}
	if c := r.narrow(folds, []*result{{}, {}}, trial, 1, 0); c != 1 {
		t.Errorf("without any training on half of the rows the variances shrink by %v", c)
	}
}

// Half of the rows are half of those that count.
func TestHalf(t *testing.T) {
	d := rowsOf(100, 1)
	d.Weights = make([]float32, 100)
	for i := range d.Weights {
		d.Y[i], d.Weights[i] = float32(i), float32(i%2)
	}
	r := &run{plan: plan{Config: Config{Batch: 8}}, key: rng.New(1)}
	var seen [100]int
	for number := range 2 {
		j := r.halfJob(fold{train: d}, number, &Trial{Stop: stops}, 0)
		if j.train.X.Rows != 25 {
			t.Errorf("%d rows are half of 50", j.train.X.Rows)
		}
		for _, y := range j.train.Y {
			seen[int(y)]++
		}
	}
	for i, n := range seen {
		if n != i%2 {
			t.Errorf("row %d is in %d halves", i, n)
		}
	}
}
