package calibrate

import (
	"math"
	"testing"

	"utvi/dist"
	"utvi/rng"
)

// Over many draws of held-out rows, fresh rows are covered with probability
// ⌈(n+1)(1−α)⌉/(n+1), though the predictions are biased, too sure and of the wrong shape.
func TestConformalCoverage(t *testing.T) {
	const sets, fresh = 600, 20
	for _, c := range []struct {
		n     int
		level float64
	}{{19, 0.95}, {30, 0.9}, {99, 0.5}, {57, 0.8}} {
		covered := 0
		for k := range sets {
			cal, err := FitConformal(skewed(uint64(1000+k), c.n))
			if err != nil {
				t.Fatal(err)
			}
			for r := range skewed(uint64(500000+k), fresh) {
				y, d := r.Target, r.Prediction
				if lo, hi := cal.Interval(d, c.level); lo <= y && y <= hi {
					covered++
				}
			}
		}
		r := math.Ceil(float64(c.n+1)*c.level - 1e-9)
		want := r / float64(c.n+1)
		// The rows of a set share its quantile, whose level is Beta(r, n+1−r).
		between := want * (1 - want) / float64(c.n+2)
		se := math.Sqrt((between + want*(1-want)/fresh) / sets)
		near(t, "coverage", float64(covered)/(sets*fresh), want, 3.5*se)
	}
}

func TestConformalRank(t *testing.T) {
	c := &Conformal{Ranked: Ranked{Rows: 19, Scores: make([]float64, 19)}}
	for i := range c.Scores {
		c.Scores[i] = float64(i + 1)
	}
	for level, want := range map[float64]float64{0.95: 19, 0.9: 18, 0.85: 17, 0.901: 19, 0.5: 10, 0.05: 1, 1e-9: 1, 0.951: math.Inf(1), 0.99: math.Inf(1)} {
		if got := c.at(level); got != want {
			t.Errorf("level %g takes the score of rank %g, want %g", level, got, want)
		}
	}
	// 100·0.56 is rounded to 56.00000000000001.
	hundred := &Conformal{Ranked: Ranked{Rows: 99, Scores: make([]float64, 99)}}
	hundred.Scores[56] = 1
	if hundred.at(0.56) != 0 {
		t.Error("rank 57 of a level of 0.56 and 99 rows")
	}
	if err := c.enough(0.95); err != nil {
		t.Error(err)
	}
	want := "conformal intervals of 99 % need at least 99 held-out rows; with 19 they are infinite"
	if err := c.enough(0.99); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	// As many as are said to be enough are.
	for _, level := range []float64{0.5, 0.8, 0.9, 0.95, 0.99, 0.999} {
		n := int(math.Ceil(level / (1 - level) * (1 - 1e-12)))
		if c := (&Conformal{Ranked: Ranked{Rows: n, Scores: make([]float64, n)}}); c.enough(level) != nil {
			t.Errorf("%d rows are not enough for %g", n, level)
		}
		if n > 1 {
			if c := (&Conformal{Ranked: Ranked{Rows: n - 1, Scores: make([]float64, n-1)}}); c.enough(level) == nil {
				t.Errorf("%d rows are enough for %g", n-1, level)
			}
		}
	}
}

// Of many rows some scores are kept: a level takes its own or the next higher.
func TestConformalOfManyRows(t *testing.T) {
	const n = 123457
	key := rng.New(1)
	d := &dist.Normal{Sigma: 2}
	rows := Unweighted(func(yield func(float64, dist.Dist) bool) {
		order := make([]int, n)
		rng.Perm(key, order)
		for _, i := range order {
			if !yield(2*float64(i+1), d) {
				return
			}
		}
	})
	c, err := FitConformal(rows)
	if err == nil {
		err = c.check()
	}
	if err != nil {
		t.Fatal(err)
	}
	levels := []float64{1e-6, 0.9999, 1 - 1.0/n}
	for i := 1; i < 3000; i++ {
		levels = append(levels, float64(i)/3000)
	}
	for _, level := range levels {
		r := math.Ceil((n+1)*level - 1e-6)
		if q := c.at(level); q < r || q > r+13 {
			t.Errorf("level %g: rank %g for %g", level, q, r)
		}
	}
}
