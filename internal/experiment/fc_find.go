package experiment

import (
	"fmt"
	"math"
	"slices"

	"utvi/internal/report"
	"utvi/internal/sweep"
	"utvi/moment"
	"utvi/rng"
)

var fcExperiment = Experiment{
	Name:  "fc",
	Title: "Regression with a fully connected network",
	Plan: func(s Size) (trials []sweep.Trial) {
		for r := range fcReplicates(s) {
			for _, m := range fcMethods {
				trials = append(trials, fcTrial(s, m.name, m.rule, r))
			}
		}
		return trials
	},
	Find: findFC,
}

// fcMethods are the paper's three, in the order of its figure.
var fcMethods = []struct{ name, title, rule string }{
	{"SMP", "SMP, closed form", "exact"},
	{"MC3", "MC, 3 samples", "mc(3)"},
	{"UT", "UT, 3 sigma points", "ut(2)"},
}

func fcReplicates(s Size) int { return s.pick(s.Replicates, 1, 3, 10) }
func fcSteps(s Size) int {
	return s.pick(s.Steps, fcEpochSteps+20, 40*fcEpochSteps, fcEpochs*fcEpochSteps)
}

// fcTrial is replicate r of a method. The first one is compared with networks
// drawn from it.
func fcTrial(s Size, name, rule string, r int) sweep.Trial {
	spec := FCSpec{Seed: s.Seed, Replicate: r, Rule: rule, Steps: fcSteps(s)}
	if r == 0 {
		spec.VerifyWith = s.pick(0, 100, 2000, 10_000)
	}
	return spec.trial(name)
}

func (s FCSpec) trial(name string) sweep.Trial {
	return sweep.NewTrial("fc", fmt.Sprintf("fc-%s-%d", name, s.Replicate+1), "fc "+name, s.cost(), s)
}

// cost is roughly in seconds of one core.
func (s FCSpec) cost() float64 {
	perStep := 0.5e-3
	if rule, err := moment.Parse(s.Rule); err == nil {
		var n int
		if _, err := fmt.Sscanf(rule.String(), "mc(%d)", &n); err == nil {
			perStep += 0.055e-3 * float64(n)
		}
	}
	return perStep*float64(s.Steps)*float64(max(1, s.Draws)) + 0.5e-3*float64(s.VerifyWith)
}

// An FCMethod is what one rule for the nonlinearities gave.
type FCMethod struct {
	Name      string    `json:"name"`
	Rule      string    `json:"rule"`
	Best      Stat      `json:"best_excess"` // lowest validation NLL minus the true model's, nats
	Final     Stat      `json:"final_excess"`
	Roughness Stat      `json:"roughness"` // RMS second difference of a single model's mean curve
	Trials    []FCTrial `json:"trials"`
}

// fcMethod gathers the replicates of a method.
func fcMethod(s Size, res Results, name, rule string, replicates int) (FCMethod, error) {
	m := FCMethod{Name: name, Rule: rule}
	for r := range replicates {
		var t FCTrial
		if err := res.decode(fcTrial(s, name, rule, r), &t); err != nil {
			return m, err
		}
		m.add(t)
	}
	return m, nil
}

func (m *FCMethod) add(t FCTrial) {
	m.Trials = append(m.Trials, t)
	m.Best.add(t.best())
	m.Final.add(t.final())
	m.Roughness.add(roughness(t.Mean))
}

// minus is m's best NLL minus o's, seed by seed.
func (m *FCMethod) minus(o *FCMethod) (d Stat) {
	for i := range m.Trials {
		d.add(m.Trials[i].best() - o.Trials[i].best())
	}
	return d
}

