package fit

import (
	"fmt"
	"strings"
	"testing"

	"utvi/data"
	"utvi/gauss"
	"utvi/predict"
	"utvi/rng"
)

// Many columns are looked at when there is time, few always.
func TestInsightInAHurry(t *testing.T) {
	for columns, want := range map[int][2]bool{hurriedColumns + 1: {true, false}, hurriedColumns: {true, true}} {
		var b strings.Builder
		for row := range 41 {
			for col := range columns {
				if row == 0 {
					fmt.Fprintf(&b, "c%d,", col)
				} else {
					fmt.Fprintf(&b, "%d.5,", (row*7+col*3)%19)
				}
			}
			if row == 0 {
				b.WriteString("y\n")
			} else {
				fmt.Fprintf(&b, "%d.5\n", row%5)
			}
		}
		c := quick
		c.Steps = 2
		c.Ensemble = 1
		r, err := Run(t.Context(), read(t, b.String()), Config{Targets: []string{"y"}, Network: c}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		set := &data.Set{X: gauss.Fixed(r.Model.Inputs(), make([]float32, 5*r.Model.Inputs())), Y: make([]float32, 5)}
		for i, hurry := range []bool{false, true} {
			got, err := r.Model.insight(set, 1, hurry)
			if err != nil {
				t.Fatal(err)
			}
			if (len(got.Dependence) > 0) != want[i] {
				t.Errorf("%d columns, in a hurry %v: %d curves", columns, hurry, len(got.Dependence))
			}
		}
	}
}

// A file that cannot be opened is reported by who reads it, not as one of another kind.

// Of more columns than can be shuffled one by one, blocks find the same ones that matter.
func TestImportanceByBlocks(t *testing.T) {
	const columns = 60
	var b strings.Builder
	for col := range columns {
		fmt.Fprintf(&b, "c%d,", col)
	}
	b.WriteString("y\n")
	key := rng.New(1)
	for row := range 200 {
		var y float64
		for col := range columns {
			x := rng.Normal(key, uint64(row*columns+col))
			if col == 41 {
				y = x
			}
			fmt.Fprintf(&b, "%.3f,", x)
		}
		fmt.Fprintf(&b, "%.3f\n", y)
	}
	c := quick
	c.Steps = 64
	c.Ensemble = 1
	r, err := Run(t.Context(), read(t, b.String()), Config{Targets: []string{"y"}, Network: c}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := r.Model.NewPredictor(predict.Options{Interval: -1})
	if err != nil {
		t.Fatal(err)
	}
	set := &data.Set{X: gauss.Fixed(columns, make([]float32, 100*columns)), Y: make([]float32, 100)}
	for row := range 100 {
		for col := range columns {
			set.X.Mean[row*columns+col] = float32(rng.Normal(key, uint64(row*columns+col)))
		}
		set.Y[row] = set.X.Mean[row*columns+41]
	}
	l := looker{r.Model, p, r.Model.Schema.Targets()}
	all := importance(l, set, r.Model.Schema.Spans(), 1, columns)
	some := importance(l, set, r.Model.Schema.Spans(), 1, 40)
	if len(all) != columns || len(some) == 0 || len(some) > 20 || some[0] != all[0] || all[0].Column != "c41" {
		t.Errorf("one by one %v, by blocks %v", all[:3], some)
	}
}
