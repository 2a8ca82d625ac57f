package experiment

import (
	"fmt"
	"slices"

	"utvi/internal/report"
)

// truthRules are in the order of their colours.
var truthRules = []string{"exact", "gh(5)", "ut(2)"}

func truthPictures(rows []*TruthRow, claims []Claim) []Picture {
	worst := func(i int) string { return fmt.Sprintf("%.2f", claims[i].Value) }
	return []Picture{
		{"truth", report.Picture{
			Figure: report.Grid{Charts: truthRatios(rows), Columns: 2}, Label: "Figure T1", Title: "What training does to the propagated variance.",
			Caption: "σ propagated / σ drawn of the weights' part against training steps, the median over test rows, mean of the replicates. Solid: units taken as independent, as in the paper. Dashed: with correlations (nn.Correlate).",
			Ours:    fmt.Sprintf("On the table, at the end: UT(2) as in the paper at most %s, rules without a blind spot at least %s, with correlations %s at worst.", worst(0), worst(1), worst(2)),
		}},
		{"truth-nll", report.Picture{
			Figure: report.Grid{Charts: truthLikelihoods(rows)}, Label: "Figure T2", Title: "What the predicted moments and the drawn networks say of test rows.",
			Caption: "Test NLL at the end of training of a Normal with the propagated moments, and of one with the moments of drawn networks. Where they differ, the network that was trained is not the one that the weights describe.",
		}},
	}
}

// truthRatios are charts of the ratio, one for each task.
func truthRatios(rows []*TruthRow) []report.Chart {
	var charts []report.Chart
	for i, t := range truthTasks {
		c := report.Chart{Title: fmt.Sprintf("(%c)  %s", 'a'+i, t.title), X: report.Axis{Label: "training step", Max: 1},
			Y: report.Axis{Label: "σ propagated / σ drawn", Min: 0, Max: 1.25}, Levels: []report.Level{{Colour: report.Grey, Y: 1}}}
		for _, r := range rows {
			if r.Task == t.name {
				c.Traces = append(c.Traces, r.trace())
				c.X.Max = max(c.X.Max, slices.Max(c.Traces[0].X))
			}
		}
		charts = append(charts, c)
	}
	return charts
}

// trace is the median ratio at the marks, averaged over the replicates.
func (r *TruthRow) trace() report.Trace {
	t := report.Trace{Name: r.variant().String(), Colour: report.Series(slices.Index(truthRules, r.Rule))}
	if r.Correlated {
		t.Style = report.Dashed
	}
	for k, mark := range r.Trials[0].Marks {
		sum := 0.0
		for _, trial := range r.Trials {
			sum += trial.Marks[k].Scores[truthMedian] / float64(len(r.Trials))
		}
		t.X, t.Y = append(t.X, float64(mark.Step)), append(t.Y, sum)
	}
	return t
}

// truthLikelihoods are charts of both NLLs, one for each network of the table.
func truthLikelihoods(rows []*TruthRow) []report.Chart {
	var charts []report.Chart
	for i, t := range truthTasks[:2] {
		c := report.Chart{Title: fmt.Sprintf("(%c)  %s", 'a'+i, t.title), Y: report.Axis{Label: "test NLL (nats)"}}
		propagated, drawn := report.Trace{Name: "propagated", Colour: report.Series(0), Style: report.Marks}, report.Trace{Name: "drawn networks", Colour: report.Series(1), Style: report.Marks}
		for _, r := range rows {
			if r.Task != t.name {
				continue
			}
			x := float64(len(c.X.Names))
			name := r.Rule
			if r.Correlated {
				name += " + corr" // room is short
			}
			c.X.Names = append(c.X.Names, name)
			propagated.X, propagated.Y = append(propagated.X, x), append(propagated.Y, r.NLL.Mean)
			drawn.X, drawn.Y = append(drawn.X, x), append(drawn.Y, r.DrawnNLL.Mean)
		}
		c.Traces = []report.Trace{propagated, drawn}
		charts = append(charts, c)
	}
	return charts
}
