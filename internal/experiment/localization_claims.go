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

// mc3Fails compares the best epochs, which favours a method that fails later.
func mc3Fails(run runSize, methods []LocalizationMethod) Claim {
	ut := methods[0]
	mc10 := methods[1]
	mc3 := methods[2]
	c := Claim{
		ID: "mc3-fails", Title: "With three samples the localisation fails; UT beats ten",
		Paper: "With n = 3 samples MC trains badly; UT with as many points does not, and beats MC with n = 10.",
		Evidence: map[string]any{
			"best_position_nll":  byMethod(methods, func(m LocalizationMethod) any { return m.Best }),
			"final_position_nll": byMethod(methods, func(m LocalizationMethod) any { return m.Final }),
		},
	}
	if len(ut.Best.Values) > 0 && len(mc3.Best.Values) > 0 {
		c.Value = mc3.Best.Mean - ut.Best.Mean
	}
	c.Shown = fmt.Sprintf("position NLL %.2f (UT), %.2f (ten), %.2f (three)", ut.Best.Mean, mc10.Best.Mean, mc3.Best.Mean)
	c.Ours = fmt.Sprintf("Best position NLL: UT %s, MC10 %s, MC3 %s nats (bar: in this order). The prior of the positions alone scores %.2f.",
		ut.Best.format("%.3f"), mc10.Best.format("%.3f"), mc3.Best.format("%.3f"), starvedPrior)
	c.judge(run.against(locScoreNeed), func() judgement {
		return meets(bar{"UT below MC10", ut.Best.below(mc10.Best)}, bar{"MC10 below MC3", mc10.Best.below(mc3.Best)})
	})
	return c
}

// mc3Explodes asks whether trainings end in numbers that are not finite, with the gradients
// clipped as in all trainings, and without.
func mc3Explodes(run runSize, methods, unclipped []LocalizationMethod) Claim {
	ut := methods[0]
	mc10 := methods[1]
	mc3 := methods[2]
	c := Claim{
		ID: "mc3-explodes", Title: "With three samples training explodes",
		Paper: "Training with n = 3 samples explodes; UT with as many points does not.",
		Evidence: map[string]any{
			"max_gradient_norm": byMethod(methods, func(m LocalizationMethod) any { return m.MaxGrad }),
			"clipped_share":     byMethod(methods, func(m LocalizationMethod) any { return m.Clipped }),
			"diverged":          byMethod(methods, func(m LocalizationMethod) any { return m.Diverged }),
			"unclipped": byMethod(unclipped, func(m LocalizationMethod) any {
				return map[string]any{"best_position_nll": m.Best, "max_gradient_norm": m.MaxGrad, "diverged": m.Diverged}
			}),
		},
	}
	all := len(mc3.Trials) + len(unclipped[2].Trials)
	diverged := mc3.Diverged + unclipped[2].Diverged
	c.Shown = fmt.Sprintf("%d of %d trainings diverge", diverged, all)
	if ut.MaxGrad.Mean > 0 {
		c.Value = mc3.MaxGrad.Mean / ut.MaxGrad.Mean
		c.Shown += fmt.Sprintf("; gradients up to %.0f times UT's", c.Value)
	}
	c.Ours = fmt.Sprintf("%s with three samples, with gradients clipped to %d and without; with UT %d of %d (bars: at least half of MC3's, none of UT's). The largest gradient norm of a training is on average %.0f (UT), %.0f (MC10) and %.0f (MC3); gradients are clipped in %.3g %%, %.3g %% and %.3g %% of the steps. Without clipping: %s.",
		c.Shown, locClip, ut.Diverged+unclipped[0].Diverged, len(ut.Trials)+len(unclipped[0].Trials),
		ut.MaxGrad.Mean, mc10.MaxGrad.Mean, mc3.MaxGrad.Mean, 100*ut.Clipped.Mean, 100*mc10.Clipped.Mean, 100*mc3.Clipped.Mean, withoutClipping(unclipped))
	c.judge(run.against(locScoreNeed), func() judgement {
		return meets(bar{"half of MC3's trainings diverge", 2*diverged >= all}, bar{"none of UT's", ut.Diverged+unclipped[0].Diverged == 0})
	})
	return c
}

