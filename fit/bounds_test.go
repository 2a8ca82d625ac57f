package fit

import (
	"fmt"
	"strings"
	"testing"

	"utvi/internal/schema"
	"utvi/predict"
)

// Intervals of a target that is never negative do not reach below 0.
func TestIntervalsRespectBounds(t *testing.T) {
	var b strings.Builder
	b.WriteString("x,y\n")
	for i := range 250 { // tiny tables would try a transform
		fmt.Fprintf(&b, "%d,%g\n", i*7%11, float64(i%13)+0.5)
	}
	lowest := func(given string) float64 {
		c := spec("y")
		c.TargetRange = given
		c.Network.Steps = 8
		r, err := Run(t.Context(), read(t, b.String()), c, Options{})
		if err != nil {
			t.Fatal(err)
		}
		p, err := r.Model.NewPredictor(predict.Options{Interval: 0.999})
		if err != nil {
			t.Fatal(err)
		}
		least := 0.0
		err = predict.Stream(t.Context(), p, read(t, b.String()).Rows(nil), nil, func(b *predict.Batch) (float64, error) {
			least := 0.0
			for row := range b.Len() {
				least = min(least, b.Numbers(row)[0].Lo, b.Dist(row, 0).Quantile(1e-4))
			}
			return least, nil
		}, func(x float64) error {
			least = min(least, x)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return least
	}
	if least := lowest(""); least < 0 {
		t.Errorf("an interval reaches down to %v", least)
	}
	if least := lowest(":"); least >= 0 {
		t.Error("without bounds no interval is below 0: the test tests nothing")
	}
}

// A dependence on an area shows no negative areas; one on a temperature may.
func TestDependenceOfPositiveColumn(t *testing.T) {
	c := schema.Column{Type: schema.Numeric, Stats: schema.Stats{Mean: 50, SD: 25, Min: 1, Max: 100}}
	if v, _ := grid(&c); v[0] != 0 || v[len(v)-1] < 109 {
		t.Errorf("from %v to %v", v[0], v[len(v)-1])
	}
	c.Min = -1
	if v, _ := grid(&c); v[0] > -10 {
		t.Errorf("from %v", v[0])
	}
}
