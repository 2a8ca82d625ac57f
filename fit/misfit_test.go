package fit

import (
	"strings"
	"testing"

	"utvi/metric"
)

// Intervals that cover what they should by chance pass; others are named, the worst of them.
func TestMisfit(t *testing.T) {
	scores := func(rows int, half, most float64) metric.RegressionScores {
		return metric.RegressionScores{Rows: rows, Intervals: []metric.CoverageScore{{Level: 0.5, Coverage: half}, {Level: 0.9, Coverage: most}}}
	}
	grouped := func(s metric.RegressionScores, like float64) metric.RegressionScores {
		for i := range s.Intervals {
			x := &s.Intervals[i]
			x.Groups = 5
			x.Low, x.High = metric.Wilson(x.Coverage, like)
		}
		return s
	}
	for _, c := range []struct {
		s      metric.RegressionScores
		counts bool
		want   string // "": nothing
	}{
		{scores(60, 0.45, 0.83), false, ""},
		{scores(60, 0.017, 0.9), false, "the 50 % intervals of y cover 1.7 %"},
		{scores(60, 0.98, 0.97), false, "the 50 % intervals of y cover 98.0 %"},
		{scores(400, 0.36, 0.7), false, "the 90 % intervals of y cover 70.0 %"},
		{scores(60, 0.98, 0.97), true, ""},
		{scores(60, 0.017, 0.9), true, "cover 1.7 %"},
		{grouped(scores(400, 0.36, 0.7), 12), false, ""}, // by few groups
		{grouped(scores(400, 0.36, 0.7), 400), false, "the 90 % intervals of y cover 70.0 %"},
		{grouped(scores(400, 0.36, 0.7), 0), false, ""},
		{scores(20, 0, 0.5), false, ""},        // too few to say
		{scores(10000, 0.53, 0.88), false, ""}, // too little
	} {
		got := misfit("y", c.s, c.counts)
		if c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%+v, counts %v: %q, want %q", c.s, c.counts, got, c.want)
		}
	}
}
