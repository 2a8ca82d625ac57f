package experiment

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/bits"

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

// LocalizationSpec is one training of the paper's localisation (§4.3): the position
// of an emitter, and the number of its photons, from an image of 8×8 pixels. The
// starting weights and the data of a replicate do not depend on the rule.
type LocalizationSpec struct {
	Seed      uint64 `json:"seed"`
	Replicate int    `json:"replicate"` // counted from 0
	Rule      string `json:"rule"`      // of all nonlinearities, as moment.Parse reads it
	Outputs   string `json:"outputs"`   // physics, plain or scaled

	// OutputRule is the rule of the output chain g, which has no closed form; "":
	// Rule.
	OutputRule string `json:"output_rule,omitempty"`

	Joint      bool `json:"joint,omitempty"`      // nn.Conditional's
	Correlated bool `json:"correlated,omitempty"` // carry correlations: nn.Correlate
	Steps      int  `json:"steps"`
	ScoreEvery int  `json:"every"` // steps

	// Pairs is the size of the training set. 0: no emitter is seen twice.
	Pairs int `json:"pairs,omitempty"`

	// TrainingSet says which set of Pairs pairs, counted from 0. It does not depend
	// on the network, and a smaller set is the beginning of a larger one.
	TrainingSet int `json:"training_set,omitempty"`

	// InputScale is what the photon counts of the images are divided by; 0: nothing.
	InputScale float64 `json:"input_scale,omitempty"`

	KL    string  `json:"kl"`              // weight of the KL: paper, φ(l), or full, KL/N
	Clip  float64 `json:"clip"`            // largest gradient norm; 0: no limit
	Draws int     `json:"draws,omitempty"` // networks drawn per step; 0 propagates moments

	// PerPixel is the number of emitters in each pixel that the trained network is
	// measured with; 0: it is not measured.
	PerPixel int `json:"each,omitempty"`

	// VerifyWith is the number of networks drawn from the trained one to verify its
	// moments with; 0: none.
	VerifyWith int `json:"sampled,omitempty"`
}

const (
	locBatch      = 256
	locEpochSteps = 300
	locValidation = 4096
	locClip       = 100
	locSigma      = 0.05 // of every weight at the start
)

// The scores of a mark, mean negative log-likelihoods in nats. The position's is
// the mean of x and y.
const (
	locPosition = iota
	locX
	locY
	locPhotons
	locScores
)

// LocalizationTrial is what a training found. Maps are of the final network, in
// px², mean of x and y.
type LocalizationTrial struct {
	History
	Variance []float64  `json:"variance,omitempty"` // predicted, by pixel
	Error    []float64  `json:"error,omitempty"`    // squared, by pixel
	Sampled  *Agreement `json:"sampled,omitempty"`
}

var localizationKind = kindOf[LocalizationSpec]("localization")

func (s LocalizationSpec) check() error {
	if err := s.checkNetwork(); err != nil {
		return err
	}
	if err := s.checkData(); err != nil {
		return err
	}
	switch {
	case s.KL != "paper" && s.KL != "full":
		return fmt.Errorf("the weight of the KL is %q; it must be paper or full", s.KL)
	case !(s.Clip >= 0):
		return fmt.Errorf("gradients are clipped to %v; the limit must be a number ≥ 0", s.Clip)
	case s.ScoreEvery < 1:
		return fmt.Errorf("%d steps between scores; the least is 1", s.ScoreEvery)
	case s.Draws < 0 || s.Draws > 1000 || s.VerifyWith < 0 || s.VerifyWith == 1 || s.VerifyWith > 10_000_000:
		return fmt.Errorf("%d draws and %d sampled networks; draws must be 0 to 1000, sampled networks 0 or 2 to 10000000", s.Draws, s.VerifyWith)
	}
	return checkTraining(s.Replicate, s.Steps)
}

// checkNetwork reports outputs that do not exist, and rules that do not fit them.
func (s LocalizationSpec) checkNetwork() error {
	if err := checkRule(s.Rule, fn.LeakyReLU(0.01)); err != nil {
		return err
	}
	if s.Outputs == locPhysics {
		if err := checkRule(cmp.Or(s.OutputRule, s.Rule), fn.NormalInverse()); err != nil {
			return err
		}
	}
	switch {
	case s.Outputs != locPhysics && s.Outputs != locPlain && s.Outputs != locScaled:
		return fmt.Errorf("the outputs are %q; they must be %s, %s or %s", s.Outputs, locPhysics, locPlain, locScaled)
	case (s.Joint || s.OutputRule != "") && s.Outputs != locPhysics:
		return errors.New("a joint photon node and an output rule need the outputs physics")
	case s.Correlated && s.Draws > 0:
		return errors.New("a drawn network has no variances whose correlations could be carried; draws must be 0")
	}
	return nil
}

