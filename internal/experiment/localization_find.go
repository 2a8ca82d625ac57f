package experiment

import (
	"fmt"
	"slices"

	"utvi/internal/report"
	"utvi/internal/sweep"
)

var localizationExperiment = Experiment{
	Name:  "localization",
	Title: "Sub-pixel localisation of an emitter",
	Plan: func(s Size) (trials []sweep.Trial) {
		for r := range locReplicates(s) {
			for _, m := range locMethods {
				trials = append(trials, locTrial(s, m, r))
			}
		}
		for _, m := range locMethods {
			trials = append(trials, locUnclipped(s, m))
		}
		return trials
	},
	Find: findLocalization,
}

type locRule struct{ name, title, rule string }

// locMethods are the paper's two, and the one that failed in the paper.
var locMethods = []locRule{
	{"UT", "UT, 3 sigma points", "ut(2)"},
	{"MC10", "MC, 10 samples", "mc(10)"},
	{"MC3", "MC, 3 samples", "mc(3)"},
}

// locFullSteps is a training in full: 50 epochs, after which UT's errors have
// been within a few per cent of the bound for some 20.
const locFullSteps = 50 * locEpochSteps

func locReplicates(s Size) int { return s.pick(s.Replicates, 1, 2, 10) }
func locSteps(s Size) int      { return s.pick(s.Steps, 40, 5*locEpochSteps, locFullSteps) }
func locPerPixel(s Size) int   { return s.pick(0, 16, 256, 1024) }

func locTrial(s Size, m locRule, r int) sweep.Trial {
	return locSpec(s, m.rule, r).trial("localization-" + m.name)
}

// locSpec is replicate r under a rule. The first one is compared with networks
// drawn from it.
func locSpec(s Size, rule string, r int) LocalizationSpec {
	spec := LocalizationSpec{
		Seed: s.Seed, Replicate: r, Rule: rule, Outputs: locPhysics, Steps: locSteps(s), ScoreEvery: locEpochSteps,
		KL: "paper", Clip: locClip, PerPixel: locPerPixel(s),
	}
	if r == 0 {
		spec.VerifyWith = s.pick(0, 100, 1000, 10_000)
	}
	return spec
}

// locUnclipped is a short training without a limit on the gradients: it shows what
// the limit prevents.
func locUnclipped(s Size, m locRule) sweep.Trial {
	return LocalizationSpec{
		Seed: s.Seed, Rule: m.rule, Outputs: locPhysics, Steps: min(locSteps(s), s.pick(0, 20, 300, 10*locEpochSteps)), ScoreEvery: locEpochSteps / 3,
		KL: "paper",
	}.trial("localization-unclipped-" + m.name)
}

// trial is the training as a trial of a group.
func (s LocalizationSpec) trial(group string) sweep.Trial {
	return sweep.NewTrial("localization", fmt.Sprintf("%s-%d", group, s.Replicate+1), group, s.cost(), s)
}

// cost is roughly in seconds of one core.
func (s LocalizationSpec) cost() float64 {
	rows := locBatch
	if s.Pairs > 0 {
		rows = min(rows, s.Pairs)
	}
	perRow := 15e-6
	var n int
	if _, err := fmt.Sscanf(s.Rule, "mc(%d)", &n); err == nil {
		perRow += 1e-6 * float64(n)
	}
	if s.Correlated {
		perRow *= 2
	}
	step := 0.5e-3 + perRow*float64(rows)*float64(max(1, s.Draws))
	return step*float64(s.Steps) + 0.025*float64(s.Steps/max(1, s.ScoreEvery)+1) + 0.5e-3*float64(s.PerPixel)
}

