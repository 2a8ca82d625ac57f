package experiment

import (
	"fmt"

	"utvi/internal/report"
	"utvi/moment"
)

// The sizes that the claims about samples need: trainings differ from one another by about
// as much as Monte Carlo with many samples differs from UT.
var samplesNeed = runSize{10, fcEpochs * fcEpochSteps}

const (
	samplesNeedCounts = 8 // up to 2⁸ samples
	timingNeed        = 10
	paperSamples      = 128 // what the paper says that Monte Carlo needs
)

// crossing is the index of the smallest n from which on Monte Carlo is as good as UT: on
// average it is worse by no more than one training with UT differs from the next. That spread
// does not shrink with the number of replicates, as an interval of the mean does. ok is
// false if no n is, or with one replicate.
func (n *SamplesNumbers) crossing() (i int, ok bool) {
	spread := n.Methods[0].Best.SD
	first := len(n.Samples)
	for first > 0 && n.Difference[first-1].Mean <= spread {
		first--
	}
	if first == len(n.Samples) || len(n.Methods[0].Best.Values) < 2 {
		return len(n.Samples) - 1, false
	}
	return first, true
}

func (n *SamplesNumbers) relative(rule string) float64 { return n.Seconds[rule] / n.Seconds["ut(2)"] }

func (n *SamplesNumbers) claims(run runSize, rounds int) []Claim {
	r := run.against(samplesNeed)
	r.need += fmt.Sprintf(" with %d numbers of samples", samplesNeedCounts)
	r.have += fmt.Sprintf(" with %d", len(n.Samples))
	r.met = r.met && len(n.Samples) >= samplesNeedCounts
	return []Claim{n.crossingClaim(r), n.costClaim(rounds), n.closedFormClaim(rounds)}
}

// crossingClaim has the value 0 where no n reaches UT.
func (n *SamplesNumbers) crossingClaim(r requirement) Claim {
	i, ok := n.crossing()
	at := n.Samples[i]
	spread := n.Methods[0].Best.SD
	found := fmt.Sprintf("MC minus UT, paired by seed, at n = %d: %s nats%s; trainings with UT differ by %.4f (sd).", at, n.Difference[i].format("%.4f"), n.Difference[i].intervalText("%.4f"), spread)
	c := Claim{
		ID: "mc-crossing", Title: "Monte Carlo needs about 128 samples", Paper: "Monte Carlo reaches UT's NLL at about 2⁷ samples.",
		Ours:     fmt.Sprintf("No n up to %d is shown to reach UT. %s", at, found),
		Shown:    fmt.Sprintf("more than %d samples", at),
		Evidence: map[string]any{"samples": n.Samples, "difference": n.Difference, "spread_of_ut": spread},
	}
	if ok {
		c.Value = float64(at)
		c.Shown = fmt.Sprintf("%d samples", at)
		c.Ours = fmt.Sprintf("From n = %d on the best NLL is above UT's by no more than one training with UT differs from the next (bar for \"about 2⁷\": 64 to 256). %s", at, found)
	}
	c.judge(r, func() judgement { return meets(bar{"the crossing", ok && at >= 64 && at <= 256}) })
	return c
}

// timed is what a claim about times needs.
func timed(rounds int) requirement {
	return requirement{fmt.Sprintf("%d timed rounds", timingNeed), fmt.Sprint(rounds), rounds >= timingNeed}
}

// costClaim is about the cost at the paper's number of samples. Being cheaper than the paper
// says is no fault.
func (n *SamplesNumbers) costClaim(rounds int) Claim {
	ratio := n.relative(moment.MonteCarlo(paperSamples).String())
	c := Claim{
		ID: "mc-cost-ratio", Title: "UT is ten times cheaper than Monte Carlo with 128 samples", Paper: "UT is ten times cheaper than Monte Carlo of the same NLL, at 2⁷ samples.",
		Ours: fmt.Sprintf("A forward pass of 1,024 rows with n = %d takes %.1f times as long as with UT on one core (bar for \"ten times\": 5 to 20; above it, the claim holds by more).%s",
			paperSamples, ratio, n.onCard("mc(128)", "n = 128 takes %.1f times as long")),
		Value:    ratio,
		Shown:    fmt.Sprintf("%.0f times as long", ratio),
		Evidence: map[string]any{"seconds": n.Seconds, "card_seconds": n.CardSeconds},
	}
	c.judge(timed(rounds), func() judgement {
		if ratio > 20 {
			return judgement{report.Exceeds, "UT is cheaper than claimed."}
		}
		return meets(bar{"the ratio", ratio >= 5})
	})
	return c
}

// onCard says how a rule's time on a card compares with UT's there, nothing where no card
// was at work.
func (n *SamplesNumbers) onCard(rule, format string) string {
	if len(n.CardSeconds) == 0 {
		return ""
	}
	return " On the card " + fmt.Sprintf(format, n.CardSeconds[rule]/n.CardSeconds["ut(2)"]) + "."
}

func (n *SamplesNumbers) closedFormClaim(rounds int) Claim {
	ratio := 1 / n.relative("exact")
	c := Claim{
		ID: "ut-costs-like-smp", Title: "UT is no dearer than the closed form", Paper: "UT costs about as much as the closed form.",
		Ours: fmt.Sprintf("A forward pass takes %.2f times as long as SMP's (UT %.3f ms, SMP %.3f ms for 1,024 rows on one core; bar: half to double; below it, the claim holds by more).%s",
			ratio, 1e3*n.Seconds["ut(2)"], 1e3*n.Seconds["exact"], n.onCard("exact", "the closed form takes %.2f times as long as UT")),
		Value:    ratio,
		Shown:    fmt.Sprintf("%.2f of its time", ratio),
		Evidence: map[string]any{"seconds": n.Seconds, "card_seconds": n.CardSeconds},
	}
	c.judge(timed(rounds), func() judgement {
		if ratio < 0.5 {
			return judgement{report.Exceeds, "UT is cheaper than claimed."}
		}
		return meets(bar{"the ratio", ratio <= 2})
	})
	return c
}
