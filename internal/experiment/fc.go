package experiment

import (
	"context"
	"errors"
	"fmt"
	"math"

	"utvi/fn"
	"utvi/gauss"
	"utvi/internal/sweep"
	"utvi/likelihood"
	"utvi/model"
	"utvi/moment"
	"utvi/nn"
	"utvi/optim"
	"utvi/rng"
	"utvi/train"
)

// FCSpec is one training of the paper's regression (§4.2): y = x + ε with a noise
// that depends on x, learned by a 1–128–128–1 leaky-ReLU network. The starting
// weights and the data of a replicate do not depend on the rule.
type FCSpec struct {
	Seed      uint64 `json:"seed"`
	Replicate int    `json:"replicate"` // counted from 0
	Rule      string `json:"rule"`      // of the nonlinearities, as moment.Parse reads it
	Steps     int    `json:"steps"`

	// Draws is the number of networks drawn per step (Bayes by backprop); 0
	// propagates moments. A drawn network predicts no variance, so it has a second
	// output, the logarithm of the noise variance.
	Draws int `json:"draws,omitempty"`

	// VerifyWith is the number of networks drawn from the trained one to verify its
	// moments with; 0: none.
	VerifyWith int `json:"sampled,omitempty"`
}

// FCTrial is what a training found.
type FCTrial struct {
	History
	TrueNLL float64    `json:"true_nll"` // of the model that made the data, on the validation rows
	Mean    []float64  `json:"mean"`     // predicted at fcX by the final network
	SD      []float64  `json:"sd"`
	Sampled *Agreement `json:"sampled,omitempty"`
}

const (
	fcBatch      = 128
	fcEpochSteps = 80
	fcEpochs     = 100
	fcValidation = 4096
	fcGrid       = 201 // points of the predictions over [−1, 1]
)

// fcX is where predictions are made.
func fcX() []float64 {
	x := make([]float64, fcGrid)
	for i := range x {
		x[i] = 2*float64(i)/(fcGrid-1) - 1
	}
	return x
}

var fcKind = kindOf[FCSpec]("fc")

func (s FCSpec) check() error {
	rule, err := moment.Parse(s.Rule)
	if err != nil {
		return err
	}
	if err := rule.Check(fn.LeakyReLU(0.01)); err != nil {
		return err
	}
	if s.Draws < 0 || s.Draws > 1000 || s.VerifyWith < 0 || s.VerifyWith == 1 || s.VerifyWith > 10_000_000 {
		return fmt.Errorf("%d draws and %d sampled networks; draws must be 0 to 1000, sampled networks 0 or 2 to 10000000", s.Draws, s.VerifyWith)
	}
	return checkTraining(s.Replicate, s.Steps)
}

// checkTraining reports numbers that make no sense.
func checkTraining(replicate, steps int) error {
	switch {
	case replicate < 0:
		return errors.New("the replicate is negative; replicates count from 0")
	case steps < 1 || steps > 10_000_000:
		return fmt.Errorf("%d steps; the number of steps must be 1 to 10000000", steps)
	}
	return nil
}

func (s FCSpec) run(ctx context.Context, j sweep.Job) (sweep.Outcome, error) {
	root := rng.New(s.Seed)
	validation := newFCSample(root.Sub(0, 2), fcValidation)
	m, h, err := s.training(root.Sub(uint64(s.Replicate), 1), validation).run(ctx, j)
	if err != nil {
		return sweep.Outcome{}, err
	}
	r := FCTrial{History: *h, TrueNLL: validation.truth()}
	r.Mean, r.SD = predictAt(m, s.likelihood(), fcX())
	if s.VerifyWith > 0 {
		in := gauss.Fixed(1, make([]float32, 11)) // within the range of the data
		for i := range in.Mean {
			in.Mean[i] = float32(fcBorder * (float64(i)/5 - 1))
		}
		r.Sampled, err = agree(ctx, m, in, s.VerifyWith, s.Seed, j)
		if err != nil {
			return sweep.Outcome{}, err
		}
	}
	metrics := map[string]float64{"best_nll": r.best() + r.TrueNLL, "best_excess": r.best(), "final_excess": r.final(), "roughness": roughness(r.Mean)}
	return sweep.Outcome{Metrics: metrics, Data: r}, nil
}

func (s FCSpec) likelihood() likelihood.Predictive {
	if s.Draws > 0 {
		return likelihood.Heteroscedastic{}
	}
	return likelihood.Normal{}
}

// net is the network. The rule must have been checked.
func (s FCSpec) net(key rng.Key) model.Config {
	rule, err := moment.Parse(s.Rule)
	if err != nil {
		panic("experiment: a specification was not checked")
	}
	act := nn.Apply{F: fn.LeakyReLU(0.01), Rule: rule}
	out := 1
	if s.Draws > 0 {
		out = 2
	}
	return model.Config{
		Input:  nn.Vec(1),
		Layers: nn.Chain{nn.Dense{Out: 128}, act, nn.Dense{Out: 128}, act, nn.Dense{Out: out}},
		Seed:   rng.Uint64(key, 0),
	}
}

func (s FCSpec) training(key rng.Key, v fcSample) training {
	return training{
		net: s.net(key),
		train: train.Config{
			Data: fcSource(fcEpochSteps * fcBatch), Likelihood: s.likelihood(), Optimizer: optim.Paper(), KL: optim.PaperKL(fcEpochs),
			Draws: s.Draws, Batch: fcBatch, Steps: s.Steps, Seed: rng.Uint64(key, 1),
			CheckpointEvery: 10 * fcEpochSteps,
		},
		every: fcEpochSteps,
		score: func(m *model.Model) func() []float64 { return v.score(m, s.likelihood()) },
	}
}

// best and final are scores minus the true model's.
func (t *FCTrial) best() float64 {
	low := math.Inf(1)
	for _, m := range t.Marks {
		low = min(low, m.Scores[0])
	}
	return low - t.TrueNLL
}

func (t *FCTrial) final() float64 { return t.Marks[len(t.Marks)-1].Scores[0] - t.TrueNLL }

// roughness is the root mean square second difference of a curve over its grid.
func roughness(y []float64) float64 {
	var sum float64
	for i := 1; i+1 < len(y); i++ {
		d := y[i-1] - 2*y[i] + y[i+1]
		sum += d * d
	}
	return math.Sqrt(sum / float64(len(y)-2))
}

// predictAt returns the predicted means and standard deviations at x.
func predictAt(m *model.Model, l likelihood.Predictive, x []float64) (mean, sd []float64) {
	in := gauss.Fixed(1, make([]float32, len(x)))
	for i := range x {
		in.Mean[i] = float32(x[i])
	}
	out := m.NewPredictor(len(x)).Predict(in)
	mean, sd = make([]float64, len(x)), make([]float64, len(x))
	for i := range x {
		predictRow(l, out, i, mean[i:i+1], sd[i:i+1])
		sd[i] = math.Sqrt(sd[i])
	}
	return mean, sd
}

// predictRow writes the predicted moments of the targets of row i.
func predictRow(l likelihood.Predictive, out gauss.Batch[float32], i int, mean, variance []float64) {
	var m, v [8]float64
	for k := range out.Width {
		m[k], v[k] = float64(out.Mean[i*out.Width+k]), float64(out.Var[i*out.Width+k])
	}
	l.Predict(m[:out.Width], v[:out.Width], mean, variance)
}
