package experiment

import (
	"fmt"
	"strings"

	"utvi/internal/report"
)

// A claim is judged only by a run of the size it needs: a smaller run leaves it
// undecided, whatever its numbers are. So a short run never denies what a longer
// one shows.

// A runSize is the number of trainings of each method, and the steps of each.
type runSize struct{ replicates, steps int }

func (r runSize) String() string {
	if r.replicates == 1 {
		return fmt.Sprintf("1 replicate of %d steps", r.steps)
	}
	return fmt.Sprintf("%d replicates of %d steps", r.replicates, r.steps)
}

// against compares the size of a run with the one that a claim needs.
func (r runSize) against(need runSize) requirement {
	return requirement{need.String(), r.String(), r.replicates >= need.replicates && r.steps >= need.steps}
}

// A requirement is what a claim needs, and what a run has of it.
type requirement struct {
	need, have string
	met        bool
}

// A judgement is a verdict with a sentence that explains it, unless it is Holds.
type judgement struct {
	verdict report.Verdict
	why     string
}

// judge gives the claim its verdict. The test runs only where the requirement is
// met.
func (c *Claim) judge(r requirement, test func() judgement) {
	c.Needs = r.need
	j := judgement{report.Undecided, fmt.Sprintf("Undecided: the claim needs %s, and this run has %s.", r.need, r.have)}
	if r.met {
		j = test()
	}
	c.Verdict, c.Why = j.verdict, j.why
}

// allOf holds if all judgements hold, and fails if one fails.
func allOf(js ...judgement) judgement {
	for _, v := range []report.Verdict{report.Fails, report.Undecided} {
		var why []string
		for _, j := range js {
			if j.verdict == v {
				why = append(why, j.why)
			}
		}
		if why != nil {
			return judgement{v, strings.Join(why, " ")}
		}
	}
	return judgement{verdict: report.Holds}
}

// A bar is a condition that a claim must meet.
type bar struct {
	what string
	met  bool
}

// meets holds if every bar is met, and fails otherwise.
func meets(bars ...bar) judgement {
	var missed []string
	for _, b := range bars {
		if !b.met {
			missed = append(missed, b.what)
		}
	}
	if missed == nil {
		return judgement{verdict: report.Holds}
	}
	return judgement{report.Fails, "Bars missed: " + strings.Join(missed, ", ") + "."}
}

// positive judges a difference that the claim says is above 0, by its 95 %
// interval. What names the difference.
func (s Stat) positive(what string) judgement {
	switch lo, hi, ok := s.interval(); {
	case !ok:
		return judgement{report.Undecided, fmt.Sprintf("Undecided: an interval of %s needs at least two replicates.", what)}
	case lo > 0:
		return judgement{verdict: report.Holds}
	case hi < 0:
		return judgement{report.Fails, fmt.Sprintf("The 95 %% interval of %s lies below 0.", what)}
	}
	return judgement{report.Undecided, fmt.Sprintf("Undecided: the 95 %% interval of %s contains 0.", what)}
}
