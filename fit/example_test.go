package fit_test

import (
	"context"
	"fmt"
	"os"
	"strings"

	"utvi/fit"
	"utvi/internal/compute"
	"utvi/table"
	"utvi/tabular"
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

func Example() {
	read := func(text string) *table.Frame {
		r, err := table.NewReader(strings.NewReader(text), "line.csv", table.Options{})
		if err != nil {
			panic(err)
		}
		f, err := table.Load(r)
		if err != nil {
			panic(err)
		}
		return f
	}
	// A small network, for the sake of the example; tabular.Config{} chooses by itself.
	small := tabular.Config{Ensemble: 1, Noise: tabular.Learned, KL: 0.3, Activation: "leaky-relu", Depth: 1, Width: 8, Steps: 400}
	result, err := fit.Run(context.Background(), read(line(300)), fit.Config{Targets: []string{"y"}, Network: small}, fit.Options{})
	if err != nil {
		panic(err)
	}
	scores := result.Evaluation.Scores()[0].Numbers
	fmt.Printf("%d rows held out, RMSE below 0.3: %v\n", scores.Rows, scores.RMSE.Value < 0.3)

	pool := compute.NewPool(1)
	defer pool.Close()
	var out strings.Builder
	_, err = result.Model.Predict(context.Background(), read("x\n0.5\n-0.25\n").Rows(nil), &out, fit.Output{}, pool)
	if err != nil {
		panic(err)
	}
	header, _, _ := strings.Cut(out.String(), "\n")
	fmt.Println(header)
	// Output:
	// 30 rows held out, RMSE below 0.3: true
	// y_mean,y_std,y_lo,y_hi,ood
}

func ExampleConfig_WriteYAML() {
	c := fit.Config{Targets: []string{"price"}, Ignore: []string{"id"}, Seed: 1, Network: tabular.Config{Width: 20}}
	c.WriteYAML(os.Stdout)
	// Output:
	// # What is 0 or empty is found out or chosen.
	// targets: [price]
	// task: auto
	// inputs: []
	// ignore: [id]
	// categorical: []
	// weight: ""
	// group: ""
	// time: ""
	// impute: false
	// input_std: {}
	// max_levels: 0
	// holdout: 0
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
	//   steps: 0
	//   batch: 0
	//   rate: 0
	//   validation: 0
}
