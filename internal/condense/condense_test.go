package condense_test

import (
	"math"
	"slices"
	"testing"

	"utvi/internal/condense"
	"utvi/rng"
)

// rows are two clusters of three numbers that depend on each other, with classes.
func rows(n int) condense.Rows {
	r := condense.Rows{Numbers: make([][]float64, 3), Tags: make([][]int, 2), First: 1}
	key := rng.New(5)
	for i := range n {
		z := func(k int) float64 { return rng.Normal(key, uint64(4*i+k)) }
		class := i % 2
		a := z(0) + 2*float64(class)
		r.Numbers[0] = append(r.Numbers[0], a)
		r.Numbers[1] = append(r.Numbers[1], 0.5*a+0.3*z(1))
		r.Numbers[2] = append(r.Numbers[2], z(2)*z(2))
		r.Tags[0] = append(r.Tags[0], class)
		r.Tags[1] = append(r.Tags[1], i%3)
		r.Weights = append(r.Weights, 1)
	}
	return r
}

// moment is Σ w·a·b / Σ w, of the rows of a class.
func moment(a, b, w []float64, in func(i int) bool) float64 {
	var sum, all float64
	for i := range a {
		if in(i) {
			sum += w[i] * a[i] * b[i]
			all += w[i]
		}
	}
	return sum / all
}

// As many rows as were given have their means and covariances, in each class too, and none is one
// that was given.
func TestMake(t *testing.T) {
	r := rows(103)
	made := condense.Make(rng.New(1), r, 1000)
	if len(made.Weights) != r.Len() {
		t.Fatalf("%d rows were made of %d", len(made.Weights), r.Len())
	}
	ones := make([]float64, r.Len())
	for i := range ones {
		ones[i] = 1
	}
	for class := range 2 {
		was := func(i int) bool { return r.Tags[0][i] == class }
		is := func(i int) bool { return r.Tags[0][made.From[i]] == class }
		for a := range 3 {
			if d := moment(made.Numbers[a], ones, made.Weights, is) - moment(r.Numbers[a], ones, r.Weights, was); math.Abs(d) > 1e-9 {
				t.Errorf("class %d: the mean of column %d is off by %v", class, a, d)
			}
			for b := range 3 {
				if d := moment(made.Numbers[a], made.Numbers[b], made.Weights, is) - moment(r.Numbers[a], r.Numbers[b], r.Weights, was); math.Abs(d) > 1e-9 {
					t.Errorf("class %d: the moment of columns %d and %d is off by %v", class, a, b, d)
				}
			}
		}
	}
	for i, v := range made.Numbers[0] {
		if slices.Contains(r.Numbers[0], v) {
			t.Errorf("row %d has a number that was given", i)
		}
	}
	if slices.Sort(made.From); !slices.Equal(made.From, ascending(r.Len())) {
		t.Error("tags of some rows are lost")
	}
}

func ascending(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// Fewer rows stand for all: weights sum up, means stay, covariances about; and again.
func TestMakeFewer(t *testing.T) {
	r := rows(4000)
	made := condense.Make(rng.New(1), r, 500)
	again := condense.Rows{Numbers: made.Numbers, Weights: made.Weights}
	twice := condense.Make(rng.New(2), again, 200)
	all := func(int) bool { return true }
	ones := slices.Repeat([]float64{1}, 4000)
	for name, m := range map[string]condense.Made{"once": made, "twice": twice} {
		var sum float64
		for _, w := range m.Weights {
			sum += w
		}
		n := len(m.Weights)
		if math.Abs(sum-4000) > 1e-6 || n > 700 || name == "twice" && n > 280 {
			t.Errorf("%s: %d rows with a weight of %v", name, n, sum)
		}
		for a := range 3 {
			if d := moment(m.Numbers[a], ones, m.Weights, all) - moment(r.Numbers[a], ones, r.Weights, all); math.Abs(d) > 1e-6 {
				t.Errorf("%s: mean %d is off by %v", name, a, d)
			}
		}
		was := moment(r.Numbers[0], r.Numbers[1], r.Weights, all)
		if is := moment(m.Numbers[0], m.Numbers[1], m.Weights, all); math.Abs(is/was-1) > 0.03 {
			t.Errorf("%s: the moment of two columns is %v, it was %v", name, is, was)
		}
	}
}

// Missing numbers stay missing, as often; rows that are all alike, and too few, are no trouble.
func TestMakeOdd(t *testing.T) {
	r := rows(50)
	for i := range 50 {
		if i%5 == 0 {
			r.Numbers[1][i] = math.NaN()
		}
		r.Numbers[2][i] = 7
	}
	made := condense.Make(rng.New(1), r, 1000)
	missing := 0
	for i, v := range made.Numbers[1] {
		if v != v {
			missing++
		}
		if made.Numbers[2][i] != 7 {
			t.Errorf("a constant became %v", made.Numbers[2][i])
		}
	}
	if missing != 10 {
		t.Errorf("%d numbers are missing, it were 10", missing)
	}
	if two := condense.Make(rng.New(1), rows(2), 10); len(two.Weights) != 2 || two.Numbers[0][0] != two.Numbers[0][0] {
		t.Errorf("two rows became %v", two)
	}
	if none := condense.Make(rng.New(1), condense.Rows{}, 10); len(none.Weights) != 0 {
		t.Error("no rows became some")
	}
}
