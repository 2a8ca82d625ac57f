package fit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"utvi/internal/atomicfile"
	"utvi/internal/provenance"
	"utvi/report"
	"utvi/table"
	"utvi/tabular"
)

// Save writes the report of a fit into a folder: report.html, metrics.json with every
// number, the settings as fit.yaml, and the figures.
func (r *Result) Save(dir string) error {
	page := report.Page{
		Title:      "Predicting " + names(r.Model),
		Subtitle:   fmt.Sprintf("%s, learned from %d rows of %s and tried on %d that were held out", r.Model.Schema.Task, r.Model.Facts.Rows, r.Evaluation.File, r.Evaluation.Rows),
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
	sections, err := r.Evaluation.sections(r.Model, dir)
	if err != nil {
		return err
	}
	for _, f := range []func() (report.Section, error){
		func() (report.Section, error) { return r.Insight.section(dir) },
		func() (report.Section, error) { return r.Model.networkSection(dir) },
		r.Model.tableSection,
		r.Model.settingsSection,
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
	metrics := map[string]any{"evaluation": r.Evaluation, "importance": r.Insight.Importance, "network": r.Model.Net.Report}
	if err := writeJSON(filepath.Join(dir, "metrics.json"), metrics); err != nil {
		return err
	}
	return page.Save(filepath.Join(dir, "report.html"))
}

// Save writes the report of an evaluation into a folder: report.html, metrics.json
// and the figures.
func (e *Evaluation) Save(dir string, m *Model) error {
	if err := os.MkdirAll(filepath.Join(dir, "figures"), 0o777); err != nil {
		return err
	}
	page := report.Page{
		Title:    "Predictions of " + names(m),
		Subtitle: fmt.Sprintf("%s, tried on %d rows of %s", m.Schema.Task, e.Rows, e.File), Provenance: origin(m),
	}
	var err error
	if page.Sections, err = e.sections(m, dir); err != nil {
		return err
	}
	if err := writeJSON(filepath.Join(dir, "metrics.json"), map[string]any{"evaluation": e}); err != nil {
		return err
	}
	return page.Save(filepath.Join(dir, "report.html"))
}

func names(m *Model) string {
	var all []string
	for _, t := range m.Schema.Targets() {
		all = append(all, t.Name)
	}
	return strings.Join(all, ", ")
}

func origin(m *Model) []report.Fact {
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
func (e *Evaluation) sections(m *Model, dir string) ([]report.Section, error) {
	var all []report.Section
	for i, column := range m.Schema.Targets() {
		t := &e.Targets[i]
		s := report.Section{Title: "How good the predictions are"}
		prefix := ""
		if len(e.Targets) > 1 {
			s.Title += ": " + column.Name
			prefix = fileName(column.Name) + "-"
		}
		s.Parts = append(s.Parts, t.table())
		figures := t.figures(column)
		if err := saveFigures(dir, prefix, figures); err != nil {
			return nil, err
		}
		for _, f := range figures {
			s.Parts = append(s.Parts, f.Picture)
		}
		if t.Numbers != nil {
			s.Parts = append(s.Parts, t.budgetTable(m))
		}
		s.Parts = append(s.Parts, report.Prose(fmt.Sprintf("%s of these rows are unfamiliar: farther from the training rows, or less sure to the network, than 99 of 100 of them.", percent(e.Unfamiliar, 1))))
		all = append(all, s)
	}
	return all, nil
}

// table shows the scores.
func (t *TargetEvaluation) table() report.Table {
	out := report.Table{Caption: "Scores, ± the standard error that another draw of rows would show.", Head: []string{"score", "value", "meaning"}}
	for _, x := range t.List() {
		out.Rows = append(out.Rows, []string{x.Name, x.Text, x.Meaning})
	}
	return out
}

// budgetTable tells where the variance comes from.
func (t *TargetEvaluation) budgetTable(m *Model) report.Table {
	b := t.Budget
	sum := b.Weights + b.Inputs + b.Noise
	weights := "what the network does not know; more rows would lower it"
	if m.noiseInWeights() {
		weights = "what the network does not know, and the noise, which its weights have learned too"
	}
	return report.Table{Caption: "Where the predicted variance comes from, in the mean over the rows.",
		Head: []string{"part", "share", "meaning"}, Rows: [][]string{
			{"weights", percent(b.Weights, sum), weights},
			{"inputs", percent(b.Inputs, sum), "the inputs' own standard deviations"},
			{"noise", percent(b.Noise, sum), "what the inputs cannot tell"},
		}}
}

func (in *Insight) section(dir string) (report.Section, error) {
	s := report.Section{Title: "What the predictions rest on"}
	figures := in.figures()
	if err := saveFigures(dir, "", figures); err != nil {
		return s, err
	}
	for _, f := range figures {
		s.Parts = append(s.Parts, f.Picture)
	}
	return s, nil
}

func (m *Model) networkSection(dir string) (report.Section, error) {
	r := m.Net.Report
	s := report.Section{Title: "The network"}
	t := report.Table{Caption: "Candidates, tried on rows of the training table that were held out from them, and how many members of the ensemble are of each.",
		Head: []string{"candidate", "log-likelihood", "members"}}
	for _, x := range r.Trials {
		n := 0
		for _, y := range r.Members {
			if y.Candidate == x.Candidate {
				n++
			}
		}
		score := fmt.Sprintf("%.4f ± %.2g", x.Score, x.SE)
		if x.Failed != "" {
			score = "failed: " + x.Failed
		}
		t.Rows = append(t.Rows, []string{x.Candidate.String(), score, fmt.Sprint(n)})
	}
	s.Parts = append(s.Parts, t)
	if r.Partial {
		s.Parts = append(s.Parts, report.Warning("The training was stopped early: this is the best of what there was. utvi fit --resume continues it."))
	} else {
		s.Parts = append(s.Parts, report.Prose(fmt.Sprintf("Together the members reach %.4f ± %.2g nats a row, of standardised targets, on %d rows held out to choose by.", r.Score, r.SE, r.Held)))
	}
	figures := []figure{{"training", report.Picture{Figure: report.Grid{Charts: m.trainingCharts()}, Title: "How the trainings went.",
		Caption: "Negative log-likelihood of standardised targets, less is better: left of the candidates on rows held out from them, right of the members on the rows they learn from. A member stops where its candidate was best."}}}
	if err := saveFigures(dir, "", figures); err != nil {
		return s, err
	}
	s.Parts = append(s.Parts, figures[0].Picture)
	return s, nil
}

func (m *Model) trainingCharts() []report.Chart {
	r := m.Net.Report
	trials := report.Chart{Title: "candidates, rows held out", X: report.Axis{Label: "step"}, Y: report.Axis{Label: "negative log-likelihood"}}
	for i, x := range r.Trials {
		t := report.Trace{Name: x.Candidate.String(), Colour: report.Series(i), Style: report.LineMarks}
		for _, p := range x.Curve {
			t.X, t.Y = append(t.X, float64(p.Step)), append(t.Y, p.Held)
		}
		trials.Traces = append(trials.Traces, t)
	}
	members := report.Chart{Title: "members, rows learned from", X: report.Axis{Label: "step"}, Y: report.Axis{Label: "training loss"}}
	for _, x := range r.Members {
		at := max(0, slices.IndexFunc(r.Trials, func(y tabular.Trial) bool { return y.Candidate == x.Candidate }))
		t := report.Trace{Colour: report.Series(at)}
		for _, p := range x.Curve {
			t.X, t.Y = append(t.X, float64(p.Step)), append(t.Y, p.Train)
		}
		members.Traces = append(members.Traces, t)
	}
	return []report.Chart{trials, members}
}

func (m *Model) tableSection() (report.Section, error) {
	var b strings.Builder
	err := m.Schema.WriteSummary(&b)
	return report.Section{Title: "The table", Parts: []report.Part{report.Source(b.String())}}, err
}

func (m *Model) settingsSection() (report.Section, error) {
	var b strings.Builder
	err := m.Facts.Config.WriteYAML(&b)
	return report.Section{Title: "Settings", Parts: []report.Part{
		report.Prose("All settings, as --config takes them. What is empty or zero was left to be found out."), report.Source(b.String())}}, err
}

// noiseInWeights tells whether the network has no noise of its own.
func (m *Model) noiseInWeights() bool {
	return m.Schema.Task == table.Regression && len(m.Net.Report.Members) > 0 && m.Net.Report.Members[0].Noise == tabular.Embedded
}
