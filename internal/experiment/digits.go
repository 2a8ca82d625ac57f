package experiment

import (
	"context"
	"fmt"

	"utvi/data"
	"utvi/fn"
	"utvi/internal/digits"
	"utvi/internal/sweep"
	"utvi/likelihood"
	"utvi/model"
	"utvi/nn"
	"utvi/optim"
	"utvi/rng"
	"utvi/train"
	"utvi/vi"
)

// DigitsSpec is one training of a convolutional classifier of digits: Bayesian, or
// its twin with fixed weights. Every replicate has its own training images and
// starting weights.
type DigitsSpec struct {
	Seed      uint64 `json:"seed"`
	Replicate int    `json:"replicate"` // counted from 0
	Fixed     bool   `json:"fixed"`     // fixed weights
	Steps     int    `json:"steps"`
	TestRows  int    `json:"test_rows"` // digits, and images of each unfamiliar kind
}

// DigitsTrial is what a training found. An AUROC is the probability that an
// unfamiliar image gets more uncertainty than a digit, one for each of
// digitsUnfamiliar. Uncertainty is the entropy of the predicted probabilities, or
// the sum of their variances over the weights, which fixed weights do not have.
type DigitsTrial struct {
	History
	Accuracy float64   `json:"accuracy"`
	NLL      float64   `json:"nll"`
	Entropy  []float64 `json:"auroc_entropy"`
	Variance []float64 `json:"auroc_variance"`
}

const (
	digitsRows  = 60_000 // of a training set
	digitsBatch = 32
	digitsEvery = 200 // steps between scores
	digitsRate  = 4e-3
)

var digitsKind = kindOf[DigitsSpec]("digits")

func (s DigitsSpec) check() error {
	if s.TestRows < 100 || s.TestRows > 100_000 {
		return fmt.Errorf("%d test images; the number must be 100 to 100000", s.TestRows)
	}
	return checkTraining(s.Replicate, s.Steps)
}

func (s DigitsSpec) run(ctx context.Context, j sweep.Job) (sweep.Outcome, error) {
	test := newDigitsTest(rng.New(s.Seed).Sub(0, 2), s.TestRows)
	m, h, err := s.training(test).run(ctx, j)
	if err != nil {
		return sweep.Outcome{}, err
	}
	t := test.evaluate(m)
	t.History = *h
	metrics := map[string]float64{"accuracy": t.Accuracy, "nll": t.NLL}
	for i, kind := range digitsUnfamiliar {
		metrics["auroc_entropy_"+kind.name], metrics["auroc_variance_"+kind.name] = t.Entropy[i], t.Variance[i]
	}
	return sweep.Outcome{Metrics: metrics, Data: t}, nil
}

// digitsNet is the classifier: two convolutions that halve the image, and two
// dense layers.
func digitsNet(fixed bool) nn.Chain {
	act := nn.Apply{F: fn.LeakyReLU(0.01)}
	conv := func(out, size int) nn.Layer {
		return nn.Conv2D{Out: out, Kernel: [2]int{size, size}, Stride: 2, Padding: nn.Same, Fixed: fixed}
	}
	return nn.Chain{
		conv(8, 5), act, conv(16, 3), act, nn.Dense{Out: 32, Fixed: fixed}, act, nn.Dense{Out: 10, Fixed: fixed},
		nn.Joint{Map: fn.Softmax()},
	}
}

// training is the same for both kinds of weights. The KL, over the 60,000 images,
// has its full weight from an eighth of the steps on; the prior is fitted.
func (s DigitsSpec) training(test *digitsTest) training {
	key := rng.New(s.Seed).Sub(uint64(s.Replicate), 1)
	o := optim.Paper()
	o.Rate, o.DecayOn = optim.Cosine(digitsRate, s.Steps), optim.DecayMeans
	images := key.Sub(0, 0)
	return training{
		net: model.Config{
			Input: nn.Shape{H: digits.Side, W: digits.Side, C: 1}, Layers: digitsNet(s.Fixed),
			Seed: rng.Uint64(key, 0), Init: vi.Std(0.02),
		},
		train: train.Config{
			// A finite set: a row is drawn again whenever it is used.
			Data: &data.Generator{N: digitsRows, In: digits.Pixels, Out: 1, Generate: func(_ rng.Key, row uint64, x, y []float32) {
				y[0] = float32(digits.Digit(images, row%digitsRows, x))
			}},
			Likelihood: likelihood.Categorical{}, Optimizer: o, KL: optim.WarmUpKL(s.Steps / 8), Prior: &vi.EmpiricalBayes{},
			Batch: digitsBatch, Steps: s.Steps, Seed: rng.Uint64(key, 1), CheckpointEvery: digitsEvery,
		},
		every: digitsEvery,
		score: test.score,
	}
}