// checkData reports a training set or a test that cannot be made.
func (s LocalizationSpec) checkData() error {
	switch {
	case s.Pairs < 0 || bits.Len(uint(s.Pairs)) > 24 || s.PerPixel < 0 || s.PerPixel > 1<<16:
		return fmt.Errorf("%d training pairs and %d emitters per pixel; the limits are 2^24 and 2^16", s.Pairs, s.PerPixel)
	case !(s.InputScale >= 0) || math.IsInf(s.InputScale, 0) || s.InputScale > 0 && (s.Pairs == 0 || s.PerPixel > 0 || s.VerifyWith > 0):
		return fmt.Errorf("the images are divided by %v; it must be a number ≥ 0, with a training set of pairs and no emitters per pixel or sampled networks", s.InputScale)
	case s.TrainingSet < 0 || s.TrainingSet > 0 && s.Pairs == 0:
		return fmt.Errorf("training set %d of %d pairs; sets count from 0 and need at least 1 pair", s.TrainingSet, s.Pairs)
	}
	return nil
}

// checkRule reports a rule that does not exist or cannot push f.
func checkRule(name string, f *moment.Func) error {
	rule, err := moment.Parse(name)
	if err != nil {
		return err
	}
	return rule.Check(f)
}

func (s LocalizationSpec) likelihood() likelihood.Predictive {
	if s.Draws > 0 {
		return likelihood.Heteroscedastic{}
	}
	return likelihood.Normal{}
}

// source is the training's data.
func (s LocalizationSpec) source(root rng.Key) (data.Source, error) {
	if s.Pairs == 0 {
		return emitterSource(locEpochSteps * locBatch), nil
	}
	set := newEmitters(root.Sub(uint64(s.TrainingSet), 4), s.Pairs)
	set.divide(s.InputScale)
	return data.NewTable(set.x, emitterTargets, set.y)
}

func (s LocalizationSpec) training() (training, error) {
	root := rng.New(s.Seed)
	key := root.Sub(uint64(s.Replicate), 1)
	source, err := s.source(root)
	if err != nil {
		return training{}, err
	}
	o := optim.Paper()
	o.Clip = s.Clip
	kl := optim.FullKL()
	if s.KL == "paper" {
		kl = optim.PaperKL(max(1, s.Steps*min(locBatch, source.Rows())/source.Rows()))
	}
	validation := newEmitters(root.Sub(0, 2), locValidation)
	validation.divide(s.InputScale)
	return training{
		net: model.Config{
			Input: nn.Shape{H: emitterSide, W: emitterSide, C: 1}, Layers: s.net(),
			Seed: rng.Uint64(key, 0), Init: vi.Std(locSigma),
		},
		train: train.Config{
			Data: source, Likelihood: s.likelihood(), Optimizer: o, KL: kl, Draws: s.Draws,
			Batch: locBatch, Steps: s.Steps, Seed: rng.Uint64(key, 1), CheckpointEvery: 10 * s.ScoreEvery,
		},
		every:      s.ScoreEvery,
		score:      func(m *model.Model) func() []float64 { return validation.score(m, s.likelihood()) },
		mayDiverge: true,
	}, nil
}

func (s LocalizationSpec) run(ctx context.Context, j sweep.Job) (sweep.Outcome, error) {
	t, err := s.training()
	if err != nil {
		return sweep.Outcome{}, err
	}
	m, h, err := t.run(ctx, j)
	if err != nil {
		return sweep.Outcome{}, err
	}
	r := LocalizationTrial{History: *h}
	metrics := map[string]float64{"diverged": 0}
	if h.Diverged != nil {
		metrics["diverged"] = 1
	}
	if len(h.Marks) > 0 {
		metrics["best_position_nll"] = r.best()
		metrics["final_position_nll"] = r.final(locPosition)
		metrics["final_photon_nll"] = r.final(locPhotons)
	}
	if s.PerPixel > 0 {
		set := newPixelEmitters(rng.New(s.Seed).Sub(0, 5), s.PerPixel)
		if variance, square, ok := set.maps(m, s.likelihood()); ok {
			r.Variance, r.Error = variance[:], square[:]
			for name, x := range newMapNumbers(variance, square).metrics() {
				metrics[name] = x
			}
		}
	}
	if s.VerifyWith > 0 && h.Diverged == nil {
		rows := newEmitters(rng.New(s.Seed).Sub(0, 6), 16)
		r.Sampled, err = agree(ctx, m, rows.x, s.VerifyWith, s.Seed, j)
		if err != nil {
			return sweep.Outcome{}, err
		}
	}
	return sweep.Outcome{Metrics: metrics, Data: r}, nil
}

// numbers compares the maps, which must be there, with the bound.
func (t *LocalizationTrial) numbers() mapNumbers {
	return newMapNumbers(emitterMap(t.Variance), emitterMap(t.Error))
}

// best is the lowest position NLL of any mark.
func (t *LocalizationTrial) best() float64 {
	low := t.Marks[0].Scores[locPosition]
	for _, m := range t.Marks {
		low = min(low, m.Scores[locPosition])
	}
	return low
}

func (t *LocalizationTrial) final(score int) float64 { return t.Marks[len(t.Marks)-1].Scores[score] }
