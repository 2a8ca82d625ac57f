package experiment

import (
	"context"
	"fmt"
	"math"
	"path/filepath"

	"utvi/compute"
	"utvi/fn"
	"utvi/gauss"
	"utvi/model"
	"utvi/moment"
	"utvi/nn"
	"utvi/optim"
	"utvi/rng"
	"utvi/train"
)

// FCSpec asks for the paper's regression (§4.2): y = x + ε with a noise that
// depends on x, learned by a 1–128–128–1 leaky-ReLU network whose nonlinearities
// are passed in closed form (SMP), by three Monte Carlo samples (MC3) and by
// three sigma points (UT). Replicate r of every method starts from the same
// weights and sees the same data.
type FCSpec struct {
	Seed       uint64 `json:"seed"`
	Replicates int    `json:"replicates"`
	Steps      int    `json:"steps"`

	Dir      string `json:"-"` // of the checkpoints; "" keeps none
	Parallel int    `json:"-"` // trainings at a time; 0 stands for GOMAXPROCS
}

const (
	fcBatch      = 128
	fcEpochSteps = 80
	fcEpochs     = 100
	fcValidation = 4096
	fcGrid       = 201 // points of the predictions over [−1, 1]
)

// FCPaper is the experiment in full: 100 epochs of 80 steps, 10 replicates.
func FCPaper() FCSpec { return FCSpec{Seed: 1, Replicates: 10, Steps: fcEpochs * fcEpochSteps} }

// FCQuick is a run of well under two minutes on two cores: 40 epochs, 3
// replicates. The scores fall late, after some 20 epochs; fewer show nothing.
func FCQuick() FCSpec { return FCSpec{Seed: 1, Replicates: 3, Steps: 40 * fcEpochSteps} }

// Check reports a specification that cannot be run.
func (s FCSpec) Check() error {
	return checkSize(s.Replicates, s.Steps)
}

// FCResult is every number of the experiment. Scores are mean negative
// log-likelihoods, in nats, of the same validation rows.
type FCResult struct {
	Spec       FCSpec     `json:"spec"`
	Kernels    string     `json:"kernels"`
	Validation int        `json:"validation_rows"`
	TrueNLL    float64    `json:"true_nll"` // of the model that made the data
	ScoreSteps []int      `json:"score_steps"`
	X          []float64  `json:"x"` // where predictions were made
	Methods    []FCMethod `json:"methods"`
}

// FCMethod is what one way through the nonlinearities gave.
type FCMethod struct {
	Name   string    `json:"name"`
	Rule   string    `json:"rule"`
	Trials []FCTrial `json:"trials"`

	// Scores less TrueNLL, mean and standard deviation over the trials.
	BestMean  float64 `json:"best_excess_mean"`
	BestSD    float64 `json:"best_excess_sd"`
	FinalMean float64 `json:"final_excess_mean"`
	FinalSD   float64 `json:"final_excess_sd"`
}

// FCTrial is one training.
type FCTrial struct {
	NLL  []float64 `json:"nll"`  // at ScoreSteps
	Mean []float64 `json:"mean"` // predicted at X by the final network
	SD   []float64 `json:"sd"`
}

// fcMethods are the paper's three, in the order of its figure.
var fcMethods = []struct {
	name, title string
	rule        moment.Rule
}{
	{"SMP", "SMP, closed form", moment.Exact()},
	{"MC3", "MC, 3 samples", moment.MonteCarlo(3)},
	{"UT", "UT, 3 sigma points", moment.UT(2)},
}

// FC runs the experiment. Cancelled, it returns the context's error; the same
// specification with the same Dir then continues.
func FC(ctx context.Context, s FCSpec, tell Progress) (*FCResult, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	root := rng.New(s.Seed)
	validation := newFCSample(root.Sub(0, 2), fcValidation)
	r := &FCResult{Spec: s, Kernels: compute.Family(), Validation: fcValidation, TrueNLL: validation.truth()}
	for i := range fcGrid {
		r.X = append(r.X, 2*float64(i)/(fcGrid-1)-1)
	}
	var trials []trial
	for i := range s.Replicates {
		for _, m := range fcMethods {
			trials = append(trials, s.trial(m.name, m.rule, i, root.Sub(uint64(i), 1), validation))
		}
	}
	r.ScoreSteps = trials[0].scoreSteps()
	for _, m := range fcMethods {
		r.Methods = append(r.Methods, FCMethod{Name: m.name, Rule: m.rule.String(), Trials: make([]FCTrial, s.Replicates)})
	}
	err := runAll(ctx, trials, s.Parallel, tell, func(i int, m *model.Model, scores []float64) {
		mean, sd := predictAt(m, r.X)
		r.Methods[i%len(fcMethods)].Trials[i/len(fcMethods)] = FCTrial{scores, mean, sd}
	})
	if err != nil {
		return nil, err
	}
	for i := range r.Methods {
		r.Methods[i].summarise(r.TrueNLL)
	}
	return r, nil
}

func (s FCSpec) trial(name string, rule moment.Rule, replicate int, key rng.Key, v fcSample) trial {
	act := nn.Apply{F: fn.LeakyReLU(0.01), Rule: rule}
	t := trial{
		name: fmt.Sprintf("fc %s %d", name, replicate+1),
		net: model.Config{
			Input:  nn.Vec(1),
			Layers: nn.Chain{nn.Dense{Out: 128}, act, nn.Dense{Out: 128}, act, nn.Dense{Out: 1}},
			Seed:   rng.Uint64(key, 0),
		},
		train: train.Config{
			Data: fcSource(fcEpochSteps * fcBatch), Optimizer: optim.Paper(), KL: optim.PaperKL(fcEpochs),
			Batch: fcBatch, Steps: s.Steps, Seed: rng.Uint64(key, 1), Workers: 1,
			CheckpointEvery: 10 * fcEpochSteps,
		},
		every: fcEpochSteps,
		score: v.score,
	}
	if s.Dir != "" {
		// Runs of other seeds and lengths have other files.
		t.file = filepath.Join(s.Dir, fmt.Sprintf("seed%d-steps%d", s.Seed, s.Steps), fmt.Sprintf("%s-%d", name, replicate+1))
	}
	return t
}

// predictAt returns the predicted means and standard deviations at numbers.
func predictAt(m *model.Model, x []float64) (mean, sd []float64) {
	in := gauss.Fixed(1, make([]float32, len(x)))
	for i := range x {
		in.Mean[i] = float32(x[i])
	}
	out := m.NewPredictor(len(x)).Predict(in)
	mean, sd = make([]float64, len(x)), make([]float64, len(x))
	for i := range x {
		mean[i], sd[i] = float64(out.Mean[i]), math.Sqrt(float64(out.Var[i]))
	}
	return mean, sd
}
