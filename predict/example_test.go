package predict_test

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"utvi/gauss"
	"utvi/likelihood"
	"utvi/model"
	"utvi/nn"
	"utvi/predict"
)

// Rows of named values, with a model that fit has made.
func Example() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "strength.utvi")
	if err := strength().Save(path); err != nil {
		log.Fatal(err)
	}

	m, err := predict.OpenFile(path)
	if err != nil {
		log.Fatal(err)
	}
	p, err := m.NewPredictor(predict.Options{Interval: 0.8, Quantiles: []float64{0.05}})
	if err != nil {
		log.Fatal(err)
	}
	rows, err := p.Rows(context.Background(), []map[string]any{
		{"temperature": 140, "temperature_std": 1, "minutes": 30, "resin": "birch"},
		{"temperature": 140, "temperature_std": 5, "minutes": 30, "resin": "birch"},
	})
	if err != nil {
		log.Fatal(err)
	}
	sure, unsure := rows[0].Numbers[0], rows[1].Numbers[0]
	fmt.Println(m.Columns(), "→", m.Targets())
	fmt.Println(sure.Quantiles[0] < sure.Lo, sure.Lo < sure.Mean, sure.Mean < sure.Hi)
	fmt.Println("the worse thermometer adds variance:", unsure.Variance.Inputs > sure.Variance.Inputs)
	// Output:
	// [temperature temperature_std minutes resin] → [strength]
	// true true true
	// the worse thermometer adds variance: true
}

// A network of one's own, from bytes: its likelihood says that the second output is
// the logarithm of the noise variance.
func ExampleOpen() {
	n, err := model.New(model.Config{Input: nn.Vec(2), Layers: nn.Chain{nn.Dense{Out: 2}}})
	if err != nil {
		log.Fatal(err)
	}
	n.Likelihood = likelihood.Heteroscedastic{} // as a trainer sets it
	var file bytes.Buffer
	if err := n.Write(&file); err != nil {
		log.Fatal(err)
	}

	m, err := predict.Open(bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil {
		log.Fatal(err)
	}
	p, err := m.NewPredictor(predict.Options{})
	if err != nil {
		log.Fatal(err)
	}
	x := gauss.FromStd(2, []float32{0.5, -1}, []float32{0.1, 0})
	y, err := p.Inputs(context.Background(), x)
	if err != nil {
		log.Fatal(err)
	}
	v := y[0].Numbers[0].Variance
	fmt.Println(m.Likelihood(), v.Weights > 0, v.Inputs > 0, v.Noise > 0)
	// Output: heteroscedastic true true true
}
