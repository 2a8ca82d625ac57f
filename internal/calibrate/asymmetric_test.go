package calibrate

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"testing"

	"utvi/dist"
)

// mirrored are rows with all errors turned around.
func mirrored(rows Rows) Rows {
	return func(yield func(Row[float64, dist.Dist]) bool) {
		for r := range rows {
			r.Target = 2*r.Prediction.Mean() - r.Target
			if !yield(r) {
				return
			}
		}
	}
}

// Over many draws of held-out rows, each side is missed with probability
// (n+1−r)/(n+1), r = ⌈(n+1)(1−α/2)⌉, to whichever side the errors lean.
func TestAsymmetricCoverage(t *testing.T) {
	const sets, fresh = 600, 20
	for name, turn := range map[string]func(Rows) Rows{
		"leaning up": func(r Rows) Rows { return r }, "leaning down": mirrored,
	} {
		for _, c := range []struct {
			n     int
			level float64
		}{{39, 0.95}, {40, 0.9}, {99, 0.5}, {57, 0.8}} {
			var below, above int
			var evenBelow, evenAbove int
			for k := range sets {
				held := turn(skewed(uint64(1000+k), c.n))
				cal, same := must[*Conformal](t)(FitAsymmetric(held)), must[*Conformal](t)(FitConformal(held))
				for r := range turn(skewed(uint64(500000+k), fresh)) {
					lo, hi := cal.Interval(r.Prediction, c.level)
					if r.Target < lo {
						below++
					}
					if r.Target > hi {
						above++
					}
					lo, hi = same.Interval(r.Prediction, c.level)
					if r.Target < lo {
						evenBelow++
					}
					if r.Target > hi {
						evenAbove++
					}
				}
			}
			r := math.Ceil(float64(c.n+1)*(1+c.level)/2 - 1e-9)
			want := 1 - r/float64(c.n+1)
			// The rows of a set share its quantile, whose level is Beta(r, n+1−r).
			between := want * (1 - want) / float64(c.n+2)
			se := math.Sqrt((between + want*(1-want)/fresh) / sets)
			what := fmt.Sprintf("%s, %d rows, level %g: missed ", name, c.n, c.level)
			near(t, what+"below", float64(below)/(sets*fresh), want, 3.5*se)
			near(t, what+"above", float64(above)/(sets*fresh), want, 3.5*se)
			if c.level >= 0.9 && max(evenBelow, evenAbove) < 20*min(evenBelow, evenAbove) {
				t.Errorf("%s: symmetric intervals miss %d below and %d above: this proves little", name, evenBelow, evenAbove)
			}
		}
	}
}

func TestAsymmetricRank(t *testing.T) {
	rows := func(yield func(float64, dist.Dist) bool) {
		for i := range 19 {
			if !yield(float64(i-4), dist.Normal{Sigma: 1}) { // −4 … 14
				return
			}
		}
	}
	c := must[*Conformal](t)(FitAsymmetric(Unweighted(rows)))
	for level, want := range map[float64][2]float64{0.9: {-4, 14}, 0.8: {-3, 13}, 1e-9: {4, 6}, 1e-15: {5, 5}, 0.91: {math.Inf(-1), math.Inf(1)}} {
		if lo, hi := c.Interval(dist.Normal{Sigma: 1}, level); lo != want[0] || hi != want[1] {
			t.Errorf("level %g: %g … %g, want %v", level, lo, hi, want)
		}
	}
	want := "conformal intervals of 95 % need at least 39 held-out rows; with 19 they are infinite"
	if err := c.enough(0.95); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	if err := c.enough(0.9); err != nil {
		t.Error(err)
	}
	if got := c.String(); got != "asymmetric conformal intervals from 19 rows" {
		t.Error(got)
	}
	data, err := json.Marshal(Calibration{Conformal: c})
	if err != nil {
		t.Fatal(err)
	}
	if again, err := Decode(data); err != nil || !reflect.DeepEqual(again.Conformal, c) {
		t.Errorf("%s came back as %v, %v", data, again, err)
	}
}

// A calibration of an earlier version still gives the same bits.
func TestOldConformal(t *testing.T) {
	c, err := Decode([]byte(`{"conformal":{"rows":9,"scores":[0.1,0.2,0.3,0.7,0.9,1.1,1.3,1.7,2.3]}}`))
	if err != nil {
		t.Fatal(err)
	}
	for level, q := range map[float64]float64{0.1: 0.1, 0.5: 0.9, 0.51: 1.1, 0.9: 2.3, 0.95: math.Inf(1)} {
		d := dist.Normal{Mu: 0.3, Sigma: 0.7}
		half := q * d.Sigma
		if lo, hi := c.Interval(d, level, nil); lo != d.Mu-half || hi != d.Mu+half {
			t.Errorf("level %g: %g … %g, want %g ± %g", level, lo, hi, d.Mu, half)
		}
	}
	data, err := json.Marshal(c)
	if want := `{"conformal":{"rows":9,"scores":[0.1,0.2,0.3,0.7,0.9,1.1,1.3,1.7,2.3]}}`; err != nil || string(data) != want {
		t.Errorf("written again as %s, %v", data, err)
	}
}
