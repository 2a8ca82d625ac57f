package experiment

import (
	"fmt"
	"slices"
	"strings"

	"utvi/internal/report"
	"utvi/internal/sweep"
)

var truthExperiment = Experiment{
	Name:  "truth",
	Title: "Is the propagated variance that of the networks that the weights describe?",
	Plan: func(s Size) (trials []sweep.Trial) {
		for _, task := range truthTasks {
			for _, v := range task.variants() {
				for r := range truthReplicates(s) {
					trials = append(trials, task.trial(s, v, r))
				}
			}
		}
		return trials
	},
	Find: findTruth,
}

// A truthTask is a task with the steps of its trainings.
type truthTask struct {
	name, title        string
	tiny, quick, paper int     // steps
	cost               float64 // of a step, roughly in seconds of one core
}

var truthTasks = []truthTask{
	{truthReLU, "table with 2×50 ReLU", 40, 2000, 5000, 0.4e-3},
	{truthGELU, "table with 2×50 GELU", 40, 2000, 5000, 0.7e-3},
	{truthRegression, "paper's regression", 20, 3200, 20_000, 1e-3},
	{truthLocalization, "paper's localisation", 4, 300, 8000, 15e-3},
}

// A truthVariant is a way to propagate variance.
type truthVariant struct {
	rule       string
	correlated bool
}

func (v truthVariant) String() string {
	if v.correlated {
		return v.rule + ", correlated"
	}
	return v.rule
}

// variants are three rules, each with units taken as independent and with correlations
// carried. The closed form of GELU is too slow to train with, and the localisation is
// costly.
func (t truthTask) variants() []truthVariant {
	rules := []string{"ut(2)", "gh(5)", "exact"}
	switch t.name {
	case truthGELU:
		rules = rules[:2]
	case truthLocalization:
		rules = []string{"ut(2)", "exact"}
	}
	var all []truthVariant
	for _, correlated := range []bool{false, true} {
		for _, r := range rules {
			all = append(all, truthVariant{r, correlated})
		}
	}
	return all
}

func truthReplicates(s Size) int { return s.pick(s.Replicates, 1, 1, 3) }

func (t truthTask) steps(s Size) int { return s.pick(s.Steps, t.tiny, t.quick, t.paper) }

func (t truthTask) trial(s Size, v truthVariant, r int) sweep.Trial {
	spec := TruthSpec{
		Seed: s.Seed, Replicate: r, Task: t.name, Rule: v.rule, Correlated: v.correlated, Steps: t.steps(s),
		ScoreEvery: max(1, t.steps(s)/s.pick(0, 2, 8, 20)), Networks: s.pick(0, 4, 200, 1000), FinalWith: s.pick(0, 10, 2000, 10_000),
	}
	if t.name == truthLocalization {
		spec.PerPixel = locPerPixel(s)
	}
	cost := t.cost * float64(spec.Steps+spec.FinalWith)
	name := "truth-" + t.name + "-" + strings.NewReplacer("(", "", ")", "").Replace(v.rule)
	if v.correlated {
		cost *= 2
		name += "-correlated"
	}
	return sweep.NewTrial("truth", fmt.Sprintf("%s-%d", name, r+1), "truth "+t.name+" "+v.String(), cost, spec)
}

// A TruthRow is what a variant gave on a task; numbers are over replicates.
type TruthRow struct {
	Task       string          `json:"task"`
	Rule       string          `json:"rule"`
	Correlated bool            `json:"correlated"`
	Ratio      Stat            `json:"sigma_ratio"` // σ propagated / σ drawn, the median over rows
	P05        Stat            `json:"p05"`
	P95        Stat            `json:"p95"`
	NLL        Stat            `json:"nll"`       // by propagated moments
	DrawnNLL   Stat            `json:"nll_drawn"` // by those of drawn networks
	Photons    Stat            `json:"photons_sigma_ratio"`
	Bound      map[string]Stat `json:"bound,omitempty"` // the localisation against the exact bound, by metric
	Trials     []TruthTrial    `json:"trials"`
}

func (r *TruthRow) variant() truthVariant { return truthVariant{r.Rule, r.Correlated} }

