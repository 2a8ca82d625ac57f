package main

import (
	"fmt"
	"path/filepath"
	"strings"

	"utvi/fit"
	"utvi/internal/fitpage"
	"utvi/internal/schema"
)

// summary prints the columns before the training begins.
func (r *fitting) summary(s *schema.Schema) {
	s.WriteSummary(r.stdout)
	fmt.Fprintln(r.stdout)
}

// write writes the model and the report, and prints the scores. What cannot be printed
// is an error of the command (see output).
func (r *fitting) write(result *fit.Result) error {
	files, err := r.save(result)
	if err != nil {
		return err
	}
	if result.Losing != "" {
		fmt.Fprintf(r.stdout, "WARNING: %s.\n\n", result.Losing)
	}
	r.printTargets(result.Model)
	if result.Evaluation == nil {
		_, err := fmt.Fprintf(r.stdout, "No rows are held out: the model is not evaluated.\nWrote %s.\n", files)
		return err
	}
	if err := r.printEvaluation(result); err != nil {
		return err
	}
	switch facts := result.Model.Facts; {
	case facts.Interrupted:
		fmt.Fprintln(r.stdout, "\nThe training ended early: this is the best model so far.")
	case facts.Refitted > 0:
		fmt.Fprintf(r.stdout, "\nAfter this evaluation the networks were trained again with all %d rows (--refit never keeps them as they are scored).\n", facts.Rows)
	}
	if ratio := result.Ratio; ratio != nil {
		fmt.Fprintf(r.stdout, "\nOf the weights alone: %v.\n%s\n", ratio, ratio.Sentence())
	}
	if text := importanceText(result); text != "" {
		fmt.Fprintf(r.stdout, "\n%s", text)
	}
	_, err = fmt.Fprintf(r.stdout, "\nWrote %s.\n", files)
	return err
}

// save writes the model and the report, and names what it wrote.
func (r *fitting) save(result *fit.Result) (files string, err error) {
	if err := saveTo(r.out, result.Model.Save); err != nil {
		return "", err
	}
	if r.report == "none" {
		return r.out, nil
	}
	if err := fitpage.Save(r.report, result); err != nil {
		return "", err
	}
	return r.out + " and " + filepath.Join(r.report, "report.html"), nil
}

// printTargets says which targets are predicted in another way than as they are.
func (r *fitting) printTargets(m *fit.Model) {
	for i, c := range m.Schema.Targets() {
		if w := m.Net.Warp(i); w != nil {
			fmt.Fprintf(r.stdout, "%s is predicted by its %v: held-out rows are more probable so.\n\n", tame(c.Name), w)
		}
	}
	if s := countsText(m); s != "" {
		fmt.Fprintf(r.stdout, "%s: held-out rows are more probable so.\n\n", s)
	}
}

// printEvaluation prints the scores of the held-out rows and of the cross-validation.
func (r *fitting) printEvaluation(result *fit.Result) error {
	held := result.Evaluation
	fmt.Fprintf(r.stdout, "Scores on %s:\n", plural(held.Rows, "held-out row", "held-out rows"))
	if err := printScores(r.stdout, held.Scores()); err != nil {
		return err
	}
	facts := result.Model.Facts
	all := facts.Rows - facts.Refitted + held.Rows
	if folds := r.config.FewestFolds(all); held.Rows < 30 && folds > 0 && r.folds == 0 {
		fmt.Fprintf(r.stdout, "With --folds %d, all %d rows are scored.\n", folds, all)
	}
	for _, note := range held.Notes {
		fmt.Fprintf(r.stdout, "Note: %s.\n", note)
	}
	crossed := result.CrossValidation
	if crossed == nil {
		return nil
	}
	fmt.Fprintf(r.stdout, "\nScores of all %s, each predicted by a model that did not see it (%d folds):\n", plural(crossed.Rows, "row", "rows"), r.folds)
	return printScores(r.stdout, crossed.Scores())
}

// importanceText lists the columns that matter, or says why none are listed.
func importanceText(result *fit.Result) string {
	if result.Model.Schema.Pictures() && len(result.Insight.Importance) == 0 {
		return ""
	}
	if why := result.Insight.Skipped; why != "" {
		return "Column importance skipped: " + why + "."
	}
	which := ""
	if n := result.Insight.Columns; n > 0 {
		which = fmt.Sprintf("; those that matter most, found by shuffling blocks of all %d", n)
	}
	return "Column importance (nats per row lost without the column" + which + "): " + listImportance(result.Insight.Importance)
}

// listImportance names ten columns, and says how many others the report has.
func listImportance(all []fit.Importance) string {
	const most = 10
	var named []string
	for _, i := range all[:min(most, len(all))] {
		named = append(named, fmt.Sprintf("%s %.2g", tame(i.Column), i.Loss))
	}
	text := strings.Join(named, ", ")
	if n := len(all) - most; n > 0 {
		text += " and " + plural(n, "other column", "other columns")
	}
	return text
}

func plural(n int, one, many string) string {
	if n == 1 {
		many = one
	}
	return fmt.Sprintf("%d %s", n, many)
}