func findFC(s Size, res Results) (*Findings, error) {
	var methods []FCMethod
	for _, m := range fcMethods {
		found, err := fcMethod(s, res, m.name, m.rule, fcReplicates(s))
		if err != nil {
			return nil, err
		}
		methods = append(methods, found)
	}
	smp := &methods[0]
	mc := &methods[1]
	ut := &methods[2]
	run := runSize{fcReplicates(s), fcSteps(s)}
	table := report.Table{
		Caption: fmt.Sprintf("Validation NLL minus the true model's (%.4f nats, %d points): %s after %d steps. Best is the lowest of all epochs; it is chosen on the same points, which makes it look a little better than it is. Roughness is the RMS second difference of a single model's mean curve.",
			ut.Trials[0].TrueNLL, fcValidation, ofReplicates(fcReplicates(s)), fcSteps(s)),
		Head: []string{"method", "rule", "best", "final", "roughness"},
	}
	for _, m := range methods {
		table.Rows = append(table.Rows, []string{m.Name, m.Rule, m.Best.format("%.4f"), m.Final.format("%.4f"), m.Roughness.format("%.5f")})
	}
	f := &Findings{
		Claims:  []Claim{utMatchesSMP(run, smp, ut), utTrainsBetter(run, smp, ut), utBeatsMC3(run, mc, ut)},
		Tables:  []report.Table{table},
		Numbers: map[string]any{"x": fcX(), "methods": methods},
		Scaled:  slices.Concat(scaled("replicates", fcReplicates(s), 10), scaled("steps per training", fcSteps(s), fcEpochs*fcEpochSteps)),
	}
	f.Pictures = []Picture{
		{"fig1", report.Picture{
			Figure: fcFigure(s, methods, -1), Label: "Figure 1", Title: "Regression with noise that depends on x.",
			Caption: "Predictions of the three methods, averaged over the replicates, inside and outside the range of the data (shaded), and the validation score by epoch, mean and range. True ±σ is √(noise² + (prediction − truth)²), averaged over replicates, as in the paper.",
			Paper:   "UT matches SMP, and does better than MC with as many samples.",
			Ours:    fmt.Sprintf("Best NLL above the true model's: SMP %s, MC3 %s, UT %s.", smp.Best.format("%.4f"), mc.Best.format("%.4f"), ut.Best.format("%.4f")),
		}},
		{"figS1", report.Picture{
			Figure: fcFigure(s, methods, 0), Label: "Figure S1", Title: "The same for a single model.",
			Caption: "The first replicate of each method. Three samples make the mean curve rough.",
			Paper:   "A single MC model is much noisier than a single UT model.",
			Ours:    fmt.Sprintf("RMS second difference of the mean curve: SMP %s, MC3 %s, UT %s.", smp.Roughness.format("%.5f"), mc.Roughness.format("%.5f"), ut.Roughness.format("%.5f")),
		}},
	}
	return f, nil
}

// fcFigure draws one replicate, or the average of all for −1.
func fcFigure(s Size, methods []FCMethod, replicate int) report.Regression {
	x := fcX()
	fig := report.Regression{X: x, Border: fcBorder, CurveLabel: "NLL − true model's NLL (nats)"}
	shown := newFCSample(rng.New(s.Seed).Sub(0, 3), 400)
	for i, x := range shown.x.Mean {
		fig.DataX, fig.DataY = append(fig.DataX, float64(x)), append(fig.DataY, float64(shown.y[i]))
	}
	for i, m := range methods {
		if replicate >= 0 {
			m.Trials = m.Trials[replicate : replicate+1]
		}
		panel := report.RegressionPanel{Title: fmt.Sprintf("(%c)  %s", 'a'+i, fcMethods[i].title), Colour: report.Series(i)}
		for k := range x {
			mean, sd, truth := m.average(k, x[k])
			panel.Mean = append(panel.Mean, mean)
			panel.SD = append(panel.SD, sd)
			panel.Truth = append(panel.Truth, truth)
		}
		fig.Panels = append(fig.Panels, panel)
		fig.Curves = append(fig.Curves, m.scoreCurve(report.Series(i)))
	}
	return fig
}

// average returns, at grid point k = x, the predicted mean and standard deviation
// and the paper's "true uncertainty" √(noise² + (prediction − truth)²), each
// averaged over the replicates.
func (m FCMethod) average(k int, x float64) (mean, sd, truth float64) {
	n := float64(len(m.Trials))
	for _, t := range m.Trials {
		mean += t.Mean[k] / n
		sd += t.SD[k] / n
		truth += math.Hypot(fcNoise(x), t.Mean[k]-x) / n
	}
	return mean, sd, truth
}

// scoreCurve is the mean score per epoch with the range of the replicates.
func (m FCMethod) scoreCurve(colour report.Colour) report.Curve {
	c := report.Curve{Name: m.Name, Colour: colour}
	for k, mark := range m.Trials[0].Marks {
		mean := 0.0
		lo := math.Inf(1)
		hi := math.Inf(-1)
		for _, t := range m.Trials {
			e := t.Marks[k].Scores[0] - t.TrueNLL
			mean += e / float64(len(m.Trials))
			lo, hi = min(lo, e), max(hi, e)
		}
		c.X = append(c.X, float64(mark.Step)/fcEpochSteps)
		c.Mean = append(c.Mean, mean)
		c.Lo = append(c.Lo, lo)
		c.Hi = append(c.Hi, hi)
	}
	return c
}
