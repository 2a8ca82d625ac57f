package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/signal"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"utvi/fit"
	"utvi/table"
)

const updateHelp = `Learn new rows on top of what a model knows, without the rows that it was fitted to, and write
the model that results.

A model that utvi fit made remembers its rows by made-up ones: of every five neighbouring rows
or more, the means, the covariances and the categories stay, and no row is one of the table
(utvi fit --memory). An update fits these and the new rows together; columns are scaled, levels
named, networks chosen and the noise learned anew. --forget lets what is remembered count less,
for a world that drifts: with 0.3 a remembered row counts 0.7 in this update and 0.49 in the next.

First the new rows are compared with the old ones: their scores with what the model's own error
bars promise, and the columns whose values have moved. With --dry-run that is all.

Columns and targets must be those of the model; columns that it does not know are ignored. A
tenth of the new rows is held out to score the updated model, if there are 20 or more. A
calibration belongs to the networks before and is not carried over. Models of images, of rows
in the order of time and of other programs cannot be updated.`

const updateExamples = `  utvi update price.utvi july.csv -o price-july.utvi
  utvi update price.utvi july.csv -o price.utvi --forget 0.3
  utvi update price.utvi july.csv --dry-run`

// updateOptions are what the flags of update ask for.
type updateOptions struct {
	table   tableFlags
	out     string
	forget  float64
	holdout float64
	dry     bool
	asJSON  bool
	jobs    int
	device  deviceFlag
}

func updateCommand() *cobra.Command {
	o := &updateOptions{}
	cmd := &cobra.Command{
		Use:     "update MODEL TABLE -o UPDATED",
		Short:   "Learn new rows without the old ones",
		Long:    updateHelp,
		Example: updateExamples,
		Args:    modelAndTable,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.check(cmd.Flags(), args); err != nil {
				return err
			}
			return o.run(cmd, args[0], args[1])
		},
	}
	o.flags(cmd.Flags())
	return cmd
}

func (o *updateOptions) flags(f *pflag.FlagSet) {
	f.SortFlags = false
	f.StringVarP(&o.out, "output", "o", "", "file of the updated model; it may be the model itself")
	f.Float64Var(&o.forget, "forget", 0, "share of what is remembered that no longer counts, 0 to 1")
	f.Float64Var(&o.holdout, "holdout", 0, "share of the new rows to hold out for the evaluation (default 0.1 of 20 rows or more); -1 holds out none")
	f.BoolVar(&o.dry, "dry-run", false, "only compare the new rows with the old ones")
	f.BoolVar(&o.asJSON, "json", false, "print JSON")
	f.IntVar(&o.jobs, "jobs", 0, "number of trainings at the same time (default the number of cores, or as many as suit the card)")
	o.device.flag(f)
	o.table.flags(f)
}

func (o *updateOptions) check(f *pflag.FlagSet, args []string) error {
	if err := givenAtLeast(1, f, "jobs"); err != nil {
		return err
	}
	if !(o.forget >= 0 && o.forget <= 1) {
		return usagef("--forget is %g; it must be 0 to 1", o.forget)
	}
	if f.Changed("holdout") && (o.holdout == 0 || !(o.holdout < 1)) {
		return usagef("--holdout is %g; it must lie between 0 and 1, or be -1 to hold out none", o.holdout)
	}
	if o.dry {
		return nil
	}
	if o.out == "" {
		return usagef("no output is given; name the file of the updated model with -o, or the model itself")
	}
	if err := spare(o.out, args[1]); err != nil {
		return err
	}
	return ready(o.out)
}

func (o *updateOptions) run(cmd *cobra.Command, file, rows string) error {
	m, err := loadTableModel(file)
	if err != nil {
		return err
	}
	if err := m.CheckUpdate(); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	reading, err := o.table.options(nil)
	if err != nil {
		return err
	}
	e, err := o.device.engine(cmd)
	if err != nil {
		return err
	}
	frame, err := fit.ReadTable(rows, reading)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt)
	defer stop()
	w := cmd.OutOrStdout()
	if o.dry {
		s, err := m.Surprise(ctx, frame, o.jobs)
		if err != nil {
			return err
		}
		if o.asJSON {
			return writeJSON(w, s)
		}
		return printSurprise(w, m, s)
	}
	u, err := o.train(ctx, cmd, m, frame, fit.UpdateOptions{Forget: o.forget, Holdout: o.holdout, Options: fit.Options{Workers: o.jobs, Engine: e}})
	if err != nil {
		return err
	}
	if err := saveTo(o.out, u.Model.Save); err != nil {
		return err
	}
	for _, note := range u.Notes {
		tell(cmd, "note: %s", note)
	}
	if o.asJSON {
		return writeJSON(w, updateJSON(u, o.out))
	}
	return o.print(w, u)
}

