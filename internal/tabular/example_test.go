package tabular_test

import (
	"context"
	"fmt"
	"log"

	"utvi/data"
	"utvi/dist"
	"utvi/gauss"
	"utvi/internal/tabular"
	"utvi/rng"
)

// y = 2x and noise: rows of numbers in, a mixture of Normals out.
func Example() {
	const n = 200
	d := tabular.Data{Set: data.Set{X: gauss.Fixed(1, make([]float32, n)), Y: make([]float32, n)}}
	for i := range n {
		x := rng.Normal(rng.New(1), uint64(i))
		d.X.Mean[i] = float32(x)
		d.Y[i] = float32((2*x + 0.1*rng.Normal(rng.New(2), uint64(i))) / 2)
	}
	// A small network, for the sake of the example; tabular.Config{} chooses by itself.
	small := tabular.Config{Ensemble: 2, Noise: tabular.Learned, KL: 0.3, Activation: "leaky-relu", Depth: 1, Width: 8, Steps: 500}
	f, err := tabular.Fit(context.Background(), small, d, "", nil)
	if err != nil {
		log.Fatal(err)
	}
	p := f.NewPredictor(nil, 1)
	y := p.Predict(gauss.Fixed(1, []float32{0.5}))
	var m dist.Mixture
	y.Dist(0, 0, &m)
	lo, hi := dist.Interval(&m, 0.9)
	fmt.Println(lo < 0.5 && 0.5 < hi, y.Noise[0] > y.Weights[0])
	// Output: true true
}

// What a fit chose, and from what.
func ExampleFitted() {
	const n = 120
	d := tabular.Data{Set: data.Set{X: gauss.Fixed(1, make([]float32, n)), Y: make([]float32, n)}, Classes: 2}
	for i := range n {
		d.X.Mean[i] = float32(i%20)/10 - 1
		if d.X.Mean[i] > 0 {
			d.Y[i] = 1
		}
	}
	small := tabular.Config{Ensemble: 1, KL: 0.3, Activation: "leaky-relu", Depth: 1, Width: 8, Steps: 300}
	f, err := tabular.Fit(context.Background(), small, d, "", nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(f.Classes, "classes:", f.Report.Members[0])
	// Output: 2 classes: 1×8 leaky-relu, KL 0.3
}
