package experiment

import (
	"fmt"
	"math"
	"slices"

	"utvi/internal/report"
	"utvi/internal/sweep"
)

var beyondExperiment = Experiment{
	Name:  "beyond",
	Title: "What the paper left for later",
	Plan: func(s Size) (trials []sweep.Trial) {
		for _, m := range beyondMethods {
			for r := range m.fcReplicates(s) {
				trials = append(trials, m.fcTrial(s, r))
			}
			for r := range beyondReplicates(s) {
				trials = append(trials, m.locTrial(s, r))
			}
		}
		return trials
	},
	Find: findBeyond,
}

// A beyondMethod is a rule, or another way to train, tried on the regression and
// on the localisation. Other experiments train the regression's UT and SMP, and the
// localisation's UT.
type beyondMethod struct {
	name, what, rule string
	outputRule       string // of the localisation's output chains; "": rule
	joint            bool   // photon node; not in the regression
	correlated       bool   // carry correlations; not in the regression
	draws            int
}

var beyondMethods = []beyondMethod{
	{name: "UT", what: "three sigma points, κ = 2", rule: "ut(2)"},
	{name: "SMP", what: "closed form; g by nine points", rule: "exact", outputRule: "gh(9)"},
	{name: "learned-UT", what: "κ learned, one per layer", rule: "learned-ut(2)"},
	{name: "GH5", what: "Gauss–Hermite, five points", rule: "gh(5)"},
	{name: "GH9", what: "Gauss–Hermite, nine points", rule: "gh(9)"},
	{name: "GenUT", what: "generalized UT, kurtosis 4", rule: "genut(0,4)"},
	{name: "linear", what: "linearisation at the mean", rule: "linear"},
	{name: "joint-photons", what: "UT; position uncertainty carried into the photon count", rule: "ut(2)", joint: true},
	{name: "correlated", what: "closed form; correlations of units and outputs carried", rule: "exact", outputRule: "gh(9)", joint: true, correlated: true},
	{name: "drawn", what: "classical: one network drawn per step; log-variance outputs", rule: "ut(2)", draws: 1},
}

func beyondReplicates(s Size) int { return s.pick(s.Replicates, 1, 1, 2) }

// fcReplicates is the number of replicates on the regression.
func (m beyondMethod) fcReplicates(s Size) int {
	if m.joint {
		return 0
	}
	return s.pick(s.Replicates, 1, 2, 10)
}

func (m beyondMethod) fcTrial(s Size, r int) sweep.Trial {
	if m.draws == 0 {
		return fcTrial(s, m.name, m.rule, r)
	}
	return FCSpec{Seed: s.Seed, Replicate: r, Rule: m.rule, Steps: fcSteps(s), Draws: m.draws}.trial(m.name)
}

// locTrial is the localisation's trial for UT, which so is trained once.
func (m beyondMethod) locTrial(s Size, r int) sweep.Trial {
	spec := locSpec(s, m.rule, r)
	spec.OutputRule = m.outputRule
	spec.Joint = m.joint
	spec.Correlated = m.correlated
	spec.Draws = m.draws
	return spec.trial("localization-" + m.name)
}

// A BeyondRow is what a method gave on both tasks.
type BeyondRow struct {
	Name         string             `json:"name"`
	What         string             `json:"what"`
	Rule         string             `json:"rule"`
	FC           *FCMethod          `json:"fc,omitempty"`
	Localization LocalizationMethod `json:"localization"`
}