func truthRow(s Size, res Results, t truthTask, v truthVariant) (*TruthRow, error) {
	row := &TruthRow{Task: t.name, Rule: v.rule, Correlated: v.correlated}
	for r := range truthReplicates(s) {
		var trial TruthTrial
		if err := res.decode(t.trial(s, v, r), &trial); err != nil {
			return nil, err
		}
		row.Trials = append(row.Trials, trial)
		for stat, k := range map[*Stat]int{&row.NLL: truthNLL, &row.DrawnNLL: truthDrawnNLL, &row.Ratio: truthMedian, &row.P05: truthP05, &row.P95: truthP95} {
			stat.add(trial.Final[k])
		}
		if t.name == truthLocalization {
			row.Photons.add(trial.Final[truthPhotons])
			if row.Bound == nil {
				row.Bound = map[string]Stat{}
			}
			for name, x := range trial.Bound {
				stat := row.Bound[name]
				stat.add(x)
				row.Bound[name] = stat
			}
		}
	}
	return row, nil
}

func findTruth(s Size, res Results) (*Findings, error) {
	var rows []*TruthRow
	var small []string
	for _, t := range truthTasks {
		for _, v := range t.variants() {
			row, err := truthRow(s, res, t, v)
			if err != nil {
				return nil, err
			}
			rows = append(rows, row)
		}
		small = append(small, scaled("steps of the "+t.title, t.steps(s), t.paper)...)
	}
	claims := truthClaims(s, rows)
	return &Findings{
		Claims: claims, Tables: []report.Table{truthTable(s, rows), truthBoundTable(s, rows)}, Pictures: truthPictures(rows, claims),
		Numbers: map[string]any{"rows": rows},
		Scaled:  slices.Concat(scaled("replicates", truthReplicates(s), 3), small),
		Notes: []string{
			"This is a finding about the published method, not a claim of the paper. Its variance is meant to be that of the networks that the weights describe. Whether it is can be seen by drawing thousands of networks from the weights and comparing: σ propagated / σ drawn of the part that comes from the weights should be 1.",
			"It is not, for two reasons. Three sigma points have a blind spot: where the mean of a unit is more than √3 standard deviations from the kink, all three lie on one side of it. The KL pays for large weight variances and the likelihood punishes large output variances, so that training, given time and the full KL, moves units to where the rule does not see the variance. And units that share inputs or weights are correlated, which the method leaves out.",
			"The closed form has no such spot, and that of more Gauss–Hermite points lies further out: five are enough nearly always, nine always so far. nn.Correlate carries correlations to first order, for the price of a backward pass for each output. Correlations alone do not cure the blind spot: both are needed.",
		},
	}, nil
}

func truthTable(s Size, rows []*TruthRow) report.Table {
	t := report.Table{
		Caption: fmt.Sprintf("At the end of training: σ propagated / σ drawn of the weights' part over %d test rows (median, and 90 %% of the rows), %s; test NLL of a Normal with the propagated moments and with those of %d drawn networks. Localisation: of the position; photons in the last column.",
			truthTest, ofReplicates(truthReplicates(s)), s.pick(0, 10, 2000, 10_000)),
		Head: []string{"task", "rule", "units", "σ ratio", "90 % of rows", "NLL propagated", "NLL drawn", "photons"},
	}
	for _, r := range rows {
		photons := ""
		if r.Task == truthLocalization {
			photons = r.Photons.format("%.2f")
		}
		t.Rows = append(t.Rows, []string{truthTitle(r.Task), r.Rule, r.units(), r.Ratio.format("%.2f"), fmt.Sprintf("%.2f to %.2f", r.P05.Mean, r.P95.Mean),
			r.NLL.format("%.3f"), r.DrawnNLL.format("%.3f"), photons})
	}
	return t
}

// truthBoundTable compares the localisation's predictions with the exact bound.
func truthBoundTable(s Size, rows []*TruthRow) report.Table {
	t := report.Table{
		Caption: fmt.Sprintf("The localisation at the end of training: squared error of the position over the exact bound, %d emitters in each pixel, and the correlation of the logarithms of predicted variance and bound over pixels.", locPerPixel(s)),
		Head:    []string{"rule", "units", "centre", "median pixel", "corners", "correlation with the bound"},
	}
	for _, r := range rows {
		if r.Task != truthLocalization {
			continue
		}
		cells := []string{r.Rule, r.units()}
		for _, name := range []string{"centre_error_over_bound", "median_error_over_bound", "corner_error_over_bound"} {
			cells = append(cells, r.Bound[name].format("%.2f"))
		}
		t.Rows = append(t.Rows, append(cells, r.Bound["log_correlation"].format("%.3f")))
	}
	return t
}

func (r *TruthRow) units() string {
	if r.Correlated {
		return "correlated"
	}
	return "independent"
}

func truthTitle(task string) string {
	for _, t := range truthTasks {
		if t.name == task {
			return t.title
		}
	}
	return task
}
