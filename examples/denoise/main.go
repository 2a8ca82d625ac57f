// Denoise shows a network of images in and images out: a U-Net is trained on images of few photons, and
// gives every pixel a value and an error bar.
//
//	go run ./examples/denoise
//
// It takes half a minute, and writes denoise.png.
package main

import (
	"context"
	"fmt"
	"time"

	"utvi/data"
	"utvi/examples/internal/show"
	"utvi/fn"
	"utvi/gauss"
	"utvi/likelihood"
	"utvi/model"
	"utvi/nn"
	"utvi/optim"
	"utvi/train"
)

// side is the number of pixels along a side of an image.
const side = 24

// unet halves the image twice, so that each pixel sees its surroundings, and joins what is coarse with
// what is fine. Its two channels are the value of each pixel and the logarithm of its noise variance.
func unet() nn.Graph {
	conv := func(n int) nn.Chain {
		return nn.Chain{nn.Conv2D{Out: n, Kernel: [2]int{3, 3}, Padding: nn.Same}, nn.Apply{F: fn.GELU()}}
	}
	halve := nn.AvgPool2D{Size: [2]int{2, 2}}
	double := func(n int) nn.Layer { return nn.ConvTranspose2D{Out: n, Kernel: [2]int{2, 2}, Stride: 2} }
	return nn.Graph{Steps: []nn.Step{
		{Name: "fine", Layer: conv(8)},
		{Name: "half", Layer: append(nn.Chain{halve}, conv(16)...)},
		{Name: "quarter", Layer: append(nn.Chain{halve}, conv(16)...)},
		{Name: "up", Layer: double(16)},
		{Name: "half-again", Layer: append(nn.Chain{nn.Concat{}}, conv(16)...), From: []string{"up", "half"}},
		{Name: "up-again", Layer: double(8)},
		{Name: "fine-again", Layer: append(nn.Chain{nn.Concat{}}, conv(8)...), From: []string{"up-again", "fine"}},
		{Name: "out", Layer: nn.Conv2D{Out: 2, Kernel: [2]int{1, 1}}},
	}}
}

// A size is how much is drawn and trained.
type size struct{ images, steps, test int }

func main() {
	show.Main(func(o show.Options) error { return run(size{images: 600, steps: 2000, test: 100}, o) })
}

func run(s size, o show.Options) error {
	net, err := trained(s, o)
	if err != nil {
		return err
	}
	seen, scenes := images(2, s.test)
	head, err := (&model.Ensemble{Members: []*model.Model{net}}).NewHead(s.test)
	if err != nil {
		return err
	}
	begun := time.Now()
	p := head.Predict(gauss.Fixed(side*side, seen))
	fmt.Fprintf(o.Out, "%d other images in %.2f s: %v\n", s.test, time.Since(begun).Seconds(), show.Normal(scenes, p.Mean, p.Var))
	err = o.Store("denoise", net, show.Rows{Name: "x", Width: side * side, Of: seen}, show.Rows{Name: "y", Width: side * side, Of: scenes},
		show.Rows{Name: "mean", Width: side * side, Of: p.Mean}, show.Rows{Name: "var", Width: side * side, Of: p.Var},
		show.Rows{Name: "doubt", Width: side * side, Of: p.Weights})
	if err != nil {
		return err
	}
	return figure(o, seen, scenes, p.Mean, p.Var)
}

// trained is the network, trained on images drawn from one seed.
func trained(s size, o show.Options) (*model.Model, error) {
	seen, scenes := images(1, s.images)
	rows, err := data.NewTable(gauss.Fixed(side*side, seen), side*side, scenes)
	if err != nil {
		return nil, err
	}
	net, err := model.New(model.Config{Input: nn.Shape{H: side, W: side, C: 1}, Layers: nn.Chain{unet()}})
	if err != nil {
		return nil, err
	}
	adam := optim.Paper()
	adam.Rate = optim.Cosine(0.003, s.steps)
	t, err := train.New(net, train.Config{
		Data:       rows,
		Likelihood: likelihood.PerPlace{Of: likelihood.Heteroscedastic{}},
		Optimizer:  adam,
		Batch:      20,
		Steps:      s.steps,
	})
	if err != nil {
		return nil, err
	}
	begun := time.Now()
	err = t.Run(context.Background())
	fmt.Fprintf(o.Out, "%d images, %d weights, %d steps in %.0f s\n", s.images, net.Inspect().Weights, s.steps, time.Since(begun).Seconds())
	return net, err
}
