package experiment

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"utvi/internal/report"
)

// A StarvedCell is what the trainings of one setting gave.
type StarvedCell struct {
	Pairs    int    `json:"pairs"`
	Outputs  string `json:"outputs"`
	KL       string `json:"kl"`
	Best     Stat   `json:"best_position_nll"` // lowest of a training; mean of x and y, nats
	All      Stat   `json:"best_total_nll"`    // lowest sum over the three outputs
	BestStep Stat   `json:"best_step"`
	Diverged int    `json:"diverged"`

	best []float64 // of every replicate; +Inf without a score
}

func (c *StarvedCell) add(t LocalizationTrial) {
	if t.Diverged != nil {
		c.Diverged++
	}
	if len(t.Marks) == 0 {
		c.best = append(c.best, math.Inf(1))
		return
	}
	total, step := math.Inf(1), 0
	for _, m := range t.Marks {
		total = min(total, m.Scores[locX]+m.Scores[locY]+m.Scores[locPhotons])
		if m.Scores[locPosition] == t.best() {
			step = m.Step
		}
	}
	c.best = append(c.best, t.best())
	c.Best.add(t.best())
	c.All.add(total)
	c.BestStep.add(float64(step))
}

// starvedPrior is the position NLL of the prior alone.
var starvedPrior = 0.5 * (math.Log(2*math.Pi*emitterSpread*emitterSpread) + 1)

// A StarvedGain is how much lower the physics-informed network's best position NLL
// is than another's, training set by training set.
type StarvedGain struct {
	Pairs    int    `json:"pairs"`
	KL       string `json:"kl"`
	Over     string `json:"over"`     // the other network's outputs
	Gain     Stat   `json:"gain"`     // nats, over the sets on which both have a score
	Unscored int    `json:"unscored"` // sets on which one of them has none
}

func starvedGains(cells []StarvedCell) (gains []StarvedGain) {
	for _, p := range cells {
		if p.Outputs != locPhysics {
			continue
		}
		for _, other := range []string{locPlain, locScaled} {
			g := StarvedGain{Pairs: p.Pairs, KL: p.KL, Over: other}
			for r, nll := range starvedAt(cells, p.Pairs, other, p.KL).best {
				if math.IsInf(nll, 0) || math.IsInf(p.best[r], 0) {
					g.Unscored++
				} else {
					g.Gain.add(nll - p.best[r])
				}
			}
			gains = append(gains, g)
		}
	}
	return gains
}

// starvedAt finds a planned cell.
func starvedAt(cells []StarvedCell, pairs int, outputs, kl string) StarvedCell {
	return cells[slices.IndexFunc(cells, func(c StarvedCell) bool { return c.Pairs == pairs && c.Outputs == outputs && c.KL == kl })]
}

// The claim about few examples needs a training set of its own for each of several
// replicates, at all five sizes up to 2⁹.
var starvedNeed = runSize{5, starvedFullSteps}

const starvedNeedSizes = 5

// physicsHelps compares with the plain network of the paper's figure. The network
// with photons in hundreds is information.
func physicsHelps(run runSize, gains []StarvedGain) Claim {
	c := Claim{
		ID:       "physics-helps",
		Paper:    "With at most 2⁹ training pairs, the physics-informed activations lower the NLL on unseen data.",
		Evidence: map[string]any{"gains": gains},
	}
	var judgements []judgement
	var found []string
	better := map[string]int{}
	smallest := math.Inf(1)
	for _, g := range gains {
		if g.KL != "paper" || g.Pairs > starvedLimit {
			continue
		}
		j := g.judge()
		if j.verdict == report.Holds {
			better[g.Over]++
		}
		if g.Over == locPlain {
			judgements = append(judgements, j)
			found = append(found, fmt.Sprintf("%d pairs: %s", g.Pairs, g.Gain.format("%.3f")))
			if len(g.Gain.Values) > 0 {
				smallest = min(smallest, g.Gain.Mean)
			}
		}
	}
	sizes := len(judgements)
	c.Ours = fmt.Sprintf("Position NLL of the plain network minus that of the physics-informed one, paired by training set: %s nats; the 95 %% interval is above 0 at %d of %d sizes up to 2⁹ (bar: all). Over the plain network with photons in hundreds it is above 0 at %d.",
		strings.Join(found, ", "), better[locPlain], sizes, better[locScaled])
	if !math.IsInf(smallest, 0) {
		c.Value = smallest
	}
	r := run.against(starvedNeed)
	r.need += fmt.Sprintf(" at %d sizes up to 2⁹", starvedNeedSizes)
	r.have += fmt.Sprintf(" at %d", sizes)
	r.met = r.met && sizes >= starvedNeedSizes
	c.judge(r, func() judgement { return allOf(judgements...) })
	return c
}

