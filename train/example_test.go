package train_test

import (
	"context"
	"fmt"
	"log"
	"math"
	"os"
	"path/filepath"

	"utvi/data"
	"utvi/fn"
	"utvi/gauss"
	"utvi/model"
	"utvi/nn"
	"utvi/optim"
	"utvi/train"
)

// parabola returns a table of y = x² and a network to learn it.
func parabola() (*data.Table, *model.Model) {
	x, y := make([]float32, 200), make([]float32, 200)
	for i := range x {
		x[i] = float32(i)/100 - 1
		y[i] = x[i] * x[i]
	}
	table, err := data.NewTable(gauss.Fixed(1, x), 1, y)
	if err != nil {
		log.Fatal(err)
	}
	m, err := model.New(model.Config{Input: nn.Vec(1), Layers: nn.Chain{nn.Dense{Out: 16}, nn.Apply{F: fn.Tanh()}, nn.Dense{Out: 1}}})
	if err != nil {
		log.Fatal(err)
	}
	return table, m
}

func ExampleNew() {
	table, m := parabola()
	o := optim.Paper()
	o.Rate = optim.Cosine(0.01, 1000)
	t, err := train.New(m, train.Config{Data: table, Optimizer: o, Steps: 1000})
	if err != nil {
		log.Fatal(err)
	}
	defer t.Close()
	if err := t.Run(context.Background()); err != nil {
		log.Fatal(err)
	}
	y := m.NewPredictor(1).Predict(gauss.Fixed(1, []float32{0.5}))
	fmt.Println(math.Abs(float64(y.Mean[0])-0.25) < 0.1, math.Sqrt(float64(y.Var[0])) < 0.2)
	// Output: true true
}

// Steps are ranged over; leaving the loop is no loss.
func ExampleTrainer_Steps() {
	table, m := parabola()
	t, err := train.New(m, train.Config{Data: table, Steps: 1000})
	if err != nil {
		log.Fatal(err)
	}
	defer t.Close()
	first := 0.0
	for s, err := range t.Steps(context.Background()) {
		if err != nil {
			log.Fatal(err)
		}
		if s.Step == 1 {
			first = s.NLL
		}
		if s.NLL < first-1 {
			break // one nat better: enough
		}
	}
	fmt.Println(t.Step() > 1, t.Step() < 1000)
	// Output: true true
}

// A training that was stopped continues from its checkpoint.
func ExampleConfig_checkpoint() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	for _, stop := range []int{150, 0} {
		table, m := parabola()
		t, err := train.New(m, train.Config{Data: table, Steps: 400, Checkpoint: filepath.Join(dir, "checkpoint")})
		if err != nil {
			log.Fatal(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		fmt.Print("from step ", t.Step())
		for s, err := range t.Steps(ctx) {
			if err != nil {
				break // context.Canceled, and the state is saved
			}
			if s.Step == stop {
				cancel() // as Ctrl-C would, by signal.NotifyContext
			}
		}
		fmt.Println(" to", t.Step())
		cancel()
		t.Close()
	}
	// Output:
	// from step 0 to 150
	// from step 150 to 400
}
