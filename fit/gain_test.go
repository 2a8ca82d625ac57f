package fit

import (
	"strings"
	"testing"

	"utvi/metric"
)

// A model that is worse than the mean is said to be so, unless chance explains it.
func TestLosing(t *testing.T) {
	scores := func(gain, se float64, rows int) []Scores {
		return []Scores{{Target: "y", Numbers: &metric.RegressionScores{Rows: rows}, Baseline: &Baseline{Gain: Gain{gain, se}}}}
	}
	if got := losing(scores(-0.05, 0.01, 100)); !strings.Contains(got, "predicts y worse than its mean alone would: held-out rows lose 0.05 ± 0.01 nats each") {
		t.Error(got)
	}
	for _, s := range [][]Scores{scores(-0.02, 0.01, 100), scores(0.5, 0.01, 100), scores(-0.5, 0.01, 5)} {
		if got := losing(s); got != "" {
			t.Error(got)
		}
	}
	var a, b, all gainTally
	for i := range 10 {
		all.add(float64(i*i), 1)
		[]*gainTally{&a, &b}[i%2].add(float64(i*i), 1)
	}
	a.merge(b)
	if a.gain() != all.gain() || all.gain().Value != 28.5 {
		t.Errorf("%v and %v", a.gain(), all.gain())
	}
}
