package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"utvi/engine/gpu"
	"utvi/fit"
	"utvi/internal/fitpage"
	"utvi/internal/live"
	"utvi/table"
	"utvi/table/schema"
	"utvi/tabular"
)

// A fitting is what the flags of fit ask for.
type fitting struct {
	settings    fitFlags
	table       tableFlags
	out, report string
	resume      bool
	fresh       bool
	jobs        int
	live        liveFlag
	folds       int
	minutes     float64
	device      deviceFlag

	config fit.Config
	stdout io.Writer
}

func fitCommand() *cobra.Command {
	r := &fitting{}
	cmd := &cobra.Command{
		Use:   "fit TABLE --target COLUMN",
		Short: "Learn to predict a column of a table, with error bars",
		Long: `Learn to predict a column of a table, or several, from the others: read the table
(CSV, TSV, Parquet, .npy, .npz, also .gz; - is standard input), find out what its
columns are, hold out some rows, choose and train an ensemble of networks on the
other rows, evaluate it on the held-out rows, and write the model and a report.

Cells may be written as people write them: 7,637 or 1.234,56, $0.63, 12 %, 5 kg, dates and
times, - or NA for a missing value. Whether 1,516 means 1516 follows from the other cells of
the column and from the columns in use; if that is a guess, a warning says so and --decimal
decides. A text among numbers stops the fit, and so does a target of dates. Files may be in
UTF-8, UTF-16 or Latin-1, with fields separated by commas, semicolons, tabs, | or blanks.

Columns of dates become a trend and the place within the year, the week and the day. Columns
with many different names are embedded: each name gets learned numbers with error bars.
Targets that are counts get a distribution of counts if held-out rows are more probable so.
Rows without a target are set aside. Warnings name columns and rows that look wrong: copies of
the target, columns that are the same, repeated rows, columns without values.

Nothing needs tuning. Settings can be given by flags or in a file (--config). The report
lists all settings in the form of such a file.

Ctrl-C writes the best model so far and its report, and exits with status 75. The same
command with --resume continues and gives the same bits as a fit that was not stopped.
With --fresh it starts again.`,
		Example: `  utvi fit data.csv --target price
  utvi fit data.csv --target class --task classification --ignore id,name
  utvi fit runs.parquet --target y --target z --group patient --ensemble 10
  utvi fit data.csv --target y --input-std length=0.1 --impute
  utvi fit small.csv --target y --folds 10
  utvi fit large.csv --target y --minutes 30
  utvi fit data.csv --config fit.yaml --seed 2 --out second.utvi`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usagef("%s takes one table, not %d arguments", cmd.CommandPath(), len(args))
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	r.settings.flags(f)
	r.table.flags(f)
	f.StringVar(&r.out, "out", "", "model file (default the target's name with .utvi)")
	f.StringVar(&r.report, "report", "", "folder of the report (default the model's name with -report), or none for no report")
	f.BoolVar(&r.resume, "resume", false, "continue a fit that was stopped")
	f.BoolVar(&r.fresh, "fresh", false, "discard a fit that was stopped and start again")
	f.IntVar(&r.folds, "folds", 0, "also fit that many further models, each without one part of the rows, and score every row by the model that did not see it; for small tables")
	f.Float64Var(&r.minutes, "minutes", 0, "stop training after this time and keep the best model so far (with --folds, all models share the time); the result then depends on the machine")
	f.IntVar(&r.jobs, "jobs", 0, "number of trainings at the same time (default the number of cores, or as many as suit the card)")
	r.device.flag(f)
	r.live.flag(f)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := r.live.check(); err != nil {
			return err
		}
		if f.Changed("jobs") && r.jobs < 1 {
			return usagef("--jobs is %d; it must be at least 1", r.jobs)
		}
		if r.resume && r.fresh {
			return usagef("--resume continues a fit and --fresh starts again; give only one of them")
		}
		if f.Changed("folds") && r.folds < 2 {
			return usagef("--folds is %d; it must be at least 2", r.folds)
		}
		if f.Changed("minutes") && !(r.minutes > 0 && r.minutes < 1e6) {
			return usagef("--minutes is %g; it must be a number above 0", r.minutes)
		}
		var err error
		r.config, err = r.settings.config(f)
		if err != nil {
			return err
		}
		if r.config.Holdout < 0 && r.folds > 0 {
			return usagef("--folds scores rows and --holdout -1 asks for no scores; give only one of them")
		}
		r.stdout = cmd.OutOrStdout()
		return r.run(cmd, args[0])
	}
	return cmd
}