func findBeyond(s Size, res Results) (*Findings, error) {
	var rows []BeyondRow
	for _, m := range beyondMethods {
		row := BeyondRow{Name: m.name, What: m.what, Rule: m.rule}
		if n := m.fcReplicates(s); n > 0 {
			row.FC = &FCMethod{Name: m.name, Rule: m.rule}
			for r := range n {
				var t FCTrial
				if err := res.decode(m.fcTrial(s, r), &t); err != nil {
					return nil, err
				}
				row.FC.add(t)
			}
		}
		var trials []sweep.Trial
		for r := range beyondReplicates(s) {
			trials = append(trials, m.locTrial(s, r))
		}
		var err error
		row.Localization, err = locMethod(res, locRule{m.name, m.what, m.rule}, trials...)
		if err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	return &Findings{
		Tables:  []report.Table{beyondTable(s, rows), agreementTable(rows)},
		Numbers: map[string]any{"methods": rows},
		Scaled: slices.Concat(scaled("replicates of the regression", beyondMethods[0].fcReplicates(s), 10), scaled("steps of the regression", fcSteps(s), fcEpochs*fcEpochSteps),
			scaled("steps of the localisation", locSteps(s), locFullSteps)),
		Notes: []string{
			"The same tasks, settings and seeds as above, with other rules and other ways to train. The second table compares propagated moments with those of networks drawn from the weights' distributions, which moment propagation approximates.",
			"GenUT matches a skewness and a kurtosis that somebody must know. A network carries neither from layer to layer, so here one kurtosis of 4 stands for every unit, without skewness. The kurtosis must be at least the squared skewness plus 1, where the middle point loses its weight. With three points it has the blind spot of UT, only further out for a larger kurtosis.",
		},
		Pictures: []Picture{{"beyond", report.Picture{
			Figure: beyondFigure(rows), Label: "Figure B1", Title: "Other rules and other ways to train.",
			Caption: "Best validation NLL of the regression above the true model's, mean ± sd of the replicates.",
			Paper:   "Learned κ, other sigma points and coupled nonlinearities are left for later.",
			Ours:    beyondOurs(rows),
		}}},
	}, nil
}

func beyondOurs(rows []BeyondRow) string {
	ut := rows[0]
	fc, loc := ut, ut
	for _, r := range rows {
		if r.FC != nil && r.FC.Best.below(fc.FC.Best) {
			fc = r
		}
		if r.Localization.Best.below(loc.Localization.Best) {
			loc = r
		}
	}
	return fmt.Sprintf("Regression: lowest best NLL %s (%s), UT %s. Localisation: lowest best position NLL %s (%s), UT %s.",
		fc.FC.Best.format("%.4f"), fc.Name, ut.FC.Best.format("%.4f"),
		loc.Localization.Best.format("%.3f"), loc.Name, ut.Localization.Best.format("%.3f"))
}

func beyondTable(s Size, rows []BeyondRow) report.Table {
	t := report.Table{
		Caption: fmt.Sprintf("Regression: best and final validation NLL above the true model's (nats), %s. Localisation: best and final position NLL, final photon NLL, correlation of the logarithms of predicted variance and exact bound over pixels, %s.",
			ofReplicates(beyondMethods[0].fcReplicates(s)), ofReplicates(beyondReplicates(s))),
		Head: []string{"method", "what it is", "fc best", "fc final", "position best", "final", "photons", "correlation"},
	}
	for _, r := range rows {
		l := r.Localization
		row := []string{r.Name, r.What, "", "", l.Best.format("%.3f"), l.Final.format("%.3f"), l.Photons.format("%.2f"), l.Maps["log_correlation"].format("%.3f")}
		if r.FC != nil {
			row[2], row[3] = r.FC.Best.format("%.4f"), r.FC.Final.format("%.4f")
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func agreementTable(rows []BeyondRow) report.Table {
	t := report.Table{
		Caption: "Propagated moments of the first replicate against networks drawn from its weights: error of the mean in standard deviations, and relative error of the standard deviation; median over inputs and outputs, and worst.",
		Head:    []string{"task", "method", "networks", "mean, median", "worst", "σ, median", "worst"},
	}
	add := func(task, name string, a *Agreement) {
		if a != nil {
			t.Rows = append(t.Rows, []string{task, name, fmt.Sprint(a.Networks), fmt.Sprintf("%.3f", a.MeanMedian), fmt.Sprintf("%.3f", math.Abs(a.MeanWorst)),
				fmt.Sprintf("%.1f %%", 100*a.SDMedian), fmt.Sprintf("%.1f %%", 100*math.Abs(a.SDWorst))})
		}
	}
	for _, r := range rows {
		if r.FC != nil {
			add("regression", r.Name, r.FC.Trials[0].Sampled)
		}
	}
	for _, r := range rows {
		add("localisation", r.Name, r.Localization.Trials[0].Sampled)
	}
	return t
}

func beyondFigure(rows []BeyondRow) report.Figure {
	f := report.Forest{X: report.Axis{Label: "best NLL − true model's (nats)"}}
	for i, r := range rows {
		if r.FC != nil {
			f.Rows = append(f.Rows, report.ForestRow{Name: r.Name, Value: r.FC.Best.Mean, SD: r.FC.Best.SD, Group: min(i, 1)})
		}
	}
	return f
}