// train learns the new rows; what they surprise by is printed before.
func (o *updateOptions) train(ctx context.Context, cmd *cobra.Command, m *fit.Model, frame *table.Frame, p fit.UpdateOptions) (*fit.Update, error) {
	bar := newFitProgress(cmd.ErrOrStderr(), "")
	defer context.AfterFunc(ctx, bar.stop)()
	defer bar.close()
	p.Progress = bar.tell
	p.Scoring = bar.scoring
	var printed error
	if !o.asJSON {
		p.Surprised = func(s *fit.Surprise) { printed = printSurprise(cmd.OutOrStdout(), m, s) }
	}
	u, err := m.Update(ctx, frame, p)
	if errors.Is(err, context.Canceled) {
		return nil, exitError{errors.New("the update was interrupted; nothing is written"), exitInterrupted}
	}
	if err == nil {
		err = printed
	}
	return u, err
}

// print says what the updated model is.
func (o *updateOptions) print(w io.Writer, u *fit.Update) error {
	if u.Evaluation != nil {
		fmt.Fprintf(w, "\nScores of the updated model on %s:\n", plural(u.Evaluation.Rows, "new row that was held out", "new rows that were held out"))
		if err := printScores(w, u.Evaluation.Scores()); err != nil {
			return err
		}
		if u.Model.Facts.Refitted > 0 {
			fmt.Fprintln(w, "\nAfter this evaluation the networks were trained again with them.")
		}
	}
	_, err := fmt.Fprintf(w, "\nWrote %s: %s, and %s.\n", o.out, plural(u.Rows, "new row", "new rows"), remembers(u.Old))
	return err
}

func remembers(rows float64) string {
	if rows == 0 {
		return "nothing of what was known"
	}
	return fmt.Sprintf("what is remembered of %.0f", rows)
}

// printSurprise says how the new rows are for a model that did not learn them.
func printSurprise(w io.Writer, m *fit.Model, s *fit.Surprise) error {
	fmt.Fprintf(w, "%s for the model as it is:\n", plural(s.Rows, "new row", "new rows"))
	if err := printScores(w, s.Evaluation.Scores()); err != nil {
		return err
	}
	fmt.Fprintln(w)
	for _, t := range s.Targets {
		fmt.Fprintf(w, "%s: log-likelihood %.3f, promised %.3f ± %.3f: %s.\n", tame(t.Target), t.LL, t.Promised, t.SE, t.Verdict())
	}
	if s.Known > 0 {
		fmt.Fprintf(w, "%.0f %% of the rows are known: the model was fitted to them.\n", 100*s.Known)
	}
	fmt.Fprintf(w, "%.1f %% of the rows are unlike the old ones (ood above 1; of those about 1 %%).\n", 100*s.Far)
	if len(s.Moved) == 0 {
		_, err := fmt.Fprintln(w, "No column has moved beyond chance.")
		return err
	}
	const most = 8
	fmt.Fprintln(w, "Columns that have moved:")
	for _, x := range s.Moved[:min(most, len(s.Moved))] {
		fmt.Fprintf(w, "  %s  %s → %s (distance %.2f)\n", tame(x.Column), tame(x.From), tame(x.To), x.Distance)
	}
	if more := len(s.Moved) - most; more > 0 {
		fmt.Fprintf(w, "  and %s\n", plural(more, "other column", "other columns"))
	}
	return nil
}

// updateJSON is what scripts need of an update.
func updateJSON(u *fit.Update, out string) any {
	var after []fit.Scores
	if u.Evaluation != nil {
		after = u.Evaluation.Scores()
	}
	return struct {
		Model      string        `json:"model"`
		Rows       int           `json:"rows"`
		Remembered float64       `json:"remembered"`
		Surprise   *fit.Surprise `json:"surprise"`
		Before     []fit.Scores  `json:"before"`
		After      []fit.Scores  `json:"after,omitempty"`
	}{out, u.Rows, math.Round(u.Old), u.Surprise, u.Surprise.Evaluation.Scores(), after}
}
