package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"utvi/fit"
)

// printTableModel shows the table, the scores and the calibration of a tabular model.
func printTableModel(w io.Writer, m *fit.Model) error {
	if err := m.Schema.WriteSummary(w); err != nil {
		return err
	}
	t := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	fmt.Fprintln(t)
	seen := map[string]int{}
	for _, x := range m.Net.Report.Members {
		seen[x.Candidate.String()]++
	}
	for _, x := range m.Net.Report.Trials {
		if n := seen[x.Candidate.String()]; n > 0 {
			fmt.Fprintf(t, "networks\t%d × %s\n", n, x.Candidate)
		}
	}
	for i, c := range m.Schema.Targets() {
		if w := m.Net.Warp(i); w != nil {
			fmt.Fprintf(t, "target\t%s is predicted by its %v\n", tame(c.Name), w)
		}
	}
	if s := countsText(m); s != "" {
		fmt.Fprintf(t, "target\t%s\n", s)
	}
	fmt.Fprintf(t, "trained on\t%d rows, seed %d\n", m.Facts.Rows, m.Facts.Config.Seed)
	if m.Facts.Interrupted {
		fmt.Fprintln(t, "training\tstopped early")
	}
	if n := m.Facts.Refitted; n > 0 {
		fmt.Fprintf(t, "refit\tthe %d rows held out were trained with, too, once they were scored\n", n)
	}
	calibration := m.CalibrationText()
	if calibration == "" {
		calibration = "none"
	}
	fmt.Fprintf(t, "calibration\t%s\n", calibration)
	if err := t.Flush(); err != nil {
		return err
	}
	if m.Net.Report.Imported {
		return nil
	}
	if m.Facts.Held == nil {
		_, err := fmt.Fprintln(w, "\nNo rows were held out: the model is not evaluated.")
		return err
	}
	when := "rows, before any calibration"
	if m.Schema.Pictures() {
		when = "images, as the model was fitted"
	}
	fmt.Fprintf(w, "\nScores on held-out %s:\n", when)
	return printScores(w, m.Facts.Held)
}

// countsText says how counts are predicted, "" if the targets are not counts.
func countsText(m *fit.Model) string {
	if !m.Counts() {
		return ""
	}
	var names []string
	for _, t := range m.Targets() {
		names = append(names, tame(t))
	}
	isAre, count := "is", "a count"
	if len(names) > 1 {
		isAre, count = "are", "counts"
	}
	return fmt.Sprintf("%s %s predicted as %s (%s)", strings.Join(names, ", "), isAre, count, strings.ReplaceAll(m.Net.Report.Members[0].Noise, "-", " "))
}
