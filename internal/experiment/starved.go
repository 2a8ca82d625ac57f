package experiment

import (
	"fmt"
	"math"
	"slices"

	"utvi/internal/report"
	"utvi/sweep"
)

var starvedExperiment = Experiment{
	Name:  "starved",
	Title: "Localisation from few examples",
	Plan: func(s Size) (trials []sweep.Trial) {
		for _, c := range starvedCells(s) {
			for r := range starvedReplicates(s) {
				trials = append(trials, c.trial(s, r))
			}
		}
		return trials
	},
	Find: findStarved,
}

// starvedLimit is the largest training set that the paper calls data-starved.
const starvedLimit = 1 << 9

func starvedReplicates(s Size) int { return s.pick(s.Replicates, 1, 1, 10) }
func starvedSteps(s Size) int      { return s.pick(s.Steps, 20, 600, 3000) }

// starvedSizes are the numbers of training pairs.
func starvedSizes(s Size) (sizes []int) {
	first, last, factor := 1<<5, 1<<13, 2
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

// A starvedCell is one size of training set, one kind of outputs, one weight of
// the KL.
type starvedCell struct {
	pairs       int
	outputs, kl string
}

func starvedCells(s Size) (cells []starvedCell) {
	for _, kl := range []string{"paper", "full"} {
		for _, n := range starvedSizes(s) {
			for _, o := range []string{locPhysics, locPlain, locScaled} {
				cells = append(cells, starvedCell{n, o, kl})
			}
		}
	}
	return cells
}

// trial is replicate r, with a training set of its own. All networks of a
// replicate share that set, so that they can be compared in pairs.
func (c starvedCell) trial(s Size, r int) sweep.Trial {
	return LocalizationSpec{
		Seed: s.Seed, Replicate: r, Rule: "ut(2)", Outputs: c.outputs, Steps: starvedSteps(s), Every: max(30, starvedSteps(s)/60),
		Pairs: c.pairs, TrainingSet: r, KL: c.kl, Clip: locClip,
	}.trial(fmt.Sprintf("starved-%d-%s-%s", c.pairs, c.outputs, c.kl))
}

// A StarvedCell is what the trainings on one set gave.
type StarvedCell struct {
	Pairs    int    `json:"pairs"`
	Outputs  string `json:"outputs"`
	KL       string `json:"kl"`
	Best     Stat   `json:"best_position_nll"` // lowest at any mark; mean of x and y, nats
	All      Stat   `json:"best_total_nll"`    // lowest sum over the three outputs
	BestStep Stat   `json:"best_step"`
	Diverged int    `json:"diverged"`
}

func (c *StarvedCell) add(t LocalizationTrial) {
	if t.Diverged != nil {
		c.Diverged++
	}
	if len(t.Marks) == 0 {
		return
	}
	all, step := math.Inf(1), 0
	for _, m := range t.Marks {
		all = min(all, m.Scores[locX]+m.Scores[locY]+m.Scores[locPhotons])
		if m.Scores[locPosition] == t.best() {
			step = m.Step
		}
	}
	c.Best.add(t.best())
	c.All.add(all)
	c.BestStep.add(float64(step))
}

// starvedPrior is the position NLL of knowing nothing but the prior.
var starvedPrior = 0.5 * (math.Log(2*math.Pi*emitterSpread*emitterSpread) + 1)

func findStarved(s Size, res Results) (*Findings, error) {
	var cells []StarvedCell
	for _, c := range starvedCells(s) {
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
	claim := physicsHelps(cells)
	return &Findings{
		Claims:  []Claim{claim},
		Tables:  []report.Table{starvedTable(s, cells)},
		Numbers: map[string]any{"cells": cells, "prior_position_nll": starvedPrior},
		Scaled: slices.Concat(scaled("replicates", starvedReplicates(s), 10), scaled("sizes of training sets", len(starvedSizes(s)), 9),
			scaled("steps a training", starvedSteps(s), 3000)),
		Notes: []string{
			"Physics ends the network in the paper's activations; plain in its last dense layer, as in the paper's comparison; scaled is plain with photons counted in hundreds, so that no output has to grow a hundredfold. All see the same pairs for the same number of steps, and the best score of any mark counts, as in the paper.",
			fmt.Sprintf("Who knows nothing but where emitters lie in general scores %.2f nats: networks above that line have learned less than nothing from so few pairs.", starvedPrior),
		},
		Pictures: []Picture{{"figS3", report.Picture{
			Figure: starvedFigure(cells), Label: "Figure S3", Title: "Physics-informed activations and few examples.",
			Caption: "Lowest position NLL on unseen emitters during training, by the number of training pairs; mean ± sd of the replicates, all on the same pairs. Left with the paper's weight φ(l) of the KL, right with the full KL over N.",
			Paper:   "Physics-informed activations improve generalisation up to 2⁹ training pairs.",
			Ours:    claim.Ours,
		}}},
	}, nil
}

// starvedAt finds a cell; nil where it was not planned.
func starvedAt(cells []StarvedCell, pairs int, outputs, kl string) *StarvedCell {
	for i, c := range cells {
		if c.Pairs == pairs && c.Outputs == outputs && c.KL == kl {
			return &cells[i]
		}
	}
	return nil
}

// physicsHelps compares with the plain network of the paper's figure; the scaled
// one is evidence.
func physicsHelps(cells []StarvedCell) Claim {
	c := Claim{
		ID:       "physics-helps",
		Paper:    "With at most 2⁹ training pairs, the physics-informed activations lower the NLL on unseen data.",
		Evidence: map[string]any{},
	}
	wins := map[string]int{}
	sizes := 0
	var gains []float64 // over plain
	for _, p := range cells {
		if p.Outputs != locPhysics || p.KL != "paper" || p.Pairs > starvedLimit {
			continue
		}
		sizes++
		best := map[string]Stat{locPhysics: p.Best}
		for _, other := range []string{locPlain, locScaled} {
			o := starvedAt(cells, p.Pairs, other, p.KL).Best
			best[other] = o
			if p.Best.below(o) {
				wins[other]++
			}
			if other == locPlain && len(o.Values) > 0 && len(p.Best.Values) > 0 {
				gains = append(gains, o.Mean-p.Best.Mean)
			}
		}
		c.Evidence[fmt.Sprint(p.Pairs)] = best
	}
	c.Holds = sizes > 0 && wins[locPlain] == sizes
	c.Ours = fmt.Sprintf("Lower position NLL than the plain network at %d of %d sizes up to 2⁹ (bar: all), than the plain network with photons in hundreds at %d.", wins[locPlain], sizes, wins[locScaled])
	if len(gains) > 0 {
		c.Value = slices.Min(gains)
		c.Ours += fmt.Sprintf(" Smallest gain over plain: %.3f nats.", c.Value)
	}
	return c
}

var starvedLooks = []struct {
	outputs, name string
	colour        report.Colour
}{
	{locPhysics, "physics-informed", report.Series(2)}, {locPlain, "plain", report.Ink}, {locScaled, "plain, photons in hundreds", report.Series(1)},
}

func starvedFigure(cells []StarvedCell) report.Figure {
	var g report.Grid
	for _, kl := range []struct{ name, title string }{{"paper", "(a)  weight φ(l)"}, {"full", "(b)  full KL/N"}} {
		chart := report.Chart{
			Title: kl.title, X: report.Axis{Label: "training pairs", Scale: report.Log2}, Y: report.Axis{Label: "best position NLL (nats)"},
			Levels: []report.Level{{Name: "prior alone", Colour: report.Grey, Y: starvedPrior, Dashed: true}},
		}
		for _, look := range starvedLooks {
			t := report.Trace{Name: look.name, Colour: look.colour, Style: report.LineMarks}
			for _, c := range cells {
				if c.Outputs == look.outputs && c.KL == kl.name && len(c.Best.Values) > 0 {
					t.X, t.Y, t.SD = append(t.X, float64(c.Pairs)), append(t.Y, c.Best.Mean), append(t.SD, c.Best.SD)
				}
			}
			chart.Traces = append(chart.Traces, t)
		}
		g.Charts = append(g.Charts, chart)
	}
	return g
}

func starvedTable(s Size, cells []StarvedCell) report.Table {
	t := report.Table{
		Caption: fmt.Sprintf("Lowest position NLL during %d steps, %s.", starvedSteps(s), ofReplicates(starvedReplicates(s))),
		Head:    []string{"pairs", "KL"},
	}
	for _, look := range starvedLooks {
		t.Head = append(t.Head, look.name)
	}
	for _, p := range cells {
		if p.Outputs != locPhysics {
			continue
		}
		row := []string{fmt.Sprint(p.Pairs), map[string]string{"paper": "φ(l)", "full": "KL/N"}[p.KL]}
		for _, look := range starvedLooks {
			row = append(row, starvedAt(cells, p.Pairs, look.outputs, p.KL).Best.format("%.3f"))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}
