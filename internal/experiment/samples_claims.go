package experiment

import (
	"fmt"
	"math"
	"strings"

	"utvi/internal/report"
	"utvi/moment"
)

// The sizes that the claims about samples need: the crossing is where a difference
// can no longer be seen, and that depends on the number of replicates.
var samplesNeed = runSize{10, fcEpochs * fcEpochSteps}

const (
	samplesNeedCounts = 8 // up to 2⁸ samples
	timingNeed        = 10
)

// crossing is the index of the smallest n whose difference to UT is within the
// error. ok is false if no n reaches UT, or with one replicate.
func (n *SamplesNumbers) crossing() (i int, ok bool) {
	for i, d := range n.Difference {
		if lo, hi, ok := d.interval(); ok && lo <= 0 && hi >= 0 {
			return i, true
		}
	}
	return len(n.Samples) - 1, false
}

// beyond names the numbers of samples above a crossing that differ from UT all the
// same: the first interval that contains 0 may just be a wide one.
func (n *SamplesNumbers) beyond(crossing int) string {
	var differ []string
	for i := crossing + 1; i < len(n.Difference); i++ {
		if lo, hi, ok := n.Difference[i].interval(); ok && (lo > 0 || hi < 0) {
			differ = append(differ, fmt.Sprint(n.Samples[i]))
		}
	}
	if differ == nil {
		return ""
	}
	return " Yet these larger n differ: " + strings.Join(differ, ", ") + "."
}

func (n *SamplesNumbers) relative(rule string) float64 { return n.Seconds[rule] / n.Seconds["ut(2)"] }

func (n *SamplesNumbers) claims(run runSize, rounds int) []Claim {
	r := run.against(samplesNeed)
	r.need += fmt.Sprintf(" with %d numbers of samples", samplesNeedCounts)
	r.have += fmt.Sprintf(" with %d", len(n.Samples))
	r.met = r.met && len(n.Samples) >= samplesNeedCounts
	return []Claim{n.crossingClaim(r), n.costClaim(r), n.closedFormClaim(rounds)}
}

// crossingClaim has the value 0 where no n reaches UT.
func (n *SamplesNumbers) crossingClaim(r requirement) Claim {
	i, ok := n.crossing()
	at := n.Samples[i]
	found := fmt.Sprintf("MC minus UT, paired by seed, at n = %d: %s nats%s.", at, n.Difference[i].format("%.4f"), n.Difference[i].intervalText("%.4f"))
	c := Claim{
		ID: "mc-crossing", Paper: "Monte Carlo reaches UT's NLL at about 2⁷ samples.",
		Ours:     fmt.Sprintf("No n up to %d is shown to reach UT. %s", at, found),
		Evidence: map[string]any{"samples": n.Samples, "difference": n.Difference},
	}
	if ok {
		c.Value = float64(at)
		c.Ours = fmt.Sprintf("The smallest n whose best NLL does not differ from UT's is %d (bar for \"about 2⁷\": 64 to 256). %s%s", at, found, n.beyond(i))
	}
	c.judge(r, func() judgement { return meets(bar{"the crossing", ok && at >= 64 && at <= 256}) })
	return c
}

// costClaim is about the cost at the crossing.
func (n *SamplesNumbers) costClaim(r requirement) Claim {
	i, ok := n.crossing()
	ratio := n.relative(moment.MonteCarlo(n.Samples[i]).String())
	c := Claim{
		ID: "mc-cost-ratio", Paper: "There it takes ten times the time of UT.",
		Ours: fmt.Sprintf("A forward pass of 1,024 rows with n = %d takes %.1f times as long as with UT, with n = 128 %.1f times (bar for \"ten times\": 5 to 20).",
			n.Samples[i], ratio, n.relative("mc(128)")),
		Value:    ratio,
		Evidence: map[string]any{"seconds": n.Seconds},
	}
	c.judge(r, func() judgement {
		if !ok {
			return judgement{report.Undecided, "Undecided: no number of samples reaches UT, so there is no cost to compare."}
		}
		return meets(bar{"the ratio", ratio >= 5 && ratio <= 20})
	})
	return c
}

func (n *SamplesNumbers) closedFormClaim(rounds int) Claim {
	smp := n.relative("exact")
	c := Claim{
		ID: "ut-costs-like-smp", Paper: "UT costs about as much as the closed form.",
		Ours: fmt.Sprintf("A forward pass takes %.2f times as long as SMP's (UT %.3f ms, SMP %.3f ms for 1,024 rows on one core; bar: half to double).",
			1/smp, 1e3*n.Seconds["ut(2)"], 1e3*n.Seconds["exact"]),
		Value:    1 / smp,
		Evidence: map[string]any{"seconds": n.Seconds},
	}
	r := requirement{fmt.Sprintf("%d timed rounds", timingNeed), fmt.Sprint(rounds), rounds >= timingNeed}
	c.judge(r, func() judgement { return meets(bar{"the ratio", math.Abs(math.Log2(smp)) <= 1}) })
	return c
}
