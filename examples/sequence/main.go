// Sequence shows a small Transformer: it reads strings of letters in which two words decide the class by
// their order, and says how sure it is.
//
//	go run ./examples/sequence
//
// It takes about half a minute, and writes sequence.png.
package main

import (
	"context"
	"fmt"
	"math"
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
	"utvi/vi"
)

const (
	tokens  = 20 // letters of a string
	letters = 4
	classes = 3
)

// transformer makes a token of the five letters around each place, lets the tokens look at each other, and
// ends with the mean of all tokens.
func transformer() nn.Chain {
	const width = 16
	gelu := nn.Apply{F: fn.GELU()}
	norm := nn.PerPlace{Layer: nn.LayerNorm{}}
	return nn.Correlate(nn.Chain{
		nn.Conv1D{Out: width, Kernel: 5, Padding: nn.Same}, gelu, nn.Positions{},
		nn.Residual{Branch: nn.Chain{norm, nn.MultiHeadAttention{Heads: 2}}},
		nn.Residual{Branch: nn.Chain{norm, nn.PerPlace{Layer: nn.Chain{nn.Dense{Out: 2 * width}, gelu, nn.Dense{Out: width}}}}},
		nn.GlobalAvgPool{}, nn.Dense{Out: classes}, nn.Joint{Map: fn.Softmax()},
	})
}

// A size is how much is drawn and trained.
type size struct{ rows, steps, test int }

func main() {
	show.Main(func(o show.Options) error { return run(size{rows: 100000, steps: 1500, test: 1000}, o) })
}

func run(s size, o show.Options) error {
	net, err := trained(s, o)
	if err != nil {
		return err
	}
	x, y, truth := rows(2, s.test)
	head, err := (&model.Ensemble{Members: []*model.Model{net}}).NewHead(s.test)
	if err != nil {
		return err
	}
	begun := time.Now()
	p := head.Predict(gauss.Fixed(tokens*letters, x))
	took := time.Since(begun).Seconds()
	fmt.Fprintf(o.Out, "%d other strings in %.2f s: log-likelihood %.3f; of the true probabilities %.3f\n",
		s.test, took, logLikelihood(p.Mean, y), logLikelihood(truth, y))
	err = o.Store("sequence", net, show.Rows{Name: "x", Width: tokens * letters, Of: x}, show.Rows{Name: "y", Width: 1, Of: y},
		show.Rows{Name: "truth", Width: classes, Of: truth}, show.Rows{Name: "mean", Width: classes, Of: p.Mean},
		show.Rows{Name: "var", Width: classes, Of: p.Weights})
	if err != nil {
		return err
	}
	return figure(o, net, p.Mean, y)
}

// trained is the network, trained on strings drawn from one seed.
func trained(s size, o show.Options) (*model.Model, error) {
	x, y, _ := rows(1, s.rows)
	table, err := data.NewTable(gauss.Fixed(tokens*letters, x), 1, y)
	if err != nil {
		return nil, err
	}
	net, err := model.New(model.Config{
		Input:  nn.Shape{H: 1, W: tokens, C: letters},
		Layers: transformer(),
		Init:   vi.Std(0.03),
		Prior:  vi.Prior{Std: 0.5},
	})
	if err != nil {
		return nil, err
	}
	adam := optim.Paper()
	adam.Rate = optim.WarmUp(s.steps/20, optim.Cosine(0.01, s.steps))
	adam.DecayOn = optim.DecayNone
	t, err := train.New(net, train.Config{
		Data:       table,
		Likelihood: likelihood.Categorical{},
		Optimizer:  adam,
		KL:         optim.WarmUpKL(s.steps / 2), // lets the words be found first
		Batch:      32,
		Steps:      s.steps,
	})
	if err != nil {
		return nil, err
	}
	begun := time.Now()
	err = t.Run(context.Background())
	fmt.Fprintf(o.Out, "%d strings, %d weights, %d steps in %.0f s\n", s.rows, net.Inspect().Weights, s.steps, time.Since(begun).Seconds())
	return net, err
}

// logLikelihood is the mean logarithm of the probability of what came true.
func logLikelihood(p, y []float32) float64 {
	sum := 0.0
	for i, class := range y {
		sum += math.Log(float64(p[i*classes+int(class)]))
	}
	return sum / float64(len(y))
}
