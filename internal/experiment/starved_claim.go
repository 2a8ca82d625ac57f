package experiment

import (
	"fmt"
	"math"
	"strings"

	"utvi/internal/report"
)

// The claim about few examples needs several replicates at all five sizes up to 2⁹.
var starvedNeed = runSize{5, starvedFullSteps}

const starvedNeedSizes = 5

// physicsHelps judges by the paper's own measure: all three targets, one training set, over
// the plain network. The other measures are told beside it.
func physicsHelps(run runSize, gains []StarvedGain) Claim {
	c := Claim{
		ID: "physics-helps", Title: "Physics-informed outputs help where data are few",
		Paper:    "With at most 2⁹ training pairs, the physics-informed activations lower the NLL on unseen data.",
		Evidence: map[string]any{"gains": gains},
	}
	few := func(g StarvedGain) bool { return g.KL == "paper" && g.Pairs <= starvedLimit && g.usual(run.steps) }
	own := countGains(gains, func(g StarvedGain) bool {
		return few(g) && g.Shared && g.Measure == starvedTotal && g.Over == locPlain
	})
	others := func(shared bool, measure, over string) string {
		n := countGains(gains, func(g StarvedGain) bool {
			return few(g) && g.Shared == shared && g.Measure == measure && g.Over == over
		})
		return n.text()
	}
	c.Ours = fmt.Sprintf("NLL of x, y and photons of the plain network minus that of the physics-informed one, one training set, paired by initialisation: %s nats; %s (bar: better at all). The position alone: %s. With training sets of each replicate's own: %s, the position alone %s. Over the plain network with photons in hundreds, one training set: %s, the position alone %s.",
		strings.Join(own.found, ", "), own.text(), others(true, starvedPosition, locPlain),
		others(false, starvedTotal, locPlain), others(false, starvedPosition, locPlain),
		others(true, starvedTotal, locScaled), others(true, starvedPosition, locScaled))
	c.Shown = own.text()
	if !math.IsInf(own.smallest, 0) {
		c.Value = own.smallest
	}
	sizes := len(own.judgements)
	r := run.against(starvedNeed)
	r.need += fmt.Sprintf(" at %d sizes up to 2⁹", starvedNeedSizes)
	r.have += fmt.Sprintf(" at %d", sizes)
	r.met = r.met && sizes >= starvedNeedSizes
	c.judge(r, func() judgement { return allOf(own.judgements...) })
	return c
}

// A gainCount says at how many sizes of training set physics helps.
type gainCount struct {
	judgements    []judgement
	found         []string // the gains in words
	smallest      float64
	better, worse int
}

func countGains(gains []StarvedGain, take func(StarvedGain) bool) gainCount {
	n := gainCount{smallest: math.Inf(1)}
	for _, g := range gains {
		if take(g) {
			n.take(g)
		}
	}
	return n
}

// take counts a gain.
func (n *gainCount) take(g StarvedGain) {
	j := g.judge()
	n.judgements = append(n.judgements, j)
	n.found = append(n.found, fmt.Sprintf("%d pairs: %s", g.Pairs, g.Gain.format("%.3f")))
	if len(g.Gain.Values) > 0 {
		n.smallest = min(n.smallest, g.Gain.Mean)
	}
	switch j.verdict {
	case report.Holds:
		n.better++
	case report.Fails:
		n.worse++
	}
}

func (n gainCount) text() string {
	return fmt.Sprintf("better at %d, worse at %d of %d sizes up to 2⁹", n.better, n.worse, len(n.judgements))
}

// judge leaves a size undecided if a training has no score.
func (g StarvedGain) judge() judgement {
	if g.Unscored > 0 {
		return judgement{report.Undecided, fmt.Sprintf("Undecided at %d pairs: in %d of the replicates a training diverged before its first score.", g.Pairs, g.Unscored)}
	}
	return g.Gain.positive(fmt.Sprintf("the gain at %d pairs", g.Pairs))
}
