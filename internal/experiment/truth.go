package experiment

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"utvi/data"
	"utvi/fn"
	"utvi/internal/sweep"
	"utvi/likelihood"
	"utvi/model"
	"utvi/moment"
	"utvi/nn"
	"utvi/optim"
	"utvi/rng"
	"utvi/train"
	"utvi/vi"
)

// TruthSpec is one training whose propagated variance is compared, along the way, with
// that of networks drawn from the weights. The KL has its full weight, KL/N; in the
// localisation, the paper's. The starting weights and the data of a replicate depend on
// the task alone.
type TruthSpec struct {
	Seed       uint64 `json:"seed"`
	Replicate  int    `json:"replicate"`            // counted from 0
	Task       string `json:"task"`                 // regression, relu, gelu or localization
	Rule       string `json:"rule"`                 // of the nonlinearities, as moment.Parse reads it
	Correlated bool   `json:"correlated,omitempty"` // carry correlations: nn.Correlate
	Steps      int    `json:"steps"`
	ScoreEvery int    `json:"every"`    // steps
	Networks   int    `json:"networks"` // drawn at each mark
	FinalWith  int    `json:"final"`    // networks drawn at the end

	// PerPixel is the number of emitters in each pixel that a trained localisation is
	// compared with the exact bound on; 0: it is not compared.
	PerPixel int `json:"each,omitempty"`
}

// The tasks: the paper's regression; a table of a few hundred rows that newTruthTable
// makes, learned by two layers of 50 ReLU or GELU units; and the paper's localisation.
const (
	truthRegression   = "regression"
	truthReLU         = "relu"
	truthGELU         = "gelu"
	truthLocalization = "localization"
)

// TruthTrial is what a training found. The scores of a mark are those of truthScores.
type TruthTrial struct {
	History
	Final []float64          `json:"final"`           // the last network's scores with more networks
	Bound map[string]float64 `json:"bound,omitempty"` // the localisation's, of mapNumbers.metrics
}

var truthKind = kindOf[TruthSpec]("truth")

func (s TruthSpec) check() error {
	tasks := []string{truthRegression, truthReLU, truthGELU, truthLocalization}
	switch {
	case !slices.Contains(tasks, s.Task):
		return fmt.Errorf("there is no task %q; the tasks are %s", s.Task, strings.Join(tasks, ", "))
	case s.ScoreEvery < 1:
		return fmt.Errorf("%d steps between scores; the least is 1", s.ScoreEvery)
	case min(s.Networks, s.FinalWith) < 2 || max(s.Networks, s.FinalWith) > 10_000_000:
		return fmt.Errorf("%d networks at a mark and %d at the end; both must be 2 to 10000000", s.Networks, s.FinalWith)
	case s.PerPixel < 0 || s.PerPixel > 1<<16 || s.PerPixel > 0 && s.Task != truthLocalization:
		return fmt.Errorf("%d emitters per pixel; it must be 0 to 2^16, and 0 without pixels", s.PerPixel)
	}
	if err := checkRule(s.Rule, s.function()); err != nil {
		return err
	}
	return checkTraining(s.Replicate, s.Steps)
}

func (s TruthSpec) function() *moment.Func {
	switch s.Task {
	case truthReLU:
		return fn.ReLU()
	case truthGELU:
		return fn.GELU()
	}
	return fn.LeakyReLU(0.01)
}

// layers is the network of a task. The rule must have been checked.
func (s TruthSpec) layers() nn.Chain {
	var layers nn.Chain
	switch s.Task {
	case truthRegression:
		layers = FCSpec{Rule: s.Rule}.net(rng.Key{}).Layers
	case truthLocalization:
		// g, of the outputs, has no closed form, and its own blind spot under UT(2).
		output := s.Rule
		if output == "exact" {
			output = "gh(9)"
		}
		layers = LocalizationSpec{Rule: s.Rule, OutputRule: output, Outputs: locPhysics, Joint: true}.net()
	default:
		rule, err := moment.Parse(s.Rule)
		if err != nil {
			panic("experiment: a specification was not checked")
		}
		act := nn.Apply{F: s.function(), Rule: rule}
		layers = nn.Chain{nn.Dense{Out: 50}, act, nn.Dense{Out: 50}, act, nn.Dense{Out: 1}, nn.Noise{Start: 0.5}}
	}
	if s.Correlated {
		return nn.Correlate(layers)
	}
	return layers
}

// training is that of a task, and the rows it is tested on.
func (s TruthSpec) training() (t training, test truthRows, err error) {
	root := rng.New(s.Seed).Sub(0, 8)
	key := root.Sub(uint64(s.Replicate), 1)
	t = training{
		net: model.Config{Layers: s.layers(), Seed: rng.Uint64(key, 0)},
		train: train.Config{
			Optimizer: optim.Paper(), KL: optim.FullKL(),
			Steps: s.Steps, Seed: rng.Uint64(key, 1), CheckpointEvery: 5 * s.ScoreEvery,
		},
		every: s.ScoreEvery,
	}
	switch s.Task {
	case truthRegression:
		t.net.Input = nn.Vec(1)
		t.train.Data, t.train.Batch = fcSource(fcEpochSteps*fcBatch), fcBatch
		set := newFCSample(root.Sub(0, 2), truthTest)
		test = truthRows(set)
	case truthLocalization:
		t.net.Input, t.net.Init = nn.Shape{H: emitterSide, W: emitterSide, C: 1}, vi.Std(locSigma)
		t.train.Data = emitterSource(locEpochSteps * locBatch)
		t.train.Batch = locBatch
		t.train.Optimizer.Clip = locClip
		t.train.KL = optim.PaperKL(max(1, s.Steps/locEpochSteps))
		set := newEmitters(root.Sub(0, 2), truthTest)
		test = truthRows(set)
	default:
		t.net.Input = nn.Vec(truthInputs)
		t.train.Batch = truthTrain / 4
		t.train.Optimizer.Rate = optim.Constant(5e-3)
		t.train.Optimizer.Decay = 0
		rows := newTruthTable(root.Sub(uint64(s.Replicate), 3), truthTrain)
		test = newTruthTable(root.Sub(uint64(s.Replicate), 2), truthTest)
		t.train.Data, err = data.NewTable(rows.x, 1, rows.y)
	}
	t.score = func(m *model.Model) func() []float64 {
		return func() []float64 { return test.scores(m, s.Networks, s.Seed) }
	}
	return t, test, err
}

func (s TruthSpec) run(ctx context.Context, j sweep.Job) (sweep.Outcome, error) {
	t, test, err := s.training()
	if err != nil {
		return sweep.Outcome{}, err
	}
	m, h, err := t.run(ctx, j)
	if err != nil {
		return sweep.Outcome{}, err
	}
	r := TruthTrial{History: *h, Final: test.scores(m, s.FinalWith, s.Seed)}
	metrics := map[string]float64{
		"nll": r.Final[truthNLL], "nll_drawn": r.Final[truthDrawnNLL], "sigma_ratio": r.Final[truthMedian],
	}
	if s.PerPixel > 0 {
		set := newPixelEmitters(rng.New(s.Seed).Sub(0, 5), s.PerPixel)
		variance, square, ok := set.maps(m, likelihood.Normal{})
		if !ok {
			return sweep.Outcome{}, errors.New("a predicted variance is not finite or not positive")
		}
		r.Bound = newMapNumbers(variance, square).metrics()
		maps.Copy(metrics, r.Bound)
	}
	return sweep.Outcome{Metrics: metrics, Data: r}, nil
}
