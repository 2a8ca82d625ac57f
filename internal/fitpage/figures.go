package fitpage

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"utvi/fit"
	"utvi/internal/report"
	"utvi/internal/schema"
)

// A figure is a picture with the name of its file.
type figure struct {
	name string
	report.Picture
}

// targetFigures are the figures of one target's evaluation.
func targetFigures(t *fit.TargetEvaluation, column schema.Column) []figure {
	if t.Classes != nil {
		return classFigures(t, column)
	}
	actual, mean, sd, level := sample(t)
	n := t.Numbers.Rows
	pit := report.PIT(level)
	predicted := report.PredictedActual(actual, mean, sd, column.Name)
	if len(actual) <= 200 { // few enough for large marks
		predicted.Traces[0].Style = report.Marks
	}
	nominal, observed := coverage(t.PIT)
	return []figure{
		{"predicted", report.Picture{Figure: report.Grid{Charts: []report.Chart{predicted}},
			Title:   "Predicted against actual.",
			Caption: "Bars are ± one predicted standard deviation: about two thirds of them should reach the line."}},
		{"calibration", report.Picture{Figure: report.Grid{Charts: []report.Chart{pit, report.Calibration(nominal, observed, n)}},
			Title:   "Are the error bars honest?",
			Caption: "First: the level at which each target falls in its predicted distribution. The histogram is flat if the distributions are right, has a hump if they are too wide, and a valley if they are too narrow. Second: how often central intervals contain their target. The curve follows the line if the intervals are right, and lies below it if they are too narrow."}},
	}
}

func sample(t *fit.TargetEvaluation) (actual, mean, sd, level []float64) {
	for _, o := range t.Sample {
		actual, mean = append(actual, o.Actual), append(mean, o.Mean)
		sd, level = append(sd, o.SD), append(level, o.Level)
	}
	return actual, mean, sd, level
}

// coverage is the share of rows within central intervals of each nominal one.
func coverage(pit []float64) (nominal, observed []float64) {
	bins := len(pit)
	nominal, observed = append(nominal, 0), append(observed, 0)
	sum := 0.0
	for i := range bins / 2 { // from the middle outwards
		sum += pit[bins/2-1-i] + pit[bins/2+i]
		if (i+1)%(bins/100) == 0 {
			nominal, observed = append(nominal, 2*float64(i+1)/float64(bins)), append(observed, sum)
		}
	}
	return nominal, observed
}

func classFigures(t *fit.TargetEvaluation, column schema.Column) []figure {
	var p, right []float64
	var count []int
	for _, b := range t.Bins {
		p, right = append(p, b.Confidence), append(right, b.Right)
		count = append(count, int(b.Share*float64(t.Classes.Rows)+0.5))
	}
	return []figure{
		{"confusion", report.Picture{Figure: report.Confusion{Classes: column.Levels, Counts: t.Confusion},
			Title: "Which classes are confused.", Caption: "Rows are the true classes, columns are the predicted classes."}},
		{"reliability", report.Picture{Figure: report.Grid{Charts: []report.Chart{report.Reliability(p, right, count)}},
			Title:   "Are the probabilities honest?",
			Caption: "How often the most probable class was right, by its probability. The curve follows the line if the probabilities are right."}},
	}
}

// mostLevels is how many levels of a column a figure has room for.
const mostLevels = 10

// ranges says which values of a column a figure shows.
const ranges = "The range of the column is extended by a tenth on either side; of a skewed column that is not positive, the central 98 % are shown."

// forest draws importances over an axis that has 0. Points keep off its ends: beside the
// left one stand the names of the columns.
func forest(all []fit.Importance) report.Forest {
	f := report.Forest{X: report.Axis{Label: "loss of log-likelihood, nats per row"}}
	lo, hi := 0., 0.
	for _, i := range all {
		f.Rows = append(f.Rows, report.ForestRow{Name: i.Column, Value: i.Loss})
		lo, hi = min(lo, i.Loss), max(hi, i.Loss)
	}
	room := (hi - lo) / 20
	f.X.Min, f.X.Max = lo-room, hi+room
	return f
}

// insightFigures show the columns that matter.
func insightFigures(in *fit.Insight) []figure {
	var all []figure
	if len(in.Importance) > 0 {
		all = append(all, figure{"importance", report.Picture{Figure: forest(in.Importance[:min(20, len(in.Importance))]), Title: "Which columns matter.",
			Caption: "How much worse the predictions get if the values of a column are shuffled among the held-out rows. The network does not need a column near zero."}})
	}
	panels := dependencePanels(in.Dependence)
	for _, p := range panels {
		file := "dependence"
		if len(panels) > 1 {
			file += "-" + fileName(p.target)
		}
		all = append(all, figure{file, report.Picture{Figure: report.Grid{Charts: report.SameY(p.charts)},
			Title: "How predictions depend on the columns.", Caption: p.caption(len(in.Importance) > 0)}})
	}
	return all
}

