// Package fitpage writes the HTML page of a fit or an evaluation, with its figures.
package fitpage

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"

	"utvi/fit"
	"utvi/internal/atomicfile"
	"utvi/internal/provenance"
	"utvi/internal/report"
	"utvi/internal/schema"
)

// Save writes the report of a fit into a folder: report.html, metrics.json with every
// number, the settings as fit.yaml, and the figures.
func Save(dir string, r *fit.Result) error {
	figures := filepath.Join(dir, "figures")
	if err := os.MkdirAll(figures, 0o777); err != nil {
		return err
	}
	sections, err := evaluationSections(r.Evaluation, r.Model, dir)
	if err != nil {
		return err
	}
	if len(r.Warnings) > 0 {
		sections = append([]report.Section{warningSection(r.Warnings)}, sections...)
	}
	if r.CrossValidation != nil {
		sections = append(sections, crossSection(r.CrossValidation))
	}
	for _, f := range []func() (report.Section, error){
		func() (report.Section, error) {
			if r.Model.Schema.Pictures() { // one column has all that is known
				return picturesSection(r), nil
			}
			return insightSection(r.Insight, dir)
		},
		func() (report.Section, error) { return networkSection(r, dir) },
		func() (report.Section, error) { return tableSection(r.Model) },
		func() (report.Section, error) { return settingsSection(r.Model) },
	} {
		s, err := f()
		if err != nil {
			return err
		}
		if s.Parts == nil { // there is nothing to say
			continue
		}
		sections = append(sections, s)
	}
	var yaml bytes.Buffer
	if err := r.Model.Facts.Config.WriteYAML(&yaml, r.Model); err != nil {
		return err
	}
	if err := writeFile(filepath.Join(dir, "fit.yaml"), yaml.Bytes()); err != nil {
		return err
	}
	metrics := map[string]any{"warnings": append([]fit.Warning{}, r.Warnings...), "cross_validation": r.CrossValidation, "evaluation": r.Evaluation, "importance": r.Insight.Importance, "network": r.Model.Net.Report, "sigma_ratio": r.Ratio}
	if err := writeJSON(filepath.Join(dir, "metrics.json"), metrics); err != nil {
		return err
	}
	page := report.Page{Title: "Predicting " + names(r.Model), Subtitle: subtitle(r), Provenance: origin(r.Model), Sections: sections}
	return page.Save(filepath.Join(dir, "report.html"))
}

func subtitle(r *fit.Result) string {
	f := r.Model.Facts
	text := fmt.Sprintf("%s, trained on %d rows of %s and tested on %d held-out rows", r.Model.Schema.Task, f.Rows-f.Refitted, r.Evaluation.File, r.Evaluation.Rows)
	if f.Interrupted {
		text += "; the training ended early"
	}
	if f.Refitted > 0 {
		text += fmt.Sprintf("; then trained again with all %d", f.Rows)
	}
	return text
}

// SaveEvaluation writes the report of an evaluation into a folder: report.html,
// metrics.json and the figures.
func SaveEvaluation(dir string, e *fit.Evaluation, m *fit.Model) error {
	if err := os.MkdirAll(filepath.Join(dir, "figures"), 0o777); err != nil {
		return err
	}
	page := report.Page{
		Title:    "Predictions of " + names(m),
		Subtitle: fmt.Sprintf("%s, tested on %d rows of %s", m.Schema.Task, e.Rows, e.File), Provenance: origin(m),
	}
	var err error
	page.Sections, err = evaluationSections(e, m, dir)
	if err != nil {
		return err
	}
	if err := writeJSON(filepath.Join(dir, "metrics.json"), map[string]any{"evaluation": e}); err != nil {
		return err
	}
	return page.Save(filepath.Join(dir, "report.html"))
}

func names(m *fit.Model) string {
	var all []string
	for _, t := range m.Schema.Targets() {
		all = append(all, t.Name)
	}
	return strings.Join(all, ", ")
}

func origin(m *fit.Model) []report.Fact {
	p := provenance.Here()
	facts := []report.Fact{{Name: "Program", Value: p.Version}, {Name: "Kernels", Value: p.Kernels},
		{Name: "Seed", Value: fmt.Sprint(m.Facts.Config.Seed)}}
	if s := m.CalibrationText(); s != "" {
		facts = append(facts, report.Fact{Name: "Calibration", Value: s})
	}
	return facts
}

func writeFile(path string, text []byte) error {
	return atomicfile.Write(path, func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
}

func writeJSON(path string, v any) error {
	text, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		return err
	}
	return writeFile(path, append(text, '\n'))
}

// sections are scores and figures, target by target.
func evaluationSections(e *fit.Evaluation, m *fit.Model, dir string) ([]report.Section, error) {
	var all []report.Section
	for i, column := range m.Schema.Targets() {
		t := &e.Targets[i]
		s := report.Section{Title: "How good the predictions are"}
		prefix := ""
		if len(e.Targets) > 1 {
			s.Title += ": " + column.Name
			prefix = fileName(column.Name) + "-"
		}
		for _, note := range e.Notes {
			s.Parts = append(s.Parts, report.Warning(sentence(note)))
		}
		s.Parts = append(s.Parts, scoreTable(t))
		s.Parts = append(s.Parts, classTable(t)...)
		figures := targetFigures(t, column)
		if err := saveFigures(dir, prefix, figures); err != nil {
			return nil, err
		}
		for _, f := range figures {
			s.Parts = append(s.Parts, f.Picture)
		}
		if t.Numbers != nil {
			s.Parts = append(s.Parts, varianceTable(t, m))
		}
		s.Parts = append(s.Parts, report.Prose(unlike(e.OODAbove1)))
		all = append(all, s)
	}
	return all, nil
}

