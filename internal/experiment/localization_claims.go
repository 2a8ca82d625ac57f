package experiment

import (
	"fmt"
	"strings"

	"utvi/internal/report"
)

// The sizes that the localisation's claims need: scores differ early, but errors
// come close to the bound only in a whole training.
var (
	locScoreNeed = runSize{2, 5 * locEpochSteps}
	locMapNeed   = runSize{5, locFullSteps}
)

// mc3Unstable compares the best epochs, which favours a method that fails later. The
// gradients show how it fails.
func mc3Unstable(run runSize, methods, unclipped []LocalizationMethod) Claim {
	ut := methods[0]
	mc10 := methods[1]
	mc3 := methods[2]
	c := Claim{
		ID:    "mc3-unstable",
		Paper: "MC with n = 3 samples explodes in training; UT with as many points does not, and beats MC with n = 10.",
		Evidence: map[string]any{
			"best_position_nll":  byMethod(methods, func(m LocalizationMethod) any { return m.Best }),
			"final_position_nll": byMethod(methods, func(m LocalizationMethod) any { return m.Final }),
			"max_gradient_norm":  byMethod(methods, func(m LocalizationMethod) any { return m.MaxGrad }),
			"clipped_share":      byMethod(methods, func(m LocalizationMethod) any { return m.Clipped }),
			"diverged":           byMethod(methods, func(m LocalizationMethod) any { return m.Diverged }),
			"unclipped": byMethod(unclipped, func(m LocalizationMethod) any {
				return map[string]any{"best_position_nll": m.Best, "max_gradient_norm": m.MaxGrad, "diverged": m.Trials[0].Diverged}
			}),
		},
	}
	if len(ut.Best.Values) > 0 && len(mc3.Best.Values) > 0 {
		c.Value = mc3.Best.Mean - ut.Best.Mean
	}
	var without []string
	for _, m := range unclipped {
		if d := m.Trials[0].Diverged; d != nil {
			without = append(without, fmt.Sprintf("%s diverges at step %d", m.Name, d.Step))
		} else {
			without = append(without, fmt.Sprintf("%s has gradient norms up to %.0f", m.Name, m.MaxGrad.Mean))
		}
	}
	c.Ours = fmt.Sprintf("Best position NLL: UT %s, MC10 %s, MC3 %s nats (bar: in this order). In the same order: the largest gradient norm of a training is on average %.0f, %.0f and %.0f; gradients are clipped to %d in %.3g %%, %.3g %% and %.3g %% of the steps; of %d trainings each, %d, %d and %d diverge. Without clipping: %s.",
		ut.Best.format("%.3f"), mc10.Best.format("%.3f"), mc3.Best.format("%.3f"),
		ut.MaxGrad.Mean, mc10.MaxGrad.Mean, mc3.MaxGrad.Mean,
		locClip, 100*ut.Clipped.Mean, 100*mc10.Clipped.Mean, 100*mc3.Clipped.Mean,
		len(ut.Trials), ut.Diverged, mc10.Diverged, mc3.Diverged, strings.Join(without, ", "))
	c.judge(run.against(locScoreNeed), func() judgement {
		return meets(bar{"UT below MC10", ut.Best.below(mc10.Best)}, bar{"MC10 below MC3", mc10.Best.below(mc3.Best)})
	})
	return c
}

func byMethod(methods []LocalizationMethod, f func(LocalizationMethod) any) map[string]any {
	r := map[string]any{}
	for _, m := range methods {
		r[m.Name] = f(m)
	}
	return r
}

