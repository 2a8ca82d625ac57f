package report_test

import (
	"fmt"
	"os"
	"path/filepath"

	"utvi/internal/report"
)

// save draws a figure to a file that is thrown away.
func save(f report.Figure) {
	dir, err := os.MkdirTemp("", "report")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	fmt.Println(report.Save(filepath.Join(dir, "figure.svg"), f))
}

func ExampleGrid() {
	mc := report.Trace{Name: "Monte Carlo", Colour: report.Series(1), Style: report.LineMarks,
		X: []float64{2, 4, 8}, Y: []float64{0.9, 0.7, 0.6}, SD: []float64{0.1, 0.05, 0.04}}
	save(report.Grid{Charts: []report.Chart{{
		X:      report.Axis{Label: "samples", Scale: report.Log2},
		Y:      report.Axis{Label: "NLL (nats)"},
		Traces: []report.Trace{mc},
		Levels: []report.Level{{Name: "UT", Colour: report.Series(2), Y: 0.58, SD: 0.02}},
	}}})
	// Output: <nil>
}

func ExampleMaps() {
	save(report.Maps{Label: "variance (px²)", Maps: []report.Map{{Title: "bound", Width: 2, Values: []float64{1, 2, 3, 4}}}})
	// Output: <nil>
}

func ExampleForest() {
	save(report.Forest{X: report.Axis{Label: "RMSE"}, Rows: []report.ForestRow{{Name: "UT", Value: 0.5, SD: 0.1}, {Name: "MC", Value: 0.7, SD: 0.2, Group: 1}}})
	// Output: <nil>
}

func ExampleConfusion() {
	save(report.Confusion{Classes: []string{"no", "yes"}, Counts: [][]int{{90, 10}, {5, 95}}})
	// Output: <nil>
}

func ExamplePIT() {
	save(report.Grid{Charts: []report.Chart{
		report.PIT([]float64{0.1, 0.4, 0.6, 0.9}),
		report.PredictedActual([]float64{1, 2}, []float64{1.1, 1.8}, []float64{0.2, 0.3}, "strength (MPa)"),
	}})
	// Output: <nil>
}
