package calibrate

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"utvi/dist"
	"utvi/rng"
)

// weighted gives row i the weight w(i).
func weighted[T, P any](rows func(func(Row[T, P]) bool), w func(i int) float64) func(func(Row[T, P]) bool) {
	return func(yield func(Row[T, P]) bool) {
		i := 0
		for r := range rows {
			r.Weight = w(i)
			i++
			if !yield(r) {
				return
			}
		}
	}
}

// repeated yields row i w(i) times.
func repeated[T, P any](rows func(func(Row[T, P]) bool), w func(i int) float64) func(func(Row[T, P]) bool) {
	return func(yield func(Row[T, P]) bool) {
		i := 0
		for r := range rows {
			for range int(w(i)) {
				if !yield(r) {
					return
				}
			}
			i++
		}
	}
}

func must[T any](t *testing.T) func(x T, err error) T {
	return func(x T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
}

func three(i int) float64 { return float64(i % 4) }

// Whole weights are repeated rows where that is their meaning: in a likelihood.
func TestWeightsRepeatRows(t *testing.T) {
	for name, rows := range map[string]Rows{"Normals": normals(1, 300, 0.1, 0.6), "mixtures": mixtures(2, 300)} {
		got := must[*Scale](t)(FitScale(weighted(rows, three)))
		want := must[*Scale](t)(FitScale(repeated(rows, three)))
		plain := must[*Scale](t)(FitScale(rows))
		near(t, "scale of "+name, got.Factor, want.Factor, 3e-6*want.Factor)
		if got.Rows != 225 || math.Abs(plain.Factor-want.Factor) < 1e-3 {
			t.Errorf("%s: %v and %v without weights: the weights change little", name, got, plain)
		}
	}
	rows := classes(3, 300, 2)
	got := must[*Temperature](t)(FitTemperature(weighted(rows, three)))
	want := must[*Temperature](t)(FitTemperature(repeated(rows, three)))
	near(t, "temperature", got.T, want.T, 1e-9)
	if plain := must[*Temperature](t)(FitTemperature(rows)); math.Abs(plain.T-want.T) < 1e-3 {
		t.Errorf("%v and %v without weights: the weights change little", got, plain)
	}
}

// fitAll is every correction of the rows.
func fitAll(t *testing.T, rows Rows, c ClassRows) []any {
	t.Helper()
	return []any{
		must[*Scale](t)(FitScale(rows)), must[*Levels](t)(FitLevels(rows)),
		must[*Conformal](t)(FitConformal(rows)), must[*Conformal](t)(FitAsymmetric(rows)),
		must[*Temperature](t)(FitTemperature(c)),
	}
}

// Only the ratios of weights count, and rows of weight 0 do not.
func TestWeightsAreRelative(t *testing.T) {
	rows, kinds := mixtures(1, 300), classes(1, 300, 1.4)
	plain := fitAll(t, rows, kinds)
	some := func(i int) float64 { return float64(i%4 + 1) }
	mixed := fitAll(t, weighted(rows, some), weighted(kinds, some))
	kept := func(i int) float64 { return float64(min(i%3, 1)) }
	fewer := fitAll(t, repeated(rows, kept), repeated(kinds, kept))
	for name, c := range map[string]struct {
		w    func(i int) float64
		want []any
	}{
		"equal weights":         {func(int) float64 { return 0.25 }, plain},
		"quarters":              {func(i int) float64 { return some(i) / 4 }, mixed},
		"rows without a weight": {func(i int) float64 { return 8 * kept(i) }, fewer},
	} {
		got := fitAll(t, weighted(rows, c.w), weighted(kinds, c.w))
		for i := range got {
			if !reflect.DeepEqual(got[i], c.want[i]) {
				t.Errorf("%s: %v, want %v", name, got[i], c.want[i])
			}
		}
	}
	// An odd common factor changes roundings only.
	for i, x := range fitAll(t, weighted(rows, func(i int) float64 { return 0.1 }), weighted(kinds, func(i int) float64 { return 0.1 })) {
		if s := fmt.Sprintf("%.10v", x); s != fmt.Sprintf("%.10v", plain[i]) {
			t.Errorf("weights of 0.1: %s, want %.10v", s, plain[i])
		}
	}
}

// shifted are rows of two groups, predicted alike though the second is three times as
// noisy. It is a share of the rows and, by its weight, another of those to come.
func shifted(seed uint64, n int, share, meant float64) Rows {
	key := rng.New(seed)
	return func(yield func(Row[float64, dist.Dist]) bool) {
		for i := range n {
			sd, w := 1.0, (1-meant)/(1-share)
			if rng.Uniform(key.Sub(1, 0), uint64(i)) < share {
				sd, w = 3, meant/share
			}
			if !yield(Row[float64, dist.Dist]{sd * rng.Normal(key, uint64(i)), dist.Normal{Sigma: 1}, w}) {
				return
			}
		}
	}
}

// Weighted rows give intervals that hold for the rows they stand for; without their
// weights they do not.
func TestWeightedCoverage(t *testing.T) {
	const sets, fresh, level = 400, 40, 0.8
	for name, fit := range map[string]func(Rows) (*Conformal, error){"symmetric": FitConformal, "asymmetric": FitAsymmetric} {
		for _, n := range []int{60, 200} {
			var held, plain int
			for k := range sets {
				rows := shifted(uint64(1000+k), n, 0.2, 0.8)
				c := must[*Conformal](t)(fit(rows))
				none := must[*Conformal](t)(fit(weighted(rows, func(int) float64 { return 1 })))
				for r := range shifted(uint64(500000+k), fresh, 0.8, 0.8) {
					if lo, hi := c.Interval(r.Prediction, level); lo <= r.Target && r.Target <= hi {
						held++
					}
					if lo, hi := none.Interval(r.Prediction, level); lo <= r.Target && r.Target <= hi {
						plain++
					}
				}
			}
			const all = sets * fresh
			// The rows of a set share its quantiles; at least the level, and not much more:
			// the new row's weight is a few of a hundred.
			se := math.Sqrt(level * (1 - level) * (1/float64(n*sets)*3 + 1.0/all))
			got := float64(held) / all
			t.Logf("%s, %d rows: %.3f, %.3f without weights", name, n, got, float64(plain)/all)
			if got < level-3*se || got > level+0.16 {
				t.Errorf("%s, %d rows: the intervals hold %.3f of the rows, want at least %g", name, n, got, level)
			}
			if float64(plain)/all > level-0.05 {
				t.Errorf("%s: %.3f without weights: this proves nothing", name, float64(plain)/all)
			}
		}
	}
}

// Weighted levels straighten the rows they stand for.
func TestWeightedLevels(t *testing.T) {
	const n, fresh = 20000, 5000
	rows := shifted(1, n, 0.2, 0.8)
	coverage := func(rows Rows) (held float64) {
		c := &Calibration{Levels: must[*Levels](t)(FitLevels(rows))}
		for r := range shifted(2, fresh, 0.8, 0.8) {
			if lo, hi := c.Interval(r.Prediction, 0.8, nil); lo <= r.Target && r.Target <= hi {
				held += 1.0 / fresh
			}
		}
		return held
	}
	// The rows are worth n/(0.2·4² + 0.8·0.25²).
	near(t, "coverage", coverage(rows), 0.8, 4*math.Sqrt(0.16*(3.25/n+1.0/fresh)))
	if plain := coverage(weighted(rows, func(int) float64 { return 1 })); plain > 0.7 {
		t.Errorf("%.3f without weights: this proves nothing", plain)
	}
}

func TestWeightErrors(t *testing.T) {
	heavy := weighted(normals(1, 50, 0, 1), func(i int) float64 {
		if i == 0 {
			return 1000
		}
		return 1
	})
	want := "calibration: a map of levels needs at least 10 held-out rows; the 50 weighted rows count as 1.1"
	if _, err := FitLevels(heavy); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	c := must[*Conformal](t)(FitConformal(heavy))
	want = "conformal intervals of 90 % need the weight of at least 9 rows like the heaviest one; the 50 held-out rows have the weight of 1.0, so the intervals are infinite"
	if err := c.enough(0.9); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	for _, w := range []float64{-1, math.NaN(), math.Inf(1)} {
		func() {
			defer func() {
				if r := recover(); r == nil || !strings.Contains(fmt.Sprint(r), "a weight must lie between") {
					t.Errorf("weight %g: %v", w, r)
				}
			}()
			FitScale(weighted(normals(1, 50, 0, 1), func(int) float64 { return w }))
		}()
	}
}
