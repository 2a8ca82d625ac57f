package golden

import (
	"bytes"
	"context"
	"encoding/csv"
	"strconv"
	"testing"

	"utvi/fit"
	"utvi/internal/compute"
	"utvi/internal/predictions"
	"utvi/internal/tabular"
	"utvi/predict"
	"utvi/table"
)

// frame reads a table of testdata: resin.csv is the tutorial's, new.csv the one
// that the tutorial predicts, with strange rows at its end.
func frame(t *testing.T, name string) *table.Frame {
	t.Helper()
	rows, err := table.Open("testdata/"+name, table.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	f, err := table.Load(rows)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// checkTable checks what a model predicts for new.csv: moments or probabilities,
// intervals, parts of the variance, ood.
func checkTable(t *testing.T, name string, m *fit.Model) {
	t.Helper()
	pool := compute.NewPool(1)
	defer pool.Close()
	var out bytes.Buffer
	p, err := m.NewPredictor(predict.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := predictions.Write(context.Background(), p, frame(t, "new.csv").Rows(nil), &out, predictions.Output{Parts: true}, pool); err != nil {
		t.Fatal(err)
	}
	lines, err := csv.NewReader(&out).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var x []float64
	for _, line := range lines[1:] {
		for _, field := range line {
			if v, err := strconv.ParseFloat(field, 64); err == nil { // others are names of classes
				x = append(x, v)
			}
		}
	}
	check(t, name, x)
}

// The fit of the tutorial's table, with fewer and shorter trainings.
func TestTable(t *testing.T) {
	needRecord(t)
	for name, c := range map[string]fit.Config{
		"regression":     {Targets: []string{"strength"}, Refit: "never", Network: tabular.Config{Ensemble: 3, Steps: 400, Rule: "ut(2)", Independent: true}},
		"classification": {Targets: []string{"resin"}, Refit: "never", Network: tabular.Config{Ensemble: 2, Steps: 150, Rule: "ut(2)", Independent: true}},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := fit.Run(context.Background(), frame(t, "resin.csv"), c, fit.Options{})
			if err != nil {
				t.Fatal(err)
			}
			checkTable(t, "predictions", r.Model)
		})
	}
}
