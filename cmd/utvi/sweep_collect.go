package main

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"utvi/internal/atomicfile"
	"utvi/internal/report"
	"utvi/internal/sweep"
)

func sweepCollectCommand() *cobra.Command {
	var folder sweepFolder
	var to string
	cmd := &cobra.Command{
		Use:   "collect plan.json",
		Short: "Average the results of a plan",
		Long: `Average the results of a plan over each group of replicates, print a table and
write these files to --to: summary.md, summary.csv, summary.json, trials.csv with a
row for every trial, and a figure for every metric. If some trials are not done,
every file says so. Of a plan of predict, the predictions of each table whose trials
are all done are put together in a file, too; of a plan of locate, the molecules of each
stack are, with a page.`,
		Example: `  utvi sweep collect plan.json --to summary`,
		Args:    planArg,
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := look(args[0], folder.of(args[0]))
			if err != nil {
				return err
			}
			if to == "" {
				to = strings.TrimSuffix(args[0], ".json") + ".summary"
			}
			if err := saveSummary(to, s); err != nil {
				return err
			}
			if err := s.WriteMarkdown(cmd.OutOrStdout()); err != nil {
				return err
			}
			if _, err := fmt.Fprintf(cmd.OutOrStdout(), "\nWrote tables and figures to %s.\n", to); err != nil {
				return err
			}
			if err := joinPredictions(cmd, folder.of(args[0]), to, s); err != nil {
				return err
			}
			return joinStacks(cmd, folder.of(args[0]), to, s)
		},
	}
	folder.flag(cmd.Flags())
	cmd.Flags().StringVar(&to, "to", "", "`folder` of the tables and figures (default the plan's name with .summary)")
	return cmd
}

func saveSummary(dir string, s *sweep.Summary) error {
	if err := makeFolder(dir); err != nil {
		return err
	}
	for name, write := range map[string]func(io.Writer) error{
		"summary.md":   s.WriteMarkdown,
		"summary.csv":  s.WriteCSV,
		"trials.csv":   s.WriteTrials,
		"summary.json": func(w io.Writer) error { return writeJSON(w, s) },
	} {
		if err := atomicfile.Write(filepath.Join(dir, name), write); err != nil {
			return err
		}
	}
	for name, f := range summaryFigures(s) {
		if err := report.Save(filepath.Join(dir, name+".svg"), f); err != nil {
			return err
		}
	}
	return nil
}

// summaryFigures draw the groups' means ± standard errors, one for each metric.
func summaryFigures(s *sweep.Summary) map[string]report.Figure {
	figures := map[string]report.Figure{}
	forests := map[string]*report.Forest{}
	for _, g := range s.Groups {
		for _, m := range g.Metrics {
			f := forests[m.Name]
			if f == nil {
				f = &report.Forest{X: report.Axis{Label: m.Name + ", mean ± standard error"}}
				if s.Partial() {
					f.Title = fmt.Sprintf("Partial: %d of %d trials", s.Done, s.Trials)
				}
				forests[m.Name] = f
			}
			row := report.ForestRow{Name: g.Name, Value: m.Mean}
			if m.SE != nil {
				row.SD = *m.SE
			}
			f.Rows = append(f.Rows, row)
		}
	}
	for name, f := range forests {
		figures[fileName(name)] = *f
	}
	return figures
}

// fileName is a metric's name with nothing that a file's must not have.
func fileName(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || strings.ContainsRune(`/\:*?"<>|`, r) {
			return '-'
		}
		return r
	}, s)
}
