package experiment

import (
	"context"
	"fmt"
	"path/filepath"

	"utvi/compute"
	"utvi/data"
	"utvi/fn"
	"utvi/likelihood"
	"utvi/model"
	"utvi/nn"
	"utvi/optim"
	"utvi/rng"
	"utvi/train"
	"utvi/vi"
)

// DigitsSpec asks whether a classifier with distributions for weights loses
// anything, and whether it knows what it has not met: a convolutional network of
// digits, Bayesian, and its twin with numbers for weights, which sees the same
// images for the same steps. Replicate r of both has training images and starting
// weights of its own.
type DigitsSpec struct {
	Seed       uint64 `json:"seed"`
	Replicates int    `json:"replicates"`
	Steps      int    `json:"steps"`
	TestRows   int    `json:"test_rows"` // digits, and images of each unfamiliar kind

	Dir      string `json:"-"` // of the checkpoints; "" keeps none
	Parallel int    `json:"-"` // trainings at a time; 0 stands for GOMAXPROCS
}

const (
	digitsRows  = 60_000 // of a training set
	digitsBatch = 32
	digitsEvery = 200 // steps between scores
	digitsRate  = 4e-3
)

// DigitsFull is the experiment in full: 4 epochs of 60,000 images, 5 replicates.
func DigitsFull() DigitsSpec {
	return DigitsSpec{Seed: 1, Replicates: 5, Steps: 4 * digitsRows / digitsBatch, TestRows: 4000}
}

// DigitsQuick is a run of about half a minute: half an epoch, 3 replicates.
func DigitsQuick() DigitsSpec {
	return DigitsSpec{Seed: 1, Replicates: 3, Steps: digitsRows / digitsBatch / 2, TestRows: 2000}
}

// Check reports a specification that cannot be run.
func (s DigitsSpec) Check() error {
	if s.TestRows < 100 || s.TestRows > 100_000 {
		return fmt.Errorf("%d test images; there must be 100 to 100000", s.TestRows)
	}
	return checkSize(s.Replicates, s.Steps)
}

// DigitsResult is every number of the experiment.
type DigitsResult struct {
	Spec       DigitsSpec     `json:"spec"`
	Kernels    string         `json:"kernels"`
	ScoreSteps []int          `json:"score_steps"`
	Kinds      []string       `json:"unfamiliar"`
	Methods    []DigitsMethod `json:"methods"`
}

// DigitsMethod is what one kind of weights gave.
type DigitsMethod struct {
	Name   string        `json:"name"`
	Trials []DigitsTrial `json:"trials"`
}

// DigitsTrial is one training. An AUROC is the probability that an unfamiliar
// image is given more uncertainty than a digit, one for each of Kinds: the
// entropy of the predicted probabilities, or the sum of their variances over the
// weights, which a network of numbers has not.
type DigitsTrial struct {
	Scores   []float64 `json:"scores"` // NLL of test digits at ScoreSteps
	Accuracy float64   `json:"accuracy"`
	NLL      float64   `json:"nll"`
	Entropy  []float64 `json:"auroc_entropy"`
	Variance []float64 `json:"auroc_variance"`
}

// digitsMethods are the two kinds of weights.
var digitsMethods = []struct {
	name  string
	fixed bool
}{{"twin", true}, {"bayes", false}}

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

// Digits runs the experiment. Cancelled, it returns the context's error; the same
// specification with the same Dir then continues.
func Digits(ctx context.Context, s DigitsSpec, tell Progress) (*DigitsResult, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	root := rng.New(s.Seed)
	test := newDigitsTest(root.Sub(0, 2), s.TestRows)
	r := &DigitsResult{Spec: s, Kernels: compute.Family(), Kinds: test.kinds}
	var trials []trial
	for i := range s.Replicates {
		for _, m := range digitsMethods {
			trials = append(trials, s.trial(m.name, m.fixed, i, root.Sub(uint64(i), 1), test))
		}
	}
	r.ScoreSteps = trials[0].scoreSteps()
	for _, m := range digitsMethods {
		r.Methods = append(r.Methods, DigitsMethod{Name: m.name, Trials: make([]DigitsTrial, s.Replicates)})
	}
	err := runAll(ctx, trials, s.Parallel, tell, func(i int, m *model.Model, scores []float64) {
		t := test.judge(m)
		t.Scores = scores
		r.Methods[i%len(digitsMethods)].Trials[i/len(digitsMethods)] = t
	})
	if err != nil {
		return nil, err
	}
	return r, nil
}

// trial sets both kinds of weights the same task. The KL counts fully, over the
// 60,000 images, from an eighth of the steps on; the prior is fitted.
func (s DigitsSpec) trial(name string, fixed bool, replicate int, key rng.Key, test *digitsTest) trial {
	o := optim.Paper()
	o.Rate, o.DecayOn = optim.Cosine(digitsRate, s.Steps), optim.DecayMeans
	images := key.Sub(0, 0)
	t := trial{
		name: fmt.Sprintf("digits %s %d", name, replicate+1),
		net: model.Config{
			Input: nn.Shape{H: data.Side, W: data.Side, C: 1}, Layers: digitsNet(fixed),
			Seed: rng.Uint64(key, 0), Init: vi.Std(0.02),
		},
		train: train.Config{
			// A finite set, drawn anew whenever it is seen.
			Data: &data.Generator{N: digitsRows, In: data.Pixels, Out: 1, Generate: func(_ rng.Key, row uint64, x, y []float32) {
				y[0] = float32(data.Digit(images, row%digitsRows, x))
			}},
			Likelihood: likelihood.Categorical{}, Optimizer: o, KL: optim.WarmUpKL(s.Steps / 8), Prior: &vi.EmpiricalBayes{},
			Batch: digitsBatch, Steps: s.Steps, Seed: rng.Uint64(key, 1), Workers: 1, CheckpointEvery: digitsEvery,
		},
		every: digitsEvery,
		score: test.score,
	}
	if s.Dir != "" {
		t.file = filepath.Join(s.Dir, fmt.Sprintf("digits-seed%d-steps%d-test%d", s.Seed, s.Steps, s.TestRows), fmt.Sprintf("%s-%d", name, replicate+1))
	}
	return t
}
