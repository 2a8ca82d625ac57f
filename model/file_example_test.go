package model_test

import (
	"context"
	"fmt"
	"log"
	"math"
	"os"
	"path/filepath"

	"utvi/fn"
	"utvi/gauss"
	"utvi/model"
	"utvi/moment"
	"utvi/nn"
)

// A model with a function of one's own is saved by the function's name, and
// loaded with the function.
func ExampleLoad() {
	sensor := &moment.Func{Name: "sensor", F: func(x float64) float64 { return math.Log1p(x * x) }}
	m, err := model.New(model.Config{Input: nn.Vec(2), Layers: nn.Chain{nn.Dense{Out: 3}, nn.Apply{F: sensor}}})
	if err != nil {
		log.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "model.safetensors")
	if err := m.Save(path); err != nil {
		log.Fatal(err)
	}
	again, err := model.Load(path, model.WithFunc(sensor))
	if err != nil {
		log.Fatal(err)
	}
	x := gauss.Fixed(2, []float32{0.3, -1})
	fmt.Println(m.NewPredictor(1).Predict(x).Mean[0] == again.NewPredictor(1).Predict(x).Mean[0])
	// Output: true
}

func ExampleHead() {
	m, err := model.New(model.Config{Input: nn.Vec(1), Layers: nn.Chain{nn.Dense{Out: 1}, nn.Noise{Start: 0.5}}})
	if err != nil {
		log.Fatal(err)
	}
	e, err := model.NewEnsemble(m)
	if err != nil {
		log.Fatal(err)
	}
	head, err := e.NewHead(1)
	if err != nil {
		log.Fatal(err)
	}
	p := head.Predict(gauss.Fixed(1, []float32{2}))
	fmt.Printf("noise %.2f, inputs %.2f\n", p.Noise[0], p.Inputs[0])
	// Output: noise 0.25, inputs 0.00
}

func ExampleNewEnsemble() {
	var members []*model.Model
	for seed := range uint64(5) {
		m, err := model.New(model.Config{Input: nn.Vec(1), Seed: seed, Layers: nn.Chain{nn.Dense{Out: 8}, nn.Apply{F: fn.Tanh()}, nn.Dense{Out: 1}}})
		if err != nil {
			log.Fatal(err)
		}
		members = append(members, m)
	}
	e, err := model.NewEnsemble(members...)
	if err != nil {
		log.Fatal(err)
	}
	head, err := e.NewHead(1)
	if err != nil {
		log.Fatal(err)
	}
	y := head.Predict(gauss.Fixed(1, []float32{0.5}))
	fmt.Println(y.Var[0] > members[0].NewPredictor(1).Predict(gauss.Fixed(1, []float32{0.5})).Var[0])
	// Output: true
}

func ExampleNet_Verify() {
	m, err := model.New(model.Config{Input: nn.Vec(1), Layers: nn.Chain{nn.Dense{Out: 4}, nn.Apply{F: fn.ReLU(), Rule: moment.Exact()}, nn.Dense{Out: 1}}})
	if err != nil {
		log.Fatal(err)
	}
	v, err := m.Verify(context.Background(), gauss.Fixed(1, []float32{0.5, -1}), model.VerifyConfig{Networks: 1000})
	if err != nil {
		log.Fatal(err)
	}
	output := v.Layers[len(v.Layers)-1]
	fmt.Println(output.Name, math.Abs(output.Mean.Worst) < 5*v.MeanError)
	// Output: 2.dense true
}
