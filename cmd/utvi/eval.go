package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"utvi/internal/compute"
	"utvi/internal/fitpage"
)

func evalCommand() *cobra.Command {
	var (
		table  tableFlags
		dir    string
		asJSON bool
	)
	cmd := &cobra.Command{
		Use:   "eval MODEL TABLE",
		Short: "Score a model's predictions of the rows of a table",
		Long: `Predict the rows of a table that also holds the targets, and score the predictions:
log-likelihood, RMSE, R², MAE, CRPS, coverage and width of intervals, calibration error
and sharpness; for classes, accuracy, log-likelihood, Brier score, calibration error,
and precision and recall of each class. Beside them stand the scores of always
predicting the mean, or the most frequent class, of the training rows. --report also
writes a page with figures. The predictions of a calibrated model are scored after their
correction.

Rows without a target, and rows whose prediction is not finite, are left out and counted.
A note says so if the model was trained with some of these rows.`,
		Example: `  utvi eval price.utvi test.csv
  utvi eval price.utvi test.csv --json
  utvi eval price.utvi test.csv --report test-report`,
		Args: modelAndTable,
		RunE: func(cmd *cobra.Command, args []string) error {
			m, err := loadTableModel(args[0])
			if err != nil {
				return err
			}
			if dir != "" {
				if _, err := os.Stat(filepath.Join(dir, "fit.yaml")); err == nil {
					return fmt.Errorf("--report would overwrite the report of a fit in %s; name another folder", dir)
				}
				if err := makeFolder(dir); err != nil {
					return err
				}
			}
			pool := compute.NewPool(compute.Workers(0))
			defer pool.Close()
			rows, err := table.open(args[1], pool)
			if err != nil {
				return err
			}
			defer rows.Close()
			bar := newRowProgress(cmd.ErrOrStderr(), rows, estimateRows(args[1]))
			e, err := m.Evaluate(cmd.Context(), bar, pool)
			bar.close()
			if err != nil {
				return err
			}
			if dir != "" {
				if err := fitpage.SaveEvaluation(dir, e, m); err != nil {
					return err
				}
			}
			w := cmd.OutOrStdout()
			if asJSON {
				return writeJSON(w, e)
			}
			if s := m.CalibrationText(); s != "" {
				tell(cmd, "predictions are calibrated: %s", s)
			}
			for _, note := range e.Notes {
				tell(cmd, "note: %s", note)
			}
			if err := printScores(w, e.Scores()); err != nil {
				return err
			}
			_, err = fmt.Fprintf(w, "unfamiliar rows    %.1f %%\n", 100*e.Unfamiliar)
			if err == nil && dir != "" {
				_, err = fmt.Fprintf(w, "\nWrote %s.\n", filepath.Join(dir, "report.html"))
			}
			return err
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&dir, "report", "", "folder to write a page, figures and metrics.json to")
	f.BoolVar(&asJSON, "json", false, "print JSON")
	table.flags(f)
	return cmd
}
