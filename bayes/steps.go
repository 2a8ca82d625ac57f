package bayes

import (
	"context"
	"fmt"

	"utvi/data"
	"utvi/gauss"
	"utvi/model"
	"utvi/nn"
	"utvi/optim"
	"utvi/train"
)

// train trains the weights that are Normals, and what was added to the network. If only the last
// layers have Normals, the layers before them keep their numbers, and run once.
func (c Config) train(ctx context.Context, n *model.Model, k task, rows data.Set) error {
	if c.Last == 0 {
		return c.steps(ctx, n, k, rows)
	}
	cut := 0
	for cut < len(n.Config.Layers) && !isRandom(n.Graph().Children[cut]) {
		cut++
	}
	if cut == 0 {
		return c.steps(ctx, n, k, rows)
	}
	if rows.X.Var != nil {
		return fmt.Errorf("the last layers alone are trained with exact inputs only")
	}
	front, back, err := parted(n, cut)
	if err != nil {
		return err
	}
	x := front.NewPredictor(rows.X.Rows).Predict(rows.X)
	seen := data.Set{X: gauss.Fixed(x.Width, x.Mean), Y: rows.Y, Targets: rows.Targets}
	if err := c.steps(ctx, back, k, seen); err != nil {
		return err
	}
	first := len(n.Params.Tensors) - len(back.Params.Tensors)
	for i, t := range back.Params.Tensors {
		copy(n.Params.Tensors[first+i].Mean, t.Mean)
		copy(n.Params.Tensors[first+i].Rho, t.Rho)
	}
	n.Facts, n.Likelihood = back.Facts, back.Likelihood
	n.Changed()
	return nil
}

func isRandom(n *nn.Node[float32]) bool {
	for _, t := range n.Tensors {
		if t.Random {
			return true
		}
	}
	for _, c := range n.Children {
		if isRandom(c) {
			return true
		}
	}
	return false
}

// parted returns the first layers of a network and the others, as two networks.
func parted(n *model.Model, cut int) (front, back *model.Model, err error) {
	front, err = model.New(model.Config{Input: n.Config.Input, Layers: n.Config.Layers[:cut]})
	if err != nil {
		return nil, nil, err
	}
	back, err = model.New(model.Config{Input: front.Graph().Out, Layers: n.Config.Layers[cut:]})
	if err != nil {
		return nil, nil, err
	}
	back.Facts = n.Facts
	at := 0
	for _, part := range []*model.Model{front, back} {
		for _, t := range part.Params.Tensors {
			from := n.Params.Tensors[at]
			at++
			copy(t.Mean, from.Mean)
			copy(t.Rho, from.Rho)
			t.Prior = from.Prior
			t.Center = from.Center
			t.Spread = from.Spread
		}
		part.Changed()
	}
	return front, back, nil
}

// steps trains all of a network.
func (c Config) steps(ctx context.Context, n *model.Model, k task, rows data.Set) error {
	source, err := data.NewTable(rows.X, rows.Outputs(), rows.Y)
	if err != nil {
		return err
	}
	batch := min(c.Batch, rows.X.Rows)
	steps := c.Epochs * ((rows.X.Rows + batch - 1) / batch)
	opt := optim.Paper()
	opt.Rate = optim.Cosine(c.Rate, steps)
	opt.Decay = 0
	opt.Clip = 10
	t, err := train.New(n, train.Config{Data: source, Likelihood: k.likelihood, Optimizer: opt, Batch: batch, Steps: steps, Seed: c.Seed, Workers: c.Workers})
	if err != nil {
		return err
	}
	defer t.Close()
	for s, err := range t.Steps(ctx) {
		if err != nil {
			return err
		}
		if c.Progress != nil {
			c.Progress(s.Step, steps, s.NLL)
		}
	}
	return nil
}