func (r *fitting) run(cmd *cobra.Command, path string) (err error) {
	if err := r.places(path); err != nil {
		return err
	}
	o, err := r.table.options(nil)
	if err != nil {
		return err
	}
	e, err := r.device.engine(cmd)
	if err != nil {
		return err
	}
	o.Used = r.config.Uses
	frame, err := fit.ReadTable(path, o)
	if err != nil {
		return err
	}
	if r.folds > 0 {
		if err := fit.CheckFolds(frame, r.config, r.folds); err != nil {
			return err
		}
	}
	checkpoint := r.out + ".checkpoint"
	release, err := r.begin(checkpoint)
	if err != nil {
		return err
	}
	defer release()
	if old, err := fit.Load(r.out); err == nil && old.Calibration != nil {
		tell(cmd, "note: %s is calibrated; the new model will replace it and will not be", r.out)
	}
	ctx, page, err := r.live.open(cmd.Context(), cmd.ErrOrStderr(), live.Text{
		Title: "Fitting " + filepath.Base(path), Subtitle: "Learns to predict " + strings.Join(r.config.Targets, ", ") + ".",
		Score: "Score: mean −ln p in nats", Stop: "Stop and keep the best model so far"})
	if err != nil {
		return err
	}
	defer func() { closeLive(page, fmt.Sprintf("The fit is complete: wrote %s.", r.out), err) }()
	bar := newFitProgress(cmd.ErrOrStderr(), filepath.Join(checkpoint, progressFile))
	bar.budget = r.budget()
	if page != nil {
		bar.page = &fitPage{page}
	}
	defer context.AfterFunc(ctx, bar.stop)()
	result, err := fit.Run(ctx, frame, r.config, fit.Options{
		Checkpoint: checkpoint, Progress: bar.tell, Workers: r.jobs, Engine: e,
		Schema: r.summary, Warn: func(w fit.Warning) { tell(cmd, "warning: %s", inFlags(w.In(asFlag))) },
		Budget: r.budget(),
	})
	bar.close()
	stopped := errors.Is(err, context.Canceled)
	if stopped && result == nil {
		return exitError{errors.New("fit was interrupted before the first model was ready; continue it with --resume"), exitInterrupted}
	}
	if err != nil && !stopped {
		return advised(err)
	}
	if !stopped && r.folds > 0 {
		if err := r.crossValidate(ctx, cmd, frame, result, fit.Options{Checkpoint: checkpoint, Workers: r.jobs, Engine: e, Budget: r.budget()}); err != nil {
			return advised(err)
		}
	}
	if err := r.write(result); err != nil {
		return err
	}
	if stopped {
		return exitError{fmt.Errorf("fit was interrupted; %s holds the best model so far; continue with --resume", r.out), exitInterrupted}
	}
	return os.RemoveAll(checkpoint)
}

// budget is the time that each model may take.
func (r *fitting) budget() time.Duration {
	return time.Duration(r.minutes * float64(time.Minute) / float64(r.folds+1))
}

// advised names the flags that help after an error: a card was lost, values are missing, or
// another fit was stopped.
func advised(err error) error {
	if m, ok := errors.AsType[*schema.MissingValue](err); ok {
		return fmt.Errorf("%s; --impute accepts missing values, --ignore '%s' leaves the column out", m.What, m.Column)
	}
	if errors.Is(err, tabular.ErrOtherFit) {
		return fmt.Errorf("%w; --fresh removes it and starts again", err)
	}
	if gpu.Lost(err) {
		return fmt.Errorf("%w; nothing is lost: continue with --resume", err)
	}
	return err
}

