package experiment

import (
	"fmt"
	"math"
	"strings"
)

// The sizes that the claims need: steps of the table's trainings and of the
// localisation's.
var (
	truthNeed             = runSize{1, 2000}
	truthLocalizationNeed = runSize{1, 8000}
)

const truthPaper = "The paper does not compare: it takes the propagated variance as that of the posterior."

// truthClaims judge the table's networks, and the localisation.
func truthClaims(s Size, rows []*TruthRow) []Claim {
	run := runSize{truthReplicates(s), truthTasks[0].steps(s)}
	onTables := func(is func(r *TruthRow) bool) (some []*TruthRow) {
		for _, r := range rows {
			if (r.Task == truthReLU || r.Task == truthGELU) && is(r) {
				some = append(some, r)
			}
		}
		return some
	}
	blind := func(r *TruthRow) bool { return r.Rule == "ut(2)" }

	hidden := onTables(func(r *TruthRow) bool { return blind(r) && !r.Correlated })
	hides := truthClaim("ut-hides-variance", "Three sigma points hide variance from training", hidden, "UT(2) hides variance from training", "below 0.5")
	for _, r := range hidden {
		hides.Value = max(hides.Value, r.Ratio.Mean)
	}
	hides.Shown = fmt.Sprintf("σ propagated / σ drawn at most %.2f", hides.Value)
	hides.judge(run.against(truthNeed), func() judgement {
		return meets(bar{"every ratio below 0.5", hides.Value < 0.5})
	})

	open := onTables(func(r *TruthRow) bool { return !blind(r) && !r.Correlated })
	sees := truthClaim("no-blind-spot", "The closed form and five points do not", open, "Rules without a blind spot do not hide it", "0.75 or more")
	sees.Value = math.Inf(1)
	for _, r := range open {
		sees.Value = min(sees.Value, r.Ratio.Mean)
	}
	sees.Shown = fmt.Sprintf("σ propagated / σ drawn at least %.2f", sees.Value)
	sees.judge(run.against(truthNeed), func() judgement {
		return meets(bar{"every ratio 0.75 or more", sees.Value >= 0.75})
	})

	carried := onTables(func(r *TruthRow) bool { return !blind(r) && r.Correlated })
	truth := truthClaim("correlations-carried", "With correlations the variance is the posterior's own", carried, "With correlations carried, too, the variance is the posterior's own", "within 5 % of 1, and 0.85 to 1.15 for nine of ten rows")
	truth.Value = 1
	wide := false
	for _, r := range carried {
		if math.Abs(r.Ratio.Mean-1) >= math.Abs(truth.Value-1) {
			truth.Value = r.Ratio.Mean
		}
		wide = wide || r.P05.Mean < 0.85 || r.P95.Mean > 1.15
	}
	truth.Shown = fmt.Sprintf("σ propagated / σ drawn %.2f, the furthest from 1", truth.Value)
	truth.judge(run.against(truthNeed), func() judgement {
		return meets(bar{"every median within 5 %", math.Abs(truth.Value-1) <= 0.05}, bar{"nine of ten rows within 0.85 to 1.15", !wide})
	})
	return []Claim{hides, sees, truth, truthLocated(s, rows)}
}

// truthLocated judges the localisation's positions by the closed form.
func truthLocated(s Size, rows []*TruthRow) Claim {
	var both []*TruthRow
	for _, r := range rows {
		if r.Task == truthLocalization && r.Rule == "exact" {
			both = append(both, r) // independent, correlated
		}
	}
	c := truthClaim("localisation-carried", "So it is for positions of the localisation", both, "The same for the positions of the localisation", "with correlations within 5 % of 1")
	c.Value = both[1].Ratio.Mean
	c.Shown = fmt.Sprintf("σ propagated / σ drawn %.2f", c.Value)
	run := runSize{truthReplicates(s), truthTasks[3].steps(s)}
	c.judge(run.against(truthLocalizationNeed), func() judgement {
		return meets(bar{"the median within 5 %", math.Abs(c.Value-1) <= 0.05})
	})
	return c
}

func truthClaim(id, title string, rows []*TruthRow, what, bars string) Claim {
	var parts []string
	evidence := map[string]any{}
	for _, r := range rows {
		name := truthTitle(r.Task) + " by " + r.Rule
		if r.Correlated {
			name += ", correlated"
		}
		parts = append(parts, fmt.Sprintf("%s (%.2f to %.2f) for the %s", r.Ratio.format("%.2f"), r.P05.Mean, r.P95.Mean, name))
		evidence[name] = r.Ratio
	}
	return Claim{
		ID: id, Title: title, Paper: truthPaper, Own: true,
		Ours:     fmt.Sprintf("%s: σ propagated / σ drawn is %s. Bar: %s.", what, strings.Join(parts, "; "), bars),
		Evidence: evidence,
	}
}