// withoutClipping tells how trainings without a limit on the gradients went.
func withoutClipping(unclipped []LocalizationMethod) string {
	var without []string
	for _, m := range unclipped {
		if d := m.Trials[0].Diverged; d != nil {
			without = append(without, fmt.Sprintf("%s diverges at step %d", m.Name, d.Step))
		} else {
			without = append(without, fmt.Sprintf("%s has gradient norms up to %.0f", m.Name, m.MaxGrad.Mean))
		}
	}
	return strings.Join(without, ", ")
}

func byMethod(methods []LocalizationMethod, f func(LocalizationMethod) any) map[string]any {
	r := map[string]any{}
	for _, m := range methods {
		r[m.Name] = f(m)
	}
	return r
}

const followsPaper = "The variance that UT predicts follows the Cramér–Rao bound across the image, more closely than MC's."

// varianceHasTrend judges the trend of the predicted variance over the pixels, which a
// common factor does not change, replicate by replicate.
func varianceHasTrend(run runSize, methods []LocalizationMethod) Claim {
	ut, mc10 := methods[0].Maps["log_correlation"], methods[1].Maps["log_correlation"]
	d := mapsMinus(methods[0], methods[1], func(n mapNumbers) float64 { return n.Correlation })
	c := Claim{
		ID: "variance-follows-crb-trend", Title: "UT's variance follows the trend of the Cramér–Rao bound better than ten samples'", Paper: followsPaper,
		Ours: fmt.Sprintf("Correlation over pixels of the logarithms of predicted variance and exact bound: UT %s, MC10 %s; UT minus MC10, paired by seed: %s%s; bar: the interval is above 0.",
			ut.format("%.4f"), mc10.format("%.4f"), d.format("%.4f"), d.intervalText("%.4f")),
		Value:    d.Mean,
		Shown:    fmt.Sprintf("correlation %.3f (UT), %.3f (ten samples)", ut.Mean, mc10.Mean),
		Evidence: map[string]any{"ut": ut, "mc10": mc10, "ut_minus_mc10": d},
	}
	c.judge(run.against(locMapNeed), func() judgement { return d.positive("UT's correlation minus MC10's") })
	return c
}

// varianceHasLevel judges the means over UT's replicates, and UT's distance to
// the bound against MC10's, replicate by replicate.
func varianceHasLevel(run runSize, methods []LocalizationMethod) Claim {
	ut, mc10 := methods[0].Maps, methods[1].Maps
	both := func(name, verb string) string {
		return fmt.Sprintf("UT %s, MC10 %s", ut[name].format(verb), mc10[name].format(verb))
	}
	d := mapsMinus(methods[1], methods[0], func(n mapNumbers) float64 { return n.Distance })
	c := Claim{
		ID: "variance-follows-crb-level", Title: "UT's variance has the level of the Cramér–Rao bound, nearer than ten samples'", Paper: followsPaper,
		Ours: fmt.Sprintf("Distance of the predicted variance from the exact bound, root mean square over pixels of ln(variance / bound): %s; MC10 minus UT, paired by seed: %s%s; bar: the interval is above 0. Squared error over bound: %s in the centre, %s in the median pixel (bars for UT: 1.12, 1.15). UT's predicted variance over squared error: %s and %s (bars: 0.85 to 1.15). UT's predicted variance over bound is within 0.8 to 1.5 in %s of the pixels (bar: 0.9).",
			both("log_distance", "%.3f"), d.format("%.3f"), d.intervalText("%.3f"),
			both("centre_error_over_bound", "%.3f"), both("median_error_over_bound", "%.3f"),
			ut["centre_variance_over_error"].format("%.3f"), ut["median_variance_over_error"].format("%.3f"),
			ut["pixels_within"].format("%.2f")),
		Value:    ut["log_distance"].Mean,
		Shown:    fmt.Sprintf("RMS of ln(variance / bound) %.2f (UT), %.2f (ten samples)", ut["log_distance"].Mean, mc10["log_distance"].Mean),
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

// mapsMinus is a number of a's maps minus that of b's, over the replicates that have maps of
// both.
func mapsMinus(a, b LocalizationMethod, number func(mapNumbers) float64) (d Stat) {
	for i, t := range a.Trials {
		if other := b.Trials[i]; t.Variance != nil && other.Variance != nil {
			d.add(number(t.numbers()) - number(other.numbers()))
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