// unlike says which share of the rows has an ood above 1.
func unlike(share float64) string {
	which := percent(share, 1) + " of these rows are"
	if share == 0 {
		which = "None of these rows is"
	}
	return which + " unlike the training rows (ood above 1): farther from them, or with more doubt in the prediction, than 99 of 100 training rows."
}

// warningSection lists what is odd about the table.
func warningSection(all []fit.Warning) report.Section {
	s := report.Section{Title: "What to look at first"}
	for _, w := range all {
		s.Parts = append(s.Parts, report.Warning(sentence(w.String())))
	}
	return s
}

// sentence begins with a capital letter and ends with a full stop.
func sentence(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(r)) + s[n:] + "."
}

// crossSection shows the scores of all rows.
func crossSection(e *fit.Evaluation) report.Section {
	s := report.Section{Title: "Cross-validation", Parts: []report.Part{
		report.Prose(fmt.Sprintf("Scores of all %d rows, each predicted by a model that was fitted without it.", e.Rows))}}
	for i := range e.Targets {
		s.Parts = append(s.Parts, scoreTable(&e.Targets[i]))
		s.Parts = append(s.Parts, classTable(&e.Targets[i])...)
	}
	return s
}

// classTable shows the scores of each class, if there are classes.
func classTable(t *fit.TargetEvaluation) []report.Part {
	rows := t.ClassTable()
	if rows == nil {
		return nil
	}
	caption := "The classes. Precision: of the rows predicted as the class, the share that are of it. Recall: of the rows of the class, the share predicted as it. The calibration error is of the probability of the class."
	if more := len(t.Names) - len(rows) + 1; more > 0 {
		caption += fmt.Sprintf(" %d rarer classes are not listed.", more)
	}
	return []report.Part{report.Table{Caption: caption, Head: rows[0], Rows: rows[1:]}}
}

// scoreTable shows the scores.
func scoreTable(t *fit.TargetEvaluation) report.Table {
	out := report.Table{Caption: "Scores, ± standard error.", Head: []string{"score", "value", "meaning"}}
	for _, x := range t.List() {
		out.Rows = append(out.Rows, []string{x.Name, x.Text, x.Meaning})
	}
	return out
}

// varianceTable shows where the variance comes from.
func varianceTable(t *fit.TargetEvaluation, m *fit.Model) report.Table {
	b := t.Variance
	sum := b.Weights + b.Inputs + b.Noise
	weights, noise := "what the network does not know; more rows would lower it", percent(b.Noise, sum)
	if m.NoiseInWeights() {
		weights, noise = "what the network does not know, and the noise, which the weights have learned as well", "within the weights"
	}
	return report.Table{Caption: "Where the predicted variance comes from, as a mean over the rows.",
		Head: []string{"part", "share", "meaning"}, Rows: [][]string{
			{"weights", percent(b.Weights, sum), weights},
			{"inputs", percent(b.Inputs, sum), "the standard deviations of the inputs"},
			{"noise", noise, "scatter that the inputs do not explain"},
		}}
}

func insightSection(in *fit.Insight, dir string) (report.Section, error) {
	s := report.Section{Title: "What the predictions depend on"}
	figures := insightFigures(in)
	if err := saveFigures(dir, "", figures); err != nil {
		return s, err
	}
	if in.Skipped != "" {
		s.Parts = append(s.Parts, report.Prose("Column importance skipped: "+in.Skipped+". The figures show the first columns of the table."))
	}
	if in.Columns > 0 {
		s.Parts = append(s.Parts, report.Prose(fmt.Sprintf("Of %d columns, blocks were shuffled, and those of the blocks that matter most one by one: these are the columns that matter most.", in.Columns)))
	}
	for _, f := range figures {
		s.Parts = append(s.Parts, f.Picture)
	}
	return s, nil
}

func tableSection(m *fit.Model) (report.Section, error) {
	t := report.Table{Head: []string{"column", "use", "values", "missing"}}
	shown, more := m.Schema.Shown()
	for _, c := range shown {
		t.Rows = append(t.Rows, []string{c.Name, use(c), values(c), fmt.Sprint(c.Missing)})
	}
	if more > 0 {
		t.Caption = fmt.Sprintf("%d more columns are not listed.", more)
	}
	of := "inputs"
	if len(m.Schema.Inputs()) == 1 {
		of = "input"
	}
	return report.Section{Title: "The table", Parts: []report.Part{
		report.Prose(fmt.Sprintf("Found in the %d training rows. The network has %d %s.", m.Schema.Rows, len(m.Schema.Inputs()), of)), t}}, nil
}

func use(c schema.Column) string {
	switch {
	case c.Role == schema.Input && c.StdFrom != "":
		return "input, standard deviation from " + c.StdFrom
	case c.Role == schema.Input && c.Std > 0:
		return fmt.Sprintf("input, standard deviation %.4g", c.Std)
	case c.Note != "":
		return string(c.Role) + ": " + c.Note
	}
	return string(c.Role)
}

func values(c schema.Column) string {
	switch c.Type {
	case schema.Numeric, schema.Times:
		return c.Range()
	case schema.Categorical:
		const most = 8
		s := strings.Join(c.Levels[:min(most, len(c.Levels))], ", ")
		if n := len(c.Levels) + c.Rarer; n > most {
			s += fmt.Sprintf(" … (%d)", n)
		}
		return s
	}
	return ""
}

func settingsSection(m *fit.Model) (report.Section, error) {
	var b strings.Builder
	err := m.Facts.Config.WriteYAML(&b, m)
	return report.Section{Title: "Settings", Parts: []report.Part{
		report.Prose("All settings, in the form of a settings file (--config). utvi chose the settings that are empty or zero; comments say what."), report.Source(b.String())}}, err
}
