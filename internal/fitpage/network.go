package fitpage

import (
	"fmt"
	"math"
	"slices"

	"utvi/fit"
	"utvi/internal/report"
	"utvi/internal/schema"
	"utvi/internal/tabular"
)

func networkSection(result *fit.Result, dir string) (report.Section, error) {
	m := result.Model
	r := m.Net.Report
	s := report.Section{Title: "The network"}
	t := report.Table{Caption: "Candidate networks, their scores on training rows that were held out from them, and the number of ensemble members of each kind.",
		Head: []string{"no.", "candidate", "log-likelihood", "members"}}
	for i, x := range r.Trials {
		n := 0
		for _, y := range r.Members {
			if y.Candidate == x.Candidate {
				n++
			}
		}
		score := fmt.Sprintf("%.4f ± %.2g", x.Score, x.SE)
		switch {
		case x.Failed != "" && r.Partial:
			score = "not tried to the end"
		case x.Failed != "":
			score = "rejected: " + x.Failed // behind the others, or broken
		}
		t.Rows = append(t.Rows, []string{fmt.Sprint(i + 1), x.Candidate.String(), score, fmt.Sprint(n)})
	}
	s.Parts = append(s.Parts, t)
	of := "standardised targets"
	if m.Schema.Task == schema.Classification {
		of = "classes"
	}
	if r.Partial {
		s.Parts = append(s.Parts, report.Warning("The training ended early. This is the best model so far."))
	} else {
		s.Parts = append(s.Parts, report.Prose(fmt.Sprintf("The log-likelihood of the ensemble is %.4f ± %.2g nats per row (%s), on the %d training rows that the networks were chosen by.", r.Score, r.SE, of, r.Held)))
	}
	if ratio := result.Ratio; ratio != nil {
		s.Parts = append(s.Parts, report.Prose(fmt.Sprintf("%s Of the weights alone: %v.", ratio.Sentence(), ratio)))
	}
	figures := []figure{{"training", report.Picture{Figure: report.Grid{Charts: trainingCharts(m)}, Title: "How the trainings went.",
		Caption: "Negative log-likelihood of " + of + ", lower is better: of the candidates on rows held out from them, and of the ensemble members on the rows they learn from. The curves of the candidates are of the first part of the held-out rows; the table above scores all parts, so its best score can differ. Numbers are those of the table. A member stops where its candidate was best."}}}
	if err := saveFigures(dir, "", figures); err != nil {
		return s, err
	}
	s.Parts = append(s.Parts, figures[0].Picture)
	return s, nil
}

func trainingCharts(m *fit.Model) []report.Chart {
	r := m.Net.Report
	trials := report.Chart{Title: "candidates, held-out rows", X: report.Axis{Label: "step", Whole: true}, Y: report.Axis{Label: "negative log-likelihood"}}
	for i, x := range r.Trials {
		t := report.Trace{Name: fmt.Sprint(i + 1), Colour: report.Series(i), Style: report.LineMarks}
		for _, p := range x.Curve {
			t.X, t.Y = append(t.X, float64(p.Step)), append(t.Y, p.Held)
		}
		trials.Traces = append(trials.Traces, t)
	}
	members := report.Chart{Title: "members, training rows", X: report.Axis{Label: "step", Whole: true}, Y: report.Axis{Label: "training loss"}}
	for _, x := range r.Members {
		at := max(0, slices.IndexFunc(r.Trials, func(y tabular.Trial) bool { return y.Candidate == x.Candidate }))
		t := report.Trace{Colour: report.Series(at), Style: report.LineMarks, Number: at + 1}
		members.X.Max = max(members.X.Max, 1.05*float64(x.Steps)) // from 0: one that stops at once is a point
		for _, p := range x.Curve {
			t.X, t.Y = append(t.X, float64(p.Step)), append(t.Y, p.Train)
		}
		members.Traces = append(members.Traces, t)
	}
	members.X.Min = 0
	trials.Y.Min, trials.Y.Max = settled(trials.Traces)
	return []report.Chart{trials, members}
}

// settled is the range of curves after their first point, which may be far off.
func settled(all []report.Trace) (lo, hi float64) {
	lo, hi = math.Inf(1), math.Inf(-1)
	for _, t := range all {
		for i, y := range t.Y {
			lo = min(lo, y)
			if i > 0 {
				hi = max(hi, y)
			}
		}
	}
	if !(hi > lo) {
		return 0, 0 // the data decide
	}
	margin := 0.05 * (hi - lo)
	return lo - margin, hi + margin
}
