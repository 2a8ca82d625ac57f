package experiment

import (
	"fmt"
	"math"
)

// The sizes that the regression's claims need. The scores fall late, after some 20
// epochs of 80 steps; whole curves need the paper's length.
var (
	fcNeed      = runSize{3, 40 * fcEpochSteps}
	fcCurveNeed = runSize{5, fcEpochs * fcEpochSteps}
)

func utMatchesSMP(run runSize, smp, ut *FCMethod) Claim {
	d := math.Abs(ut.Best.Mean - smp.Best.Mean)
	c := Claim{
		ID: "ut-matches-smp", Title: "Three sigma points match the closed form",
		Paper: "UT reaches the NLL of the closed form.",
		Ours: fmt.Sprintf("Best NLL above the true model's: UT %s, SMP %s; they differ by %.4f nats (bars: at most 0.005 apart, each at most 0.01 above).",
			ut.Best.format("%.4f"), smp.Best.format("%.4f"), d),
		Value:    d,
		Shown:    fmt.Sprintf("%.4f nats apart", d),
		Evidence: map[string]any{"ut": ut.Best, "smp": smp.Best},
	}
	c.judge(run.against(fcNeed), func() judgement {
		return meets(bar{"the difference", d <= 0.005}, bar{"UT above the true model", ut.Best.Mean <= 0.01}, bar{"SMP above the true model", smp.Best.Mean <= 0.01})
	})
	return c
}

// utTrainsBetter compares whole curves: the mean over epochs, seed by seed.
func utTrainsBetter(run runSize, smp, ut *FCMethod) Claim {
	var d Stat
	ahead, epochs := 0, 0
	for i := range ut.Trials {
		a, b := ut.Trials[i].curve(0), smp.Trials[i].curve(0)
		var sum float64
		for k := range a {
			sum += b[k] - a[k]
			epochs++
			if a[k] < b[k] {
				ahead++
			}
		}
		d.add(sum / float64(len(a)))
	}
	c := Claim{
		ID: "ut-trains-better", Title: "UT trains better than the closed form",
		Paper: "UT trains better than SMP: its validation NLL falls faster (Fig. 1d).",
		Ours: fmt.Sprintf("SMP minus UT, averaged over epochs, paired by seed: %s nats%s; bar: the interval is above 0. UT is ahead in %d of the %d epochs of all trainings.",
			d.format("%.4f"), d.intervalText("%.4f"), ahead, epochs),
		Value:    d.Mean,
		Shown:    fmt.Sprintf("%+.4f nats, averaged over epochs", -d.Mean),
		Evidence: map[string]any{"difference": d, "epochs_ahead": ahead, "epochs": epochs},
	}
	c.judge(run.against(fcCurveNeed), func() judgement { return d.positive("SMP minus UT") })
	return c
}

func utBeatsMC3(run runSize, mc, ut *FCMethod) Claim {
	d := mc.minus(ut)
	c := Claim{
		ID: "ut-beats-mc3", Title: "UT beats three samples, with smoother models",
		Paper: "With three points each, UT predicts better than Monte Carlo, and single models are smoother.",
		Ours: fmt.Sprintf("MC3 minus UT, best NLL paired by seed: %s nats%s; bar: the interval is above 0. Roughness of single models: MC3 %s, UT %s, a ratio of %.1f; bar: above 1.",
			d.format("%.4f"), d.intervalText("%.4f"), mc.Roughness.format("%.5f"), ut.Roughness.format("%.5f"), mc.Roughness.Mean/ut.Roughness.Mean),
		Value:    d.Mean,
		Shown:    fmt.Sprintf("%.4f nats better; single curves %.0f times smoother", d.Mean, mc.Roughness.Mean/ut.Roughness.Mean),
		Evidence: map[string]any{"difference": d, "roughness_mc3": mc.Roughness, "roughness_ut": ut.Roughness},
	}
	c.judge(run.against(fcNeed), func() judgement {
		return allOf(d.positive("MC3 minus UT"), meets(bar{"roughness", ut.Roughness.Mean < mc.Roughness.Mean}))
	})
	return c
}