// A LocalizationMethod is what one rule for the nonlinearities gave.
type LocalizationMethod struct {
	Name     string              `json:"name"`
	Rule     string              `json:"rule"`
	Best     Stat                `json:"best_position_nll"` // lowest of any epoch; mean of x and y, nats
	Final    Stat                `json:"final_position_nll"`
	Photons  Stat                `json:"final_photon_nll"`
	MaxGrad  Stat                `json:"max_gradient_norm"`
	Clipped  Stat                `json:"clipped_share"` // of the steps
	Diverged int                 `json:"diverged"`      // trainings that met a number that is not finite
	Maps     map[string]Stat     `json:"maps"`          // by metric
	Variance []float64           `json:"variance"`      // predicted, by pixel, mean over replicates, px²
	Error    []float64           `json:"error"`         // squared, likewise
	Trials   []LocalizationTrial `json:"trials"`
}

func (m *LocalizationMethod) add(t LocalizationTrial) {
	m.Trials = append(m.Trials, t)
	if t.Diverged != nil {
		m.Diverged++
	}
	var top, clipped, steps float64
	for _, k := range t.Marks {
		top = max(top, k.MaxGrad)
		clipped = clipped + float64(k.Clipped)
		steps = float64(k.Step)
	}
	if steps > 0 {
		m.Best.add(t.best())
		m.Final.add(t.final(locPosition))
		m.Photons.add(t.final(locPhotons))
		m.MaxGrad.add(top)
		m.Clipped.add(clipped / steps)
	}
	if t.Variance == nil {
		return
	}
	for name, x := range t.numbers().metrics() {
		s := m.Maps[name]
		s.add(x)
		m.Maps[name] = s
	}
}

// average fills the maps of the method.
func (m *LocalizationMethod) average() {
	n := 0.
	variance, square := make([]float64, emitterPixels), make([]float64, emitterPixels)
	for _, t := range m.Trials {
		if t.Variance == nil {
			continue
		}
		n++
		for p := range variance {
			variance[p] += (t.Variance[p] - variance[p]) / n
			square[p] += (t.Error[p] - square[p]) / n
		}
	}
	if n > 0 {
		m.Variance, m.Error = variance, square
	}
}

// locMethod gathers trials into a method.
func locMethod(res Results, m locRule, trials ...sweep.Trial) (LocalizationMethod, error) {
	found := LocalizationMethod{Name: m.name, Rule: m.rule, Maps: map[string]Stat{}}
	for _, trial := range trials {
		var t LocalizationTrial
		if err := res.decode(trial, &t); err != nil {
			return found, err
		}
		found.add(t)
	}
	found.average()
	return found, nil
}

func findLocalization(s Size, res Results) (*Findings, error) {
	var methods, unclipped []LocalizationMethod
	for _, m := range locMethods {
		var trials []sweep.Trial
		for r := range locReplicates(s) {
			trials = append(trials, locTrial(s, m, r))
		}
		found, err := locMethod(res, m, trials...)
		if err != nil {
			return nil, err
		}
		free, err := locMethod(res, m, locUnclipped(s, m))
		if err != nil {
			return nil, err
		}
		methods, unclipped = append(methods, found), append(unclipped, free)
	}
	exact, paper := boundMaps()
	run := runSize{locReplicates(s), locSteps(s)}
	return &Findings{
		Claims:   []Claim{mc3Fails(run, methods), mc3Explodes(run, methods, unclipped), varianceHasTrend(run, methods), varianceHasLevel(run, methods)},
		Tables:   []report.Table{locTable(s, methods), locMapTable(s, methods)},
		Pictures: append(locPictures(s, methods, exact, paper), locCurves(methods)),
		Numbers:  map[string]any{"methods": methods, "unclipped": unclipped, "exact_bound": exact, "paper_bound": paper},
		Scaled:   slices.Concat(scaled("replicates", locReplicates(s), 10), scaled("steps per training", locSteps(s), locFullSteps)),
		Notes: []string{
			fmt.Sprintf("All NLLs are of the same %d emitters, which no training saw. The NLL of the position is the mean of x and y. Near the centre the expected photon count has almost no noise, and its NLL depends on the smallest variance that the likelihood allows. So the claims are about positions.", locValidation),
			fmt.Sprintf("All methods have the same settings: batches of %d, rate 0.001, gradient norms clipped to %d, weights that start with σ = %g, %d steps (the paper does not give a number).", locBatch, locClip, locSigma, locSteps(s)),
		},
	}, nil
}
