package calibrate

import (
	"math"
	"slices"
	"testing"

	"utvi/dist"
	"utvi/rng"
)

// TestSetsCover draws rows whose probabilities are wrong on purpose: the sets hold their
// level all the same, over many draws of held-out rows.
func TestSetsCover(t *testing.T) {
	const level, held, draws = 0.8, 39, 400
	key := rng.New(5)
	at := uint64(0)
	row := func() (int, dist.Categorical) {
		at += 2
		u := rng.Uniform(key, at)
		truth := dist.Categorical{0.2 + 0.6*u, 0.3 - 0.2*u, 0.5 - 0.4*u}
		class, v := 0, rng.Uniform(key, at+1)
		for v > truth[class] && class < 2 {
			v -= truth[class]
			class++
		}
		return class, dist.Categorical{truth[0] / 2, truth[1] / 2, 1 - (truth[0]+truth[1])/2} // far too sure of the last
	}
	hits := 0
	for range draws {
		rows := func(yield func(Row[int, dist.Categorical]) bool) {
			for range held {
				if class, p := row(); !yield(Row[int, dist.Categorical]{class, p, 1}) {
					return
				}
			}
		}
		s, err := FitSets(rows)
		if err != nil {
			t.Fatal(err)
		}
		for range 5 {
			class, p := row()
			if slices.Contains(s.Set(nil, p, level), class) {
				hits++
			}
		}
	}
	if share := float64(hits) / (5 * draws); math.Abs(share-level) > 0.035 { // ⌈40·0.8⌉/40 exactly
		t.Errorf("the sets contain %v of the classes, want %v", share, level)
	}
}

func TestSets(t *testing.T) {
	rows := Unweighted(func(yield func(int, dist.Categorical) bool) {
		for _, p := range []float64{0.9, 0.8, 0.7, 0.6} {
			yield(0, dist.Categorical{p, 1 - p, 0})
		}
	})
	s, err := FitSets(rows)
	if err != nil {
		t.Fatal(err)
	}
	if got := s.Set(nil, dist.Categorical{0.75, 0.25, 0}, 0.6); !slices.Equal(got, []int{0}) {
		t.Errorf("the set is %v", got)
	}
	if got := s.Set(nil, dist.Categorical{0.4, 0.3, 0.3}, 0.6); !slices.Equal(got, []int{0}) {
		t.Errorf("without a class that is probable enough, the set is %v", got)
	}
	if got := s.Set(nil, dist.Categorical{0.75, 0.25, 0}, 0.9); len(got) != 3 || s.enough(0.9) == nil || s.enough(0.6) != nil {
		t.Errorf("with too few rows the set is %v, %v", got, s.enough(0.9))
	}
	c := &Calibration{Sets: s}
	if c.Check() != nil || c.String() != "conformal sets of classes from 4 rows" {
		t.Error(c.Check(), c)
	}
	s.Scores[3] = 1.5
	if c.Check() == nil {
		t.Error("a score above 1 passed")
	}
	if _, err := FitSets(Unweighted(func(yield func(int, dist.Categorical) bool) { yield(3, dist.Categorical{1}) })); err == nil {
		t.Error("a class that does not exist passed")
	}
}
