package calibrate

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"utvi/dist"
)

// What is no probability is refused where it stands, also if it is not that of the true class.
func TestTemperatureRefusesWhatIsNoProbability(t *testing.T) {
	for _, p := range []float64{math.NaN(), -0.1, 1.5, math.Inf(1)} {
		rows := Unweighted(func(yield func(int, dist.Categorical) bool) {
			for i := range 100 {
				row := dist.Categorical{0.5, 0.3, 0.2}
				if i == 41 {
					row[2] = p
				}
				if !yield(i%2, row) {
					return
				}
			}
		})
		want := fmt.Sprintf("calibration: held-out row 42 has a probability of %g", p)
		if _, err := FitTemperature(rows); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// rowsOf are held-out rows of two classes with these probabilities of the first, which is right.
func rowsOf(weights, first []float64) ClassRows {
	return func(yield func(Row[int, dist.Categorical]) bool) {
		for i, p := range first {
			if !yield(Row[int, dist.Categorical]{0, dist.Categorical{p, 1 - p}, weights[i]}) {
				return
			}
		}
	}
}

// Sets refuse what is no probability, count rows by their weights, and say how many rows a level
// needs.
func TestSetsRefuse(t *testing.T) {
	for want, rows := range map[string]ClassRows{
		"calibration: held-out row 2 has a probability of 1.5":       rowsOf([]float64{1, 1}, []float64{0.5, 1.5}),
		"calibration: held-out row 2 has a probability of -0.5":      rowsOf([]float64{0, 1}, []float64{7, -0.5}),
		"calibration: held-out row 1 has a probability of NaN":       rowsOf([]float64{1}, []float64{math.NaN()}),
		"calibration: conformal sets need at least one held-out row": rowsOf([]float64{0, 0}, []float64{0.5, 0.5}),
		"calibration: held-out row 1 has class 2; there are 2 classes, counted from 0": func(yield func(Row[int, dist.Categorical]) bool) {
			yield(Row[int, dist.Categorical]{2, dist.Categorical{1, 0}, 1})
		},
		"calibration: held-out row 1 has class -1; there are 2 classes, counted from 0": func(yield func(Row[int, dist.Categorical]) bool) {
			yield(Row[int, dist.Categorical]{-1, dist.Categorical{1, 0}, 1})
		},
	} {
		if s, err := FitSets(rows); s != nil || err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	s, err := FitSets(rowsOf([]float64{1, 0, 1, 1}, []float64{1, 7, 0, 0.5}))
	if err != nil || s.Rows != 3 || !slices.Equal(s.Scores, []float64{0, 0.5, 1}) {
		t.Errorf("three rows that count, of probabilities 1, 0 and 0.5: %+v, %v", s, err)
	}
}

// Levels outside (0, 1), and classes of another number, are mistakes of a program.
func TestMisuse(t *testing.T) {
	s, err := FitSets(rowsOf([]float64{1}, []float64{0.5}))
	if err != nil {
		t.Fatal(err)
	}
	c, err := FitConformal(normals(1, 20, 0, 1))
	if err != nil {
		t.Fatal(err)
	}
	for want, calls := range map[string][]func(){
		"calibrate: a level must lie between 0 and 1": {
			func() { s.Bound(0) }, func() { s.Bound(1) }, func() { s.Bound(math.NaN()) },
			func() { c.Factors(0) }, func() { c.Factors(1) }, func() { c.Factors(math.NaN()) },
		},
		"calibrate: dst and p must have the same length": {
			func() { (&Temperature{T: 1}).Apply(make(dist.Categorical, 3), dist.Categorical{0.5, 0.5}) },
			func() { (&Temperature{T: 1}).Apply(make(dist.Categorical, 1), dist.Categorical{0.5, 0.5}) },
		},
		"calibrate: a weight must lie between 0 and 1e100": {
			func() { _, _ = FitSets(rowsOf([]float64{-1}, []float64{0.5})) },
			func() { _, _ = FitSets(rowsOf([]float64{math.NaN()}, []float64{0.5})) },
			func() { _, _ = FitSets(rowsOf([]float64{1e101}, []float64{0.5})) },
		},
	} {
		for i, call := range calls {
			func() {
				defer func() {
					if got := recover(); got != want {
						t.Errorf("call %d: panic %v, want %s", i, got, want)
					}
				}()
				call()
			}()
		}
	}
}

// Both sides of asymmetric intervals, and intervals and sets of one calibration, need enough rows.
func TestEnoughRows(t *testing.T) {
	none := Unweighted(func(func(float64, dist.Dist) bool) {})
	if c, err := FitAsymmetric(none); c != nil || err == nil || err.Error() != "calibration: conformal intervals need at least one held-out row" {
		t.Errorf("asymmetric intervals from no rows: %+v, %v", c, err)
	}
	conformal, err := FitConformal(normals(1, 9, 0, 1))
	if err != nil {
		t.Fatal(err)
	}
	sets, err := FitSets(rowsOf([]float64{1, 1, 1, 1}, []float64{0.5, 0.5, 0.5, 0.5}))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		of    Calibration
		level float64
		want  string // how the error begins, "": none
	}{
		{Calibration{}, 0.99, ""},
		{Calibration{Conformal: conformal}, 0.9, ""},
		{Calibration{Conformal: conformal}, 0.91, "conformal intervals of 91 % need at least 11 held-out rows"},
		{Calibration{Sets: sets}, 0.8, ""},
		{Calibration{Sets: sets}, 0.9, "conformal sets of 90 % need at least 9 held-out rows"},
		{Calibration{Conformal: conformal, Sets: sets}, 0.8, ""},
		{Calibration{Conformal: conformal, Sets: sets}, 0.9, "conformal sets of 90 %"},
		{Calibration{Conformal: conformal, Sets: sets}, 0.95, "conformal intervals of 95 %"},
	} {
		err := c.of.Enough(c.level)
		if (err == nil) != (c.want == "") || err != nil && !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s at %g: %v, want %q", &c.of, c.level, err, c.want)
		}
	}
}

// One row may outweigh whole parts of the rows: the map of levels then has no knots there.
func TestLevelsOfOneHeavyRow(t *testing.T) {
	for _, heavy := range []int{0, 15, 30} {
		rows := func(yield func(Row[float64, dist.Dist]) bool) {
			for i := range 31 {
				w := 1.0
				if i == heavy {
					w = 8
				}
				if !yield(Row[float64, dist.Dist]{float64(i-15) / 10, dist.Normal{Sigma: 1}, w}) {
					return
				}
			}
		}
		l, err := FitLevels(rows)
		if err != nil || l.check() != nil {
			t.Errorf("row %d of weight 8: %+v, %v", heavy, l, err)
		}
	}
}

// Whoever reads corrected rows may stop at any of them.
func TestCorrectedStops(t *testing.T) {
	n := 0
	for range (&Calibration{}).Corrected(normals(1, 20, 0, 1)) {
		n++
		if n == 3 {
			break
		}
	}
	if n != 3 {
		t.Errorf("%d rows", n)
	}
}
