package experiment

import (
	"fmt"
	"slices"

	"utvi/internal/report"
	"utvi/internal/sweep"
)

var starvedExperiment = Experiment{
	Name:  "starved",
	Title: "Localisation from few examples",
	Plan: func(s Size) (trials []sweep.Trial) {
		for _, c := range starvedSettings(s) {
			for r := range starvedReplicates(s) {
				trials = append(trials, c.trial(s, r))
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

// A starvedSetting is one size of training set, one kind of outputs, one weight of
// the KL.
type starvedSetting struct {
	pairs       int
	outputs, kl string
}

func starvedSettings(s Size) (settings []starvedSetting) {
	for _, kl := range []string{"paper", "full"} {
		for _, n := range starvedSizes(s) {
			for _, o := range []string{locPhysics, locPlain, locScaled} {
				settings = append(settings, starvedSetting{n, o, kl})
			}
		}
	}
	return settings
}

// trial is replicate r, with a training set of its own. All networks of a
// replicate share that set, so that they can be compared in pairs.
func (c starvedSetting) trial(s Size, r int) sweep.Trial {
	return LocalizationSpec{
		Seed: s.Seed, Replicate: r, Rule: "ut(2)", Outputs: c.outputs, Steps: starvedSteps(s), ScoreEvery: max(30, starvedSteps(s)/60),
		Pairs: c.pairs, TrainingSet: r, KL: c.kl, Clip: locClip,
	}.trial(fmt.Sprintf("starved-%d-%s-%s", c.pairs, c.outputs, c.kl))
}

func findStarved(s Size, res Results) (*Findings, error) {
	var cells []StarvedCell
	for _, c := range starvedSettings(s) {
		cell := StarvedCell{Pairs: c.pairs, Outputs: c.outputs, KL: c.kl}
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
	claim := physicsHelps(runSize{starvedReplicates(s), starvedSteps(s)}, gains)
	return &Findings{
		Claims:  []Claim{claim},
		Tables:  []report.Table{starvedTable(s, cells, gains)},
		Numbers: map[string]any{"cells": cells, "gains": gains, "prior_position_nll": starvedPrior},
		Scaled: slices.Concat(scaled("replicates", starvedReplicates(s), 10), scaled("sizes of training sets", len(starvedSizes(s)), 9),
			scaled("steps per training", starvedSteps(s), starvedFullSteps)),
		Notes: []string{
			"The physics-informed network ends in the paper's activations. The plain network ends in its last dense layer, as in the paper's comparison. The third network is the plain one with photons counted in hundreds, so that no output has to grow a hundredfold. Every replicate has its own training set, which its three networks share. All networks train for the same number of steps, and the best score of each training counts, as in the paper.",
			fmt.Sprintf("The prior of the positions alone scores %.2f nats. A network above that line is worse than no training at all.", starvedPrior),
		},
		Pictures: []Picture{{"figS3", report.Picture{
			Figure: starvedFigure(cells, gains), Label: "Figure S3", Title: "Physics-informed activations and few examples.",
			Caption: "Lowest position NLL on unseen emitters during training, by the number of training pairs; mean ± sd of the replicates, each with its own training set. (a) The paper's weight φ(l) of the KL. (b) The full KL over N. (c) NLL of the plain network minus that of the physics-informed one on the same training set, mean with 95 % interval: above 0, physics helps.",
			Paper:   "Physics-informed activations improve generalisation up to 2⁹ training pairs.",
			Ours:    claim.found(),
		}}},
	}, nil
}
