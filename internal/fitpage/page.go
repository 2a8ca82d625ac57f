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

	"utvi/fit"
	"utvi/internal/atomicfile"
	"utvi/internal/provenance"
	"utvi/internal/report"
	"utvi/table"
)

// Save writes the report of a fit into a folder: report.html, metrics.json with every
// number, the settings as fit.yaml, and the figures.
func Save(dir string, r *fit.Result) error {
	page := report.Page{
		Title:      "Predicting " + names(r.Model),
		Subtitle:   fmt.Sprintf("%s, trained on %d rows of %s and tested on %d held-out rows", r.Model.Schema.Task, r.Model.Facts.Rows, r.Evaluation.File, r.Evaluation.Rows),
		Provenance: origin(r.Model),
	}
	figures := filepath.Join(dir, "figures")
	if err := os.MkdirAll(figures, 0o777); err != nil {
		return err
	}
	var sections []report.Section
	if r.Model.Facts.Interrupted {
		page.Subtitle += "; the training was stopped early"
	}
	sections, err := evaluationSections(r.Evaluation, r.Model, dir)
	if err != nil {
		return err
	}
	for _, f := range []func() (report.Section, error){
		func() (report.Section, error) { return insightSection(r.Insight, dir) },
		func() (report.Section, error) { return networkSection(r, dir) },
		func() (report.Section, error) { return tableSection(r.Model) },
		func() (report.Section, error) { return settingsSection(r.Model) },
	} {
		s, err := f()
		if err != nil {
			return err
		}
		sections = append(sections, s)
	}
	page.Sections = sections
	var yaml bytes.Buffer
	if err := r.Model.Facts.Config.WriteYAML(&yaml); err != nil {
		return err
	}
	if err := writeFile(filepath.Join(dir, "fit.yaml"), yaml.Bytes()); err != nil {
		return err
	}
	metrics := map[string]any{"evaluation": r.Evaluation, "importance": r.Insight.Importance, "network": r.Model.Net.Report, "sigma_ratio": r.Ratio}
	if err := writeJSON(filepath.Join(dir, "metrics.json"), metrics); err != nil {
		return err
	}
	return page.Save(filepath.Join(dir, "report.html"))
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
	if page.Sections, err = evaluationSections(e, m, dir); err != nil {
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
			s.Parts = append(s.Parts, report.Warning(note+"."))
		}
		s.Parts = append(s.Parts, scoreTable(t))
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
		s.Parts = append(s.Parts, report.Prose(fmt.Sprintf("%s of these rows are unfamiliar: they are farther from the training rows, or the network is less sure of them, than for 99 of 100 training rows.", percent(e.Unfamiliar, 1))))
		all = append(all, s)
	}
	return all, nil
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
	weights := "what the network does not know; more rows would lower it"
	if m.NoiseInWeights() {
		weights = "what the network does not know, and the noise, which the weights have learned as well"
	}
	return report.Table{Caption: "Where the predicted variance comes from, as a mean over the rows.",
		Head: []string{"part", "share", "meaning"}, Rows: [][]string{
			{"weights", percent(b.Weights, sum), weights},
			{"inputs", percent(b.Inputs, sum), "the standard deviations of the inputs"},
			{"noise", percent(b.Noise, sum), "scatter that the inputs do not explain"},
		}}
}

func insightSection(in *fit.Insight, dir string) (report.Section, error) {
	s := report.Section{Title: "What the predictions depend on"}
	figures := insightFigures(in)
	if err := saveFigures(dir, "", figures); err != nil {
		return s, err
	}
	if len(in.Importance) == 0 {
		s.Parts = append(s.Parts, report.Prose(fmt.Sprintf("Column importance skipped: at least %d held-out rows are needed. The figures show the first columns of the table.", fit.MinImportanceRows)))
	}
	for _, f := range figures {
		s.Parts = append(s.Parts, f.Picture)
	}
	return s, nil
}

func tableSection(m *fit.Model) (report.Section, error) {
	t := report.Table{Head: []string{"column", "use", "values", "missing"}}
	for _, c := range m.Schema.Columns {
		t.Rows = append(t.Rows, []string{c.Name, use(c), values(c), fmt.Sprint(c.Missing)})
	}
	return report.Section{Title: "The table", Parts: []report.Part{
		report.Prose(fmt.Sprintf("Found in the %d training rows. The network has %d inputs.", m.Schema.Rows, len(m.Schema.Inputs()))), t}}, nil
}

func use(c table.Column) string {
	switch {
	case c.Role == table.Input && c.StdFrom != "":
		return "input, standard deviation from " + c.StdFrom
	case c.Role == table.Input && c.Std > 0:
		return fmt.Sprintf("input, standard deviation %.4g", c.Std)
	case c.Note != "":
		return string(c.Role) + ": " + c.Note
	}
	return string(c.Role)
}

func values(c table.Column) string {
	switch c.Type {
	case table.Numeric:
		return fmt.Sprintf("%.4g to %.4g", c.Min, c.Max)
	case table.Categorical:
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
	err := m.Facts.Config.WriteYAML(&b)
	return report.Section{Title: "Settings", Parts: []report.Part{
		report.Prose("All settings, in the form of a settings file (--config). utvi chose the settings that are empty or zero."), report.Source(b.String())}}, err
}
