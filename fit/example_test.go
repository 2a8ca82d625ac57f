package fit_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"

	"utvi/fit"
	"utvi/predict"
	"utvi/table"
)

// y is 3x, and noise of standard deviation 0.2 or so.
func line(n int) string {
	var b strings.Builder
	b.WriteString("x,y\n")
	for i := range n {
		x := float64(i%100)/50 - 1
		fmt.Fprintf(&b, "%.2f,%.3f\n", x, 3*x+0.2*float64(i*7%11-5)/3)
	}
	return b.String()
}

// From a table to a model in a file, and predictions from the file.
func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "line.csv")
	if err := os.WriteFile(path, []byte(line(300)), 0o666); err != nil {
		log.Fatal(err)
	}

	rows, err := fit.ReadTable(path, table.Options{})
	if err != nil {
		log.Fatal(err)
	}
	// A small network, for the sake of the example; fit.Network{} chooses by itself.
	small := fit.Network{Ensemble: 1, Noise: "learned", KL: 0.3, Activation: "leaky-relu", Depth: 1, Width: 8, Steps: 400}
	result, err := fit.Run(ctx, rows, fit.Config{Targets: []string{"y"}, Network: small}, fit.Options{})
	if err != nil {
		log.Fatal(err)
	}
	scores := result.Evaluation.Scores()[0].Numbers
	fmt.Printf("%d rows held out, RMSE below 0.3: %v\n", scores.Rows, scores.RMSE.Value < 0.3)
	model := filepath.Join(dir, "y.utvi")
	if err := result.Model.Save(model); err != nil {
		log.Fatal(err)
	}

	m, err := predict.OpenFile(model)
	if err != nil {
		log.Fatal(err)
	}
	p, err := m.NewPredictor(predict.Options{Interval: 0.9})
	if err != nil {
		log.Fatal(err)
	}
	y, err := p.Row(ctx, map[string]any{"x": 0.5})
	if err != nil {
		log.Fatal(err)
	}
	n := y.Numbers[0]
	fmt.Printf("%s: 1.5 lies in the interval: %v\n", n.Target, n.Lo < 1.5 && 1.5 < n.Hi)
	// Output:
	// 30 rows held out, RMSE below 0.3: true
	// y: 1.5 lies in the interval: true
}

// Scores of a table that the model has not seen, and error bars corrected by it.
func ExampleModel_Calibrate() {
	ctx := context.Background()
	read := func(text string) *table.Frame {
		r, err := table.NewReader(strings.NewReader(text), "line.csv", table.Options{})
		if err != nil {
			log.Fatal(err)
		}
		f, err := table.Load(r)
		if err != nil {
			log.Fatal(err)
		}
		return f
	}
	small := fit.Network{Ensemble: 1, Noise: "learned", KL: 0.3, Activation: "leaky-relu", Depth: 1, Width: 8, Steps: 400}
	result, err := fit.Run(ctx, read(line(300)), fit.Config{Targets: []string{"y"}, Network: small}, fit.Options{})
	if err != nil {
		log.Fatal(err)
	}
	m, held := result.Model, read(line(200))
	if _, err := m.Calibrate(ctx, held.Rows(nil), m.DefaultMethods(), nil); err != nil {
		log.Fatal(err)
	}
	e, err := m.Evaluate(ctx, held.Rows(nil), nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(e.Rows, "rows, calibrated:", e.Calibrated)
	// Output: 200 rows, calibrated: true
}

func ExampleConfig_WriteYAML() {
	c := fit.Config{Targets: []string{"price"}, Ignore: []string{"id"}, Seed: 1, Network: fit.Network{Width: 20}}
	c.WriteYAML(os.Stdout, nil)
	// Output:
	// # A setting that is 0 or empty is found in the table, or is the default.
	// targets: [price]
	// task: auto
	// inputs: []
	// ignore: [id]
	// categorical: []
	// target_range: ""
	// weight: ""
	// group: ""
	// time: ""
	// impute: false
	// input_std: {}
	// max_levels: 0
	// holdout: 0
	// refit: auto
	// memory: 0
	// seed: 1
	// network:
	//   ensemble: 0
	//   noise: ""
	//   kl: 0
	//   activation: ""
	//   rule: ""
	//   independent: false
	//   width: 20
	//   depth: 0
	//   bins: 0
	//   waves: 0
	//   steps: 0
	//   batch: 0
	//   rate: 0
	//   validation: 0
}
