// Forecast shows a recurrent network on a series: the hourly demand of a town is predicted two days ahead,
// hour by hour. The mean and the variance predicted for an hour are an input for the next, so that the bands
// grow with the horizon, and nothing is sampled.
//
//	go run ./examples/forecast
//
// It takes about ten seconds, and writes forecast.png.
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

const (
	day    = 24              // hours that the network sees before the start
	each   = 3               // features of one of them: the demand, and the clock as sine and cosine
	inputs = day*each + each // of a row: these hours, and the one before the hour that is predicted
	ahead  = 48              // hours that are forecast
)

// network reads the day before the start, and the hour before the one that it predicts. It gives the
// demand, and the logarithm of its noise variance. The hour before goes to the end, too: what the roads
// have in common is kept by Correlate.
func network() nn.Chain {
	return nn.Correlate(nn.Chain{nn.Graph{
		Inputs: []nn.Input{{Name: "day", Shape: nn.Shape{H: 1, W: day, C: each}}, {Name: "before", Shape: nn.Vec(each)}},
		Steps: []nn.Step{
			{Name: "state", Layer: nn.GRU{Units: 12, Last: true}, From: []string{"day"}},
			{Name: "hidden", Layer: nn.Chain{nn.Concat{}, nn.Dense{Out: 32}, nn.Apply{F: fn.GELU()}}, From: []string{"state", "before"}},
			{Name: "next", Layer: nn.Chain{nn.Concat{}, nn.Dense{Out: 2}}, From: []string{"hidden", "before"}},
		},
	}})
}

// A size is how much is drawn and trained.
type size struct{ days, steps, starts int }

func main() {
	show.Main(func(o show.Options) error { return run(size{days: 240, steps: 1500, starts: 100}, o) })
}

func run(s size, o show.Options) error {
	net, err := trained(s, o)
	if err != nil {
		return err
	}
	begun := time.Now()
	f, err := forecast(net, demand(2, 24*(s.starts+4)), s.starts)
	if err != nil {
		return err
	}
	fmt.Fprintf(o.Out, "%d forecasts of %d hours in %.2f s\n", s.starts, ahead, time.Since(begun).Seconds())
	for _, h := range []int{1, 6, 12, 24, 48} {
		fmt.Fprintf(o.Out, "%2d hours ahead: %v\n", h, show.Normal(f.at(f.came, h), f.at(f.mean, h), f.at(f.variance, h)))
	}
	err = o.Store("forecast", net, show.Rows{Name: "before", Width: day, Of: f.before}, show.Rows{Name: "y", Width: ahead, Of: f.came},
		show.Rows{Name: "mean", Width: ahead, Of: f.mean}, show.Rows{Name: "var", Width: ahead, Of: f.variance})
	if err != nil {
		return err
	}
	return figure(o, f)
}

// trained is the network, trained on a series drawn from one seed.
func trained(s size, o show.Options) (*model.Model, error) {
	series := demand(1, 24*s.days)
	x, y := examples(series)
	rows, err := data.NewTable(gauss.Fixed(inputs, x), 1, y)
	if err != nil {
		return nil, err
	}
	net, err := model.New(model.Config{Input: nn.Vec(inputs), Layers: network()})
	if err != nil {
		return nil, err
	}
	adam := optim.Paper()
	adam.Rate = optim.Cosine(0.005, s.steps)
	t, err := train.New(net, train.Config{
		Data:       rows,
		Likelihood: likelihood.Heteroscedastic{},
		Optimizer:  adam,
		Batch:      64,
		Steps:      s.steps,
	})
	if err != nil {
		return nil, err
	}
	begun := time.Now()
	err = t.Run(context.Background())
	fmt.Fprintf(o.Out, "%d hours, %d weights, %d steps in %.0f s\n", len(series), net.Inspect().Weights, s.steps, time.Since(begun).Seconds())
	return net, err
}
