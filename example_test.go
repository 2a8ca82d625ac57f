package utvi_test

import (
	"context"
	"fmt"
	"log"
	"math"

	"utvi/data"
	"utvi/fn"
	"utvi/gauss"
	"utvi/internal/digits"
	"utvi/likelihood"
	"utvi/model"
	"utvi/moment"
	"utvi/nn"
	"utvi/rng"
	"utvi/train"
)

func measurements() (x, y []float32) {
	key := rng.New(1)
	for i := range uint64(2000) {
		u := 2*rng.Uniform(key, 2*i) - 1
		noise := 0.05 + 0.2*max(0, u) // the right half is noisier
		x = append(x, float32(u))
		y = append(y, float32(math.Sin(3*u)+noise*rng.Normal(key, 2*i+1)))
	}
	return x, y
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// Train a network on noisy measurements and predict with an error bar.
func Example() {
	ctx := context.Background()
	x, y := measurements()
	table, err := data.NewTable(gauss.Fixed(1, x), 1, y)
	check(err)
	act := nn.Apply{F: fn.LeakyReLU(0.01)}
	net, err := model.New(model.Config{
		Input:  nn.Vec(1),
		Layers: nn.Correlate(nn.Chain{nn.Dense{Out: 64}, act, nn.Dense{Out: 64}, act, nn.Dense{Out: 1}}),
	})
	check(err)
	t, err := train.New(net, train.Config{Data: table, Steps: 3000})
	check(err)
	check(t.Run(ctx))
	p := net.NewPredictor(3)
	out := p.Predict(gauss.Fixed(1, []float32{-0.5, 0.25, 0.75}))
	for i, mean := range out.Mean {
		fmt.Printf("%.1f ± %.1f\n", mean, math.Sqrt(float64(out.Var[i])))
	}
	// Output:
	// -1.0 ± 0.1
	// 0.7 ± 0.1
	// 0.7 ± 0.2
}

// A classifier of images, saved to a file.
func Example_images() {
	images := digits.Digits(60000)
	act := nn.Apply{F: fn.LeakyReLU(0.01), Rule: moment.UT(2)}
	layers := nn.Chain{
		nn.Conv2D{Out: 8, Kernel: [2]int{5, 5}, Stride: 2, Padding: nn.Same}, act,
		nn.MaxPool2D{Size: [2]int{2, 2}}, nn.Dense{Out: 32}, act, nn.Dense{Out: 10},
		nn.Joint{Map: fn.Softmax()}, // couples its inputs: a joint rule, never the elementwise one
	}
	net, err := model.New(model.Config{Input: nn.Shape{H: 28, W: 28, C: 1}, Layers: layers})
	check(err)
	t, err := train.New(net, train.Config{Data: images, Likelihood: likelihood.Categorical{}, Steps: 2000})
	check(err)
	check(t.Run(context.Background()))
	check(net.Save("digits.safetensors")) // any safetensors reader opens it
}

// A user's black box is a literal.
func Example_ownNonlinearity() {
	sensor := &moment.Func{Name: "sensor", F: func(x float64) float64 { return x / (1 + x*x) }}
	jet, err := moment.At(sensor, moment.GaussHermite(9), 0.3, 0.5, rng.New(1))
	check(err)
	fmt.Printf("mean %.4f, variance %.4f\n", jet.Mean, jet.Var)
	// Output: mean 0.1427, variance 0.1250
}
