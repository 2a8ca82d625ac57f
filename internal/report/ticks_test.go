package report

import (
	"slices"
	"testing"

	"gonum.org/v1/plot"
)

func TestMarks(t *testing.T) {
	for name, x := range map[string]struct {
		ticks  plot.Ticker
		lo, hi float64
		want   []string
	}{
		"numbers":                     {ticks{}, 149, 151, []string{"149.0", "149.5", "150.0", "150.5", "151.0"}},
		"counts":                      {ticks{whole: true}, 149, 151, []string{"149", "150", "151"}},
		"many counts":                 {ticks{whole: true}, 0, 1000, []string{"0", "200", "400", "600", "800", "1000"}},
		"thousands":                   {decades{}, 2.7, 4.31, []string{"1000", "2000", "5000", "10000", "20000"}},
		"beyond":                      {decades{}, 5.2, 6.4, []string{"2·10⁵", "5·10⁵", "10⁶", "2·10⁶"}},
		"small":                       {decades{}, -2.4, -1.2, []string{"0.005", "0.01", "0.02", "0.05"}},
		"places from the left":        {placed{1.5, 0.1}, -15, 15, []string{"0", "1", "2", "3"}},
		"places from above, downward": {placed{1.5, -0.1}, -15, 15, []string{"0", "1", "2", "3"}},
	} {
		var got []string
		var at []float64
		for _, k := range x.ticks.Ticks(x.lo, x.hi) {
			if k.Label != "" {
				got = append(got, k.Label)
				at = append(at, k.Value)
			}
		}
		if !slices.Equal(got, x.want) {
			t.Errorf("%s: %q, want %q", name, got, x.want)
		}
		if p, ok := x.ticks.(placed); ok && (at[0] < 0) != (p.by > 0) {
			t.Errorf("%s: 0 stands at %g", name, at[0])
		}
	}
}
