package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"utvi/fit"
	"utvi/internal/compute"
	"utvi/internal/fitpage"
	"utvi/table"
)

const evalHelp = `Predict the rows of a table that also holds the targets, and score the predictions:
log-likelihood, RMSE, R², MAE, CRPS, coverage and width of intervals, calibration error
and sharpness; for classes, accuracy, log-likelihood, Brier score, calibration error,
and precision and recall of each class. Beside them stand the scores of always
predicting the mean, or the most frequent class, of the training rows. --report also
writes a page with figures. The predictions of a calibrated model are scored after their
correction.

Rows without a target, rows whose prediction is not finite, and rows with a cell that cannot be read,
such as text in a column of numbers, are left out and counted (--strict stops at such a cell).
A note says so if the model was trained with some of these rows.`

const evalExamples = `  utvi eval price.utvi test.csv
  utvi eval price.utvi test.csv --json
  utvi eval price.utvi test.csv --report test-report`

// evalOptions are what the flags of eval ask for.
type evalOptions struct {
	table  tableFlags
	report string // folder; "": none
	asJSON bool
	strict bool
}

func evalCommand() *cobra.Command {
	o := &evalOptions{}
	cmd := &cobra.Command{
		Use:     "eval MODEL TABLE",
		Short:   "Score a model's predictions of the rows of a table",
		Long:    evalHelp,
		Example: evalExamples,
		Args:    modelAndTable,
		RunE:    func(cmd *cobra.Command, args []string) error { return o.run(cmd, args[0], args[1]) },
	}
	o.flags(cmd.Flags())
	return cmd
}

func (o *evalOptions) flags(f *pflag.FlagSet) {
	f.SortFlags = false
	f.StringVar(&o.report, "report", "", "`folder` to write a page, figures and metrics.json to")
	f.BoolVar(&o.asJSON, "json", false, "print JSON")
	f.BoolVar(&o.strict, "strict", false, "stop at a cell that cannot be read (default its row is left out of the scores, and counted)")
	o.table.flags(f)
	o.table.arrayFlags(f, true)
}

func (o *evalOptions) run(cmd *cobra.Command, file, rows string) error {
	m, err := loadTableModel(file)
	if p, failed := pixelModel(file, err); p != nil || failed != nil {
		if failed != nil {
			return failed
		}
		return o.pixels(cmd, p, rows)
	}
	if err != nil {
		return err
	}
	if err := o.table.checkArray(); err != nil {
		return err
	}
	o.table.call(m)
	if err := o.ready(); err != nil {
		return err
	}
	var e *fit.Evaluation
	err = o.table.stream(rows, cmd.ErrOrStderr(), func(rows table.Source, pool *compute.Pool) error {
		var err error
		e, err = m.Evaluate(cmd.Context(), rows, pool)
		return err
	})
	if err != nil {
		return err
	}
	if o.strict && e.Unread > 0 {
		return errors.New(e.FirstUnread)
	}
	if o.report != "" {
		if err := fitpage.SaveEvaluation(o.report, e, m); err != nil {
			return err
		}
	}
	if o.asJSON {
		return writeJSON(cmd.OutOrStdout(), e)
	}
	return o.print(cmd, m, e)
}

// ready makes the folder of the report. That of a fit is kept.
func (o *evalOptions) ready() error {
	if o.report == "" {
		return nil
	}
	if _, err := os.Stat(filepath.Join(o.report, "fit.yaml")); err == nil {
		return fmt.Errorf("--report would overwrite the report of a fit in %s; name another folder", o.report)
	}
	return makeFolder(o.report)
}

func (o *evalOptions) print(cmd *cobra.Command, m *fit.Model, e *fit.Evaluation) error {
	tellCalibration(cmd, m)
	for _, note := range e.Notes {
		tell(cmd, "note: %s", note)
	}
	w := cmd.OutOrStdout()
	if err := printScores(w, e.Scores()); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "ood above 1        %.1f %%\n", 100*e.OODAbove1)
	if err == nil && o.report != "" {
		_, err = fmt.Fprintf(w, "\nWrote %s.\n", filepath.Join(o.report, "report.html"))
	}
	return err
}