// judge leaves a size undecided if a training has no score.
func (g StarvedGain) judge() judgement {
	if g.Unscored > 0 {
		return judgement{report.Undecided, fmt.Sprintf("Undecided at %d pairs: on %d of the training sets a training diverged before its first score.", g.Pairs, g.Unscored)}
	}
	return g.Gain.positive(fmt.Sprintf("the gain at %d pairs", g.Pairs))
}

var starvedLooks = []struct {
	outputs, name string
	colour        report.Colour
}{
	{locPhysics, "physics-informed", report.Series(2)}, {locPlain, "plain", report.Ink}, {locScaled, "plain, photons in hundreds", report.Series(1)},
}

var starvedWeights = []struct {
	kl, title, name string
	colour          report.Colour
}{
	{"paper", "(a)  weight φ(l)", "φ(l)", report.Series(0)}, {"full", "(b)  full KL/N", "KL/N", report.Series(3)},
}

func starvedFigure(cells []StarvedCell, gains []StarvedGain) report.Figure {
	pairs := report.Axis{Label: "training pairs", Scale: report.Log2}
	var g report.Grid
	paired := report.Chart{
		Title: "(c)  plain − physics", X: pairs, Y: report.Axis{Label: "difference (nats)"},
		Levels: []report.Level{{Colour: report.Grey, Dashed: true}},
	}
	for _, w := range starvedWeights {
		chart := report.Chart{
			Title: w.title, X: pairs, Y: report.Axis{Label: "best position NLL (nats)"},
			Levels: []report.Level{{Name: "prior alone", Colour: report.Grey, Y: starvedPrior, Dashed: true}},
		}
		for _, look := range starvedLooks {
			t := report.Trace{Name: look.name, Colour: look.colour, Style: report.LineMarks}
			for _, c := range cells {
				if c.Outputs == look.outputs && c.KL == w.kl && len(c.Best.Values) > 0 {
					t.X = append(t.X, float64(c.Pairs))
					t.Y = append(t.Y, c.Best.Mean)
					t.SD = append(t.SD, c.Best.SD)
				}
			}
			chart.Traces = append(chart.Traces, t)
		}
		g.Charts = append(g.Charts, chart)
		t := report.Trace{Name: "(c) with " + w.name, Colour: w.colour, Style: report.LineMarks}
		for _, gain := range gains {
			if gain.KL == w.kl && gain.Over == locPlain && len(gain.Gain.Values) > 0 {
				_, hi, _ := gain.Gain.interval()
				t.X = append(t.X, float64(gain.Pairs))
				t.Y = append(t.Y, gain.Gain.Mean)
				t.SD = append(t.SD, hi-gain.Gain.Mean)
			}
		}
		paired.Traces = append(paired.Traces, t)
	}
	g.Charts = append(g.Charts, paired)
	return g
}

func starvedTable(s Size, cells []StarvedCell, gains []StarvedGain) report.Table {
	t := report.Table{
		Caption: fmt.Sprintf("Lowest position NLL during %d steps, %s, each with its own training set; and the NLL of the plain network minus that of the physics-informed one, paired by training set, with a 95 %% interval.", starvedSteps(s), ofReplicates(starvedReplicates(s))),
		Head:    []string{"pairs", "KL"},
	}
	for _, look := range starvedLooks {
		t.Head = append(t.Head, look.name)
	}
	t.Head = append(t.Head, "plain minus physics", "95 % interval")
	for _, w := range starvedWeights {
		for _, g := range gains {
			if g.KL != w.kl || g.Over != locPlain {
				continue
			}
			row := []string{fmt.Sprint(g.Pairs), w.name}
			for _, look := range starvedLooks {
				row = append(row, starvedAt(cells, g.Pairs, look.outputs, g.KL).Best.format("%.3f"))
			}
			interval := ""
			if lo, hi, ok := g.Gain.interval(); ok {
				interval = fmt.Sprintf("%.3f to %.3f", lo, hi)
			}
			t.Rows = append(t.Rows, append(row, g.Gain.format("%.3f"), interval))
		}
	}
	return t
}