// A panel shows how the predictions of a target depend on columns, a chart for each; target is ""
// for classes.
type panel struct {
	target string
	charts []report.Chart
}

// dependencePanels are the panels of all targets.
func dependencePanels(all []fit.Dependence) (panels []*panel) {
	add := func(target string, c report.Chart) {
		i := slices.IndexFunc(panels, func(p *panel) bool { return p.target == target })
		if i < 0 {
			i = len(panels)
			panels = append(panels, &panel{target: target})
		}
		panels[i].charts = append(panels[i].charts, c)
	}
	classes := moving(all)
	for _, d := range all {
		x, d := columnAxis(d)
		for _, c := range d.Targets {
			y := report.Axis{Label: c.Name}
			if c.Log {
				y.Scale = report.Log10
			}
			add(c.Name, report.Dependence(x, y, d.Values, c.Mean, c.Lo, c.Hi))
		}
		if d.Classes != nil {
			add("", classDependence(x, d, classes))
		}
	}
	return panels
}

// columnAxis is the axis of a column, and the dependence that it shows: of a category, that of the
// most frequent levels.
func columnAxis(d fit.Dependence) (report.Axis, fit.Dependence) {
	x := report.Axis{Label: d.Column.Name}
	if d.Log {
		x.Scale = report.Log10
	}
	switch d.Column.Type {
	case schema.Categorical:
		if n := len(d.Column.Levels); n > mostLevels {
			x.Label += fmt.Sprintf(" (the %d most frequent of %d)", mostLevels, n)
			d = d.Head(mostLevels)
		}
		x.Names = d.Column.Levels[:len(d.Values)]
	case schema.Times:
		x.Scale = report.Dates
	}
	return x, d
}

// caption says what the charts show; chosen, that they are of the columns that matter most.
func (p *panel) caption(chosen bool) string {
	held := " of the held-out rows if one column is set to each value in turn and the other columns keep their values"
	if chosen {
		held += ", for the columns that matter most"
	}
	held += ". "
	switch {
	case p.target == "":
		return "The mean probabilities" + held + ranges
	case p.charts[0].Y.Scale != report.Linear:
		return "The median prediction" + held + "The band holds the central 68 %. Both are means of logarithms. " + ranges
	}
	return "The mean prediction" + held + "The band is ± the predicted standard deviation. " + ranges
}

// moving are the classes whose probability changes most with any column, in their order.
func moving(all []fit.Dependence) (classes []int) {
	if len(all) == 0 {
		return nil
	}
	change := make([]float64, len(all[0].Classes))
	for i := range change {
		classes = append(classes, i)
		for _, d := range all {
			p := d.Classes[i].Mean
			change[i] = max(change[i], slices.Max(p)-slices.Min(p))
		}
	}
	slices.SortStableFunc(classes, func(a, b int) int { return cmp.Compare(change[b], change[a]) })
	classes = classes[:min(6, len(classes))]
	slices.Sort(classes)
	return classes
}

// classDependence draws some classes.
func classDependence(x report.Axis, d fit.Dependence, classes []int) report.Chart {
	c := report.Chart{X: x, Y: report.Axis{Label: "probability"}}
	for i, k := range classes {
		t := report.Trace{Name: d.Classes[k].Name, Colour: report.Series(i), X: d.Values, Y: d.Classes[k].Mean}
		if x.Names != nil {
			t.Style = report.Marks
		}
		c.Traces = append(c.Traces, t)
	}
	return c
}

// saveFigures writes figures into a folder and names their files in their notes. A
// figure with names that its font cannot write is an SVG, which browsers draw with the
// fonts of the system.
func saveFigures(dir, prefix string, all []figure) error {
	for i := range all {
		name := prefix + all[i].name + ".png"
		if !report.CanWrite(all[i].Figure) {
			name = prefix + all[i].name + ".svg"
		}
		all[i].Note = "figures/" + name
		if err := report.Save(filepath.Join(dir, "figures", name), all[i].Figure); err != nil {
			return err
		}
	}
	return nil
}

// fileName is a text with nothing that a file's name must not have.
func fileName(s string) string {
	return strings.Map(func(r rune) rune {
		if r <= ' ' || r == 0x7f || strings.ContainsRune(`/\:*?"<>|`, r) {
			return '-'
		}
		return r
	}, s)
}

func percent(part, whole float64) string {
	if whole == 0 {
		return "0 %"
	}
	return fmt.Sprintf("%.3g %%", 100*part/whole)
}