// varianceFollowsBound judges the means over UT's replicates, and UT's distance to
// the bound against MC10's, replicate by replicate.
func varianceFollowsBound(run runSize, methods []LocalizationMethod) Claim {
	ut, mc10 := methods[0].Maps, methods[1].Maps
	both := func(name, verb string) string {
		return fmt.Sprintf("UT %s, MC10 %s", ut[name].format(verb), mc10[name].format(verb))
	}
	d := methods[1].distanceMinus(methods[0])
	c := Claim{
		ID:    "variance-follows-crb",
		Paper: "The variance that UT predicts follows the Cramér–Rao bound across the image, more closely than MC's.",
		Ours: fmt.Sprintf("Distance of the predicted variance from the exact bound, root mean square over pixels of ln(variance / bound): %s; MC10 minus UT, paired by seed: %s%s; bar: the interval is above 0. Squared error over bound: %s in the centre, %s in the median pixel (bars for UT: 1.12, 1.15). UT's predicted variance over squared error: %s and %s (bars: 0.85 to 1.15). UT's predicted variance over bound is within 0.8 to 1.5 in %s of the pixels (bar: 0.9). Correlation of the logarithms, which cannot see a common factor: %s.",
			both("log_distance", "%.3f"), d.format("%.3f"), d.intervalText("%.3f"),
			both("centre_error_over_bound", "%.3f"), both("median_error_over_bound", "%.3f"),
			ut["centre_variance_over_error"].format("%.3f"), ut["median_variance_over_error"].format("%.3f"),
			ut["pixels_within"].format("%.2f"), both("log_correlation", "%.4f")),
		Value:    ut["log_distance"].Mean,
		Evidence: map[string]any{"ut": ut, "mc10": mc10, "mc10_distance_minus_ut": d},
	}
	within := func(what, name string, lo, hi float64) bar {
		s := ut[name]
		return bar{what, len(s.Values) > 0 && s.Mean >= lo && s.Mean <= hi}
	}
	c.judge(run.against(locMapNeed), func() judgement {
		return allOf(d.positive("MC10's distance minus UT's"), meets(
			within("error in the centre", "centre_error_over_bound", 0, 1.12),
			within("error in the median pixel", "median_error_over_bound", 0, 1.15),
			within("variance over error in the centre", "centre_variance_over_error", 0.85, 1.15),
			within("variance over error in the median pixel", "median_variance_over_error", 0.85, 1.15),
			within("variance over bound in most pixels", "pixels_within", 0.9, 1)))
	})
	return c
}

// distanceMinus is m's distance from the bound minus o's, over the replicates that
// have maps of both.
func (m LocalizationMethod) distanceMinus(o LocalizationMethod) (d Stat) {
	for i, t := range m.Trials {
		if other := o.Trials[i]; t.Variance != nil && other.Variance != nil {
			d.add(t.numbers().Distance - other.numbers().Distance)
		}
	}
	return d
}

func locTable(s Size, methods []LocalizationMethod) report.Table {
	t := report.Table{
		Caption: fmt.Sprintf("NLL of %d unseen emitters, %s after %d steps. Best is the lowest of all epochs, chosen on the same emitters. A training that diverges counts up to its last epoch.", locValidation, ofReplicates(locReplicates(s)), locSteps(s)),
		Head:    []string{"method", "best position", "final position", "final photons", "largest gradient", "steps clipped %", "diverged"},
	}
	for _, m := range methods {
		t.Rows = append(t.Rows, []string{m.Name, m.Best.format("%.3f"), m.Final.format("%.3f"), m.Photons.format("%.2f"),
			m.MaxGrad.format("%.0f"), fmt.Sprintf("%.2f", 100*m.Clipped.Mean), fmt.Sprint(m.Diverged)})
	}
	return t
}

func locMapTable(s Size, methods []LocalizationMethod) report.Table {
	t := report.Table{
		Caption: fmt.Sprintf("The final networks by pixel, %d emitters in each: squared error e, predicted variance v, exact bound b, all means of x and y; the distance is the root mean square over pixels of ln(v/b); %s.", locPerPixel(s), ofReplicates(locReplicates(s))),
		Head:    []string{"method", "e/b centre", "e/b median", "v/e centre", "v/e median", "v/b in 0.8–1.5", "distance of v from b", "correlation of logs"},
	}
	for _, m := range methods {
		row := []string{m.Name}
		for _, c := range []struct{ name, verb string }{
			{"centre_error_over_bound", "%.3f"}, {"median_error_over_bound", "%.3f"}, {"centre_variance_over_error", "%.3f"},
			{"median_variance_over_error", "%.3f"}, {"pixels_within", "%.2f"}, {"log_distance", "%.3f"}, {"log_correlation", "%.3f"},
		} {
			row = append(row, m.Maps[c.name].format(c.verb))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}
