package experiment

import (
	"fmt"
	"slices"
	"strings"

	"utvi/internal/report"
	"utvi/internal/sweep"
)

var starvedExperiment = Experiment{
	Name:  "starved",
	Title: "Localisation from few examples",
	Plan: func(s Size) (trials []sweep.Trial) {
		for _, c := range starvedSettings(s) {
			for r := range starvedReplicates(s) {
				if t := c.trial(s, r); !slices.ContainsFunc(trials, func(o sweep.Trial) bool { return o.ID() == t.ID() }) {
					trials = append(trials, t)
				}
			}
		}
		return trials
	},
	Find: findStarved,
}

const (
	starvedLimit     = 1 << 9 // the largest training set that the paper calls data-starved
	starvedFullSteps = 3000
)

func starvedReplicates(s Size) int { return s.pick(s.Replicates, 1, 1, 10) }
func starvedSteps(s Size) int      { return s.pick(s.Steps, 20, 600, starvedFullSteps) }

// starvedSizes are the numbers of training pairs.
func starvedSizes(s Size) (sizes []int) {
	first := 1 << 5
	last := 1 << 13
	factor := 2
	switch s.Preset {
	case "tiny":
		first, last = 1<<5, 1<<6
	case "quick":
		last, factor = 1<<9, 4
	}
	for n := first; n <= last; n *= factor {
		sizes = append(sizes, n)
	}
	return sizes
}

// A starvedSetting is what the trainings of a group have in common.
type starvedSetting struct {
	pairs       int
	outputs, kl string
	shared      bool    // one training set for all replicates, as in the paper; else each has its own
	scale       float64 // what the photon counts of the images are divided by; 0: nothing
	steps       int
}

// starvedSettings are those of the paper's figure, first with one training set for all
// replicates and then with one for each, and those that show what decides the sign.
func starvedSettings(s Size) (settings []starvedSetting) {
	steps := starvedSteps(s)
	add := func(c starvedSetting) {
		for _, c.outputs = range []string{locPhysics, locPlain, locScaled} {
			settings = append(settings, c)
		}
	}
	for _, n := range starvedSizes(s) {
		add(starvedSetting{pairs: n, kl: "paper", shared: true, steps: steps})
	}
	for _, kl := range []string{"paper", "full"} {
		for _, n := range starvedSizes(s) {
			add(starvedSetting{pairs: n, kl: kl, steps: steps})
		}
	}
	for _, c := range starvedSigns(s) {
		if c.scale != 0 || c.steps != steps { // the others are among those above
			add(c)
		}
	}
	return settings
}

// starvedSigns are the settings that may decide whether physics helps: the size of the
// training set, the scale of the images, the length of the training.
func starvedSigns(s Size) (settings []starvedSetting) {
	if s.Preset != "paper" {
		return nil
	}
	for _, n := range []int{64, 512} {
		for _, scale := range []float64{0, 20} {
			for _, steps := range []int{starvedSteps(s) / 3, starvedSteps(s), 4 * starvedSteps(s)} {
				settings = append(settings, starvedSetting{pairs: n, kl: "paper", shared: true, scale: scale, steps: steps})
			}
		}
	}
	return settings
}

// trial is replicate r. All networks of a replicate see the same training set, so that they
// can be compared in pairs.
func (c starvedSetting) trial(s Size, r int) sweep.Trial {
	spec := LocalizationSpec{
		Seed: s.Seed, Replicate: r, Rule: "ut(2)", Outputs: c.outputs, Steps: c.steps, ScoreEvery: max(30, c.steps/60),
		Pairs: c.pairs, TrainingSet: r, InputScale: c.scale, KL: c.kl, Clip: locClip,
	}
	name := fmt.Sprintf("starved-%d-%s-%s", c.pairs, c.outputs, c.kl)
	if c.shared {
		spec.TrainingSet = 0
		name += "-shared"
	}
	if c.scale > 0 {
		name += fmt.Sprintf("-scale%v", c.scale)
	}
	if c.steps != starvedSteps(s) {
		name += fmt.Sprintf("-steps%d", c.steps)
	}
	return spec.trial(name)
}

func findStarved(s Size, res Results) (*Findings, error) {
	var cells []StarvedCell
	for _, c := range starvedSettings(s) {
		cell := newStarvedCell(c)
		for r := range starvedReplicates(s) {
			var t LocalizationTrial
			if err := res.decode(c.trial(s, r), &t); err != nil {
				return nil, err
			}
			cell.add(t)
		}
		cells = append(cells, cell)
	}
	gains := starvedGains(cells)
	comparisons := starvedComparisons(starvedSigns(s), gains)
	claim := physicsHelps(runSize{starvedReplicates(s), starvedSteps(s)}, gains)
	claim.Ours = strings.TrimSpace(claim.Ours + " " + starvedSignText(comparisons))
	tables := []report.Table{starvedTable(s, cells, gains)}
	notes := []string{
		"The physics-informed network ends in the paper's activations. The plain network ends in its last dense layer, as in the paper's comparison. The third network is the plain one with photons counted in hundreds, so that no output has to grow a hundredfold. The paper's measure comes first: the NLL of x, y and photons together, one training set, a number of initialisations. Then the position alone, and training sets of each replicate's own. All networks train for the same number of steps, and the best score of each training counts, as in the paper.",
		fmt.Sprintf("The prior of the positions alone scores %.2f nats. A network above that line is worse than no training at all.", starvedPrior),
	}
	if len(comparisons) > 0 {
		tables = append(tables, starvedSignTable(s, comparisons))
	}
	return &Findings{
		Claims:  []Claim{claim},
		Tables:  tables,
		Numbers: map[string]any{"cells": cells, "gains": gains, "prior_position_nll": starvedPrior},
		Scaled: slices.Concat(scaled("replicates", starvedReplicates(s), 10), scaled("sizes of training sets", len(starvedSizes(s)), 9),
			scaled("steps per training", starvedSteps(s), starvedFullSteps)),
		Notes: notes,
		Pictures: []Picture{{"figS3", report.Picture{
			Figure: starvedFigure(cells, gains), Label: "Figure S3", Title: "Physics-informed activations and few examples.",
			Caption: "Lowest NLL on unseen emitters during training, by the number of training pairs; mean ± sd of the replicates. (a) As in the paper: x, y and photons together, the same training set for every initialisation. (b) The same trainings, the position alone. (c) The position, each replicate with a training set of its own. (d) NLL of the plain network minus that of the physics-informed one, paired by replicate, mean with 95 % interval: above 0, physics helps. Marks and bars far beyond the other networks' are cut off in (a) and (d); the table has them.",
			Paper:   "Physics-informed activations improve generalisation up to 2⁹ training pairs.",
			Ours:    claim.found(),
		}}},
	}, nil
}