// crossValidate scores every row by a model that did not see it.
func (r *fitting) crossValidate(ctx context.Context, cmd *cobra.Command, frame *table.Frame, result *fit.Result, o fit.Options) error {
	e, err := fit.CrossValidate(ctx, frame, r.config, r.folds, o,
		func(fold int) { tell(cmd, "cross-validation: fold %d of %d", fold+1, r.folds) })
	if errors.Is(err, context.Canceled) {
		return exitError{errors.New("fit was interrupted during the cross-validation; continue it with --resume"), exitInterrupted}
	}
	result.CrossValidation = e
	return err
}

// summary prints the columns before the training begins.
func (r *fitting) summary(s *schema.Schema) {
	s.WriteSummary(r.stdout)
	fmt.Fprintln(r.stdout)
}

// write writes the model and the report, and prints the scores.
func (r *fitting) write(result *fit.Result) error {
	if err := saveTo(r.out, result.Model.Save); err != nil {
		return err
	}
	files := r.out
	if r.report != "none" {
		if err := fitpage.Save(r.report, result); err != nil {
			return err
		}
		files += " and " + filepath.Join(r.report, "report.html")
	}
	for i, c := range result.Model.Schema.Targets() {
		if w := result.Model.Net.Warp(i); w != nil {
			fmt.Fprintf(r.stdout, "%s is predicted by its %v: held-out rows are more probable so.\n\n", tame(c.Name), w)
		}
	}
	if s := countsText(result.Model); s != "" {
		fmt.Fprintf(r.stdout, "%s: held-out rows are more probable so.\n\n", s)
	}
	if result.Evaluation == nil {
		_, err := fmt.Fprintf(r.stdout, "No rows are held out: the model is not evaluated.\nWrote %s.\n", files)
		return err
	}
	fmt.Fprintf(r.stdout, "Scores on %s:\n", plural(result.Evaluation.Rows, "held-out row", "held-out rows"))
	if err := printScores(r.stdout, result.Evaluation.Scores()); err != nil {
		return err
	}
	all := result.Model.Facts.Rows + result.Evaluation.Rows
	if n, folds := result.Evaluation.Rows, fit.FewestFolds(all); n < 30 && folds > 0 && r.folds == 0 && r.config.Time == "" {
		fmt.Fprintf(r.stdout, "With --folds %d, all %d rows are scored.\n", folds, all)
	}
	for _, note := range result.Evaluation.Notes {
		fmt.Fprintf(r.stdout, "Note: %s.\n", note)
	}
	if e := result.CrossValidation; e != nil {
		fmt.Fprintf(r.stdout, "\nScores of all %s, each predicted by a model that did not see it (%d folds):\n", plural(e.Rows, "row", "rows"), r.folds)
		if err := printScores(r.stdout, e.Scores()); err != nil {
			return err
		}
	}
	if result.Model.Facts.Interrupted {
		fmt.Fprintln(r.stdout, "\nThe training ended early: this is the best model so far.")
	}
	if ratio := result.Ratio; ratio != nil {
		fmt.Fprintf(r.stdout, "\nOf the weights alone: %v.\n%s\n", ratio, ratio.Sentence())
	}
	if n := result.Evaluation.Rows; len(result.Insight.Importance) == 0 {
		why := fmt.Sprintf("%s held out, at least %d needed", plural(n, "row", "rows"), fit.MinImportanceRows)
		if n >= fit.MinImportanceRows {
			why = "the fit was stopped"
		}
		_, err := fmt.Fprintf(r.stdout, "\nColumn importance skipped: %s.\nWrote %s.\n", why, files)
		return err
	}
	_, err := fmt.Fprintf(r.stdout, "\nColumn importance (nats per row lost without the column): %s\nWrote %s.\n", listImportance(result.Insight.Importance), files)
	return err
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
