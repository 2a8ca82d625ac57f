package experiment

import (
	"fmt"
	"strings"

	"utvi/report"
)

// mc3Unstable compares the best epochs, which is kind to a method that falls
// apart; how it fell apart is in the gradients.
func mc3Unstable(methods, unclipped []LocalizationMethod) Claim {
	ut, mc10, mc3 := methods[0], methods[1], methods[2]
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
	// A method without a single score is worse than any that has one.
	below := func(a, b Stat) bool { return len(a.Values) > 0 && (len(b.Values) == 0 || a.Mean < b.Mean) }
	c.Holds = below(ut.Best, mc10.Best) && below(mc10.Best, mc3.Best)
	c.Value = mc3.Best.Mean - ut.Best.Mean
	var without []string
	for _, m := range unclipped {
		if d := m.Trials[0].Diverged; d != nil {
			without = append(without, fmt.Sprintf("%s stops at step %d", m.Name, d.Step))
		} else {
			without = append(without, fmt.Sprintf("%s has gradients up to %.0f", m.Name, m.MaxGrad.Mean))
		}
	}
	c.Ours = fmt.Sprintf("Best position NLL: UT %s, MC10 %s, MC3 %s nats. Gradient norms reach %.0f, %.0f and %.0f; %.2g %%, %.2g %% and %.2g %% of the steps are cut to %d. Of %d trainings each, %d, %d and %d met a number that is not finite. Without the cut: %s.",
		ut.Best.format("%.3f"), mc10.Best.format("%.3f"), mc3.Best.format("%.3f"),
		ut.MaxGrad.Mean, mc10.MaxGrad.Mean, mc3.MaxGrad.Mean,
		100*ut.Clipped.Mean, 100*mc10.Clipped.Mean, 100*mc3.Clipped.Mean, locClip,
		len(ut.Trials), ut.Diverged, mc10.Diverged, mc3.Diverged, strings.Join(without, ", "))
	return c
}

func byMethod(methods []LocalizationMethod, f func(LocalizationMethod) any) map[string]any {
	r := map[string]any{}
	for _, m := range methods {
		r[m.Name] = f(m)
	}
	return r
}

// varianceFollowsBound holds the means over UT's replicates to the bars.
func varianceFollowsBound(methods []LocalizationMethod) Claim {
	ut, mc10 := methods[0].Maps, methods[1].Maps
	between := func(name string, lo, hi float64) bool {
		s := ut[name]
		return len(s.Values) > 0 && s.Mean >= lo && s.Mean <= hi
	}
	r := ut["log_correlation"]
	return Claim{
		ID:    "variance-follows-crb",
		Paper: "The variance that UT predicts follows the Cramér–Rao bound across the image, more closely than MC's.",
		Ours: fmt.Sprintf("UT's squared error over the exact bound: %s in the centre, %s in the median pixel (bars 1.12, 1.15). Predicted variance over squared error: %s and %s (0.85 to 1.15). Predicted variance over bound within 0.8 to 1.5 in %s of the pixels (0.9). Correlation of the logarithms: UT %s (0.97), MC10 %s.",
			ut["centre_error_over_bound"].format("%.3f"), ut["median_error_over_bound"].format("%.3f"),
			ut["centre_variance_over_error"].format("%.3f"), ut["median_variance_over_error"].format("%.3f"),
			ut["pixels_within"].format("%.2f"), r.format("%.3f"), mc10["log_correlation"].format("%.3f")),
		Value: r.Mean,
		Holds: between("centre_error_over_bound", 0, 1.12) && between("median_error_over_bound", 0, 1.15) &&
			between("centre_variance_over_error", 0.85, 1.15) && between("median_variance_over_error", 0.85, 1.15) &&
			between("pixels_within", 0.9, 1) && between("log_correlation", 0.97, 1) && r.Mean > mc10["log_correlation"].Mean,
		Evidence: map[string]any{"ut": ut, "mc10": mc10},
	}
}

func locTable(s Size, methods []LocalizationMethod) report.Table {
	t := report.Table{
		Caption: fmt.Sprintf("NLL of %d unseen emitters, mean ± sd of %d replicates after %d steps. Best is the lowest of any epoch, chosen on these same emitters.", locValidation, locReplicates(s), locSteps(s)),
		Head:    []string{"method", "best position", "final position", "final photons", "largest gradient", "steps cut %", "diverged"},
	}
	for _, m := range methods {
		t.Rows = append(t.Rows, []string{m.Name, m.Best.format("%.3f"), m.Final.format("%.3f"), m.Photons.format("%.2f"),
			m.MaxGrad.format("%.0f"), fmt.Sprintf("%.2f", 100*m.Clipped.Mean), fmt.Sprint(m.Diverged)})
	}
	return t
}

func locMapTable(s Size, methods []LocalizationMethod) report.Table {
	t := report.Table{
		Caption: fmt.Sprintf("The final networks by pixel, %d emitters in each: squared error e, predicted variance v, exact bound b, all means of x and y; mean ± sd of the replicates.", locEach(s)),
		Head:    []string{"method", "e/b centre", "e/b median", "v/e centre", "v/e median", "v/b in 0.8–1.5", "correlation of logs"},
	}
	for _, m := range methods {
		row := []string{m.Name}
		for _, c := range []struct{ name, verb string }{
			{"centre_error_over_bound", "%.3f"}, {"median_error_over_bound", "%.3f"}, {"centre_variance_over_error", "%.3f"},
			{"median_variance_over_error", "%.3f"}, {"pixels_within", "%.2f"}, {"log_correlation", "%.3f"},
		} {
			cell := "none"
			if x := m.Maps[c.name]; len(x.Values) > 0 {
				cell = x.format(c.verb)
			}
			row = append(row, cell)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}
