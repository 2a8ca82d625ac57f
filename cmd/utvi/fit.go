package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"utvi/fit"
	"utvi/internal/atomicfile"
	"utvi/table"
)

// A fitting is what the flags of fit ask for.
type fitting struct {
	settings    fitFlags
	table       tableFlags
	out, report string
	resume      bool
	jobs        int

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
columns are, hold some rows out, choose and train an ensemble of networks on the
others, evaluate it on the rows held out, and write the model and a report.

Nothing needs tuning; every setting can be given by a flag or in a file (--config),
and the report prints all of them back as such a file.

Ctrl-C keeps the best model so far and its report, exit status 75; the same command
with --resume continues, with the same bits as if it had not been stopped.`,
		Example: `  utvi fit data.csv --target price
  utvi fit data.csv --target class --task classification --ignore id,name
  utvi fit runs.parquet --target y --target z --group patient --ensemble 10
  utvi fit data.csv --target y --input-std length=0.1 --impute
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
	f.StringVar(&r.out, "out", "", "file of the model (default the target's name with .utvi)")
	f.StringVar(&r.report, "report", "", "folder of the report (default the model's name with -report); none writes none")
	f.BoolVar(&r.resume, "resume", false, "continue a fit that was stopped")
	f.IntVar(&r.jobs, "jobs", 0, "trainings at a time (default the number of cores)")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if f.Changed("jobs") && r.jobs < 1 {
			return usagef("--jobs is %d; it must be at least 1", r.jobs)
		}
		var err error
		if r.config, err = r.settings.config(f); err != nil {
			return err
		}
		r.stdout = cmd.OutOrStdout()
		return r.run(cmd, args[0])
	}
	return cmd
}

func (r *fitting) run(cmd *cobra.Command, path string) error {
	if err := r.places(); err != nil {
		return err
	}
	o, err := r.table.options(nil)
	if err != nil {
		return err
	}
	frame, err := fit.ReadTable(path, o)
	if err != nil {
		return err
	}
	checkpoint := r.out + ".checkpoint"
	if err := r.begin(cmd, checkpoint); err != nil {
		return err
	}
	bar := newFitProgress(cmd.ErrOrStderr())
	result, err := fit.Run(cmd.Context(), frame, r.config, fit.Options{
		Checkpoint: checkpoint, Tell: bar.tell, Workers: r.jobs,
		Schema: func(s *table.Schema) { s.WriteSummary(r.stdout); fmt.Fprintln(r.stdout) },
	})
	bar.close()
	stopped := errors.Is(err, context.Canceled)
	if stopped && result == nil {
		return exitError{errors.New("fit was interrupted before there was a first model; --resume continues it"), exitInterrupted}
	}
	if err != nil && !stopped {
		return err
	}
	if err := r.write(result); err != nil {
		return err
	}
	if stopped {
		return exitError{fmt.Errorf("fit was interrupted; %s holds the best model so far, --resume continues it", r.out), exitInterrupted}
	}
	return os.RemoveAll(checkpoint)
}

// places decides where files go, and that they can, before hours of work go into them.
func (r *fitting) places() error {
	if r.out == "" {
		r.out = fileName(strings.Join(r.config.Targets, "-")) + ".utvi"
	}
	if r.report == "" {
		r.report = strings.TrimSuffix(r.out, ".utvi") + "-report"
	}
	if info, err := os.Stat(r.out); err == nil && info.IsDir() {
		return fmt.Errorf("cannot write %s: it is a folder", r.out)
	}
	if err := atomicfile.Writable(filepath.Dir(r.out)); err != nil {
		return err
	}
	if r.report == "none" {
		return nil
	}
	return atomicfile.Writable(r.report)
}

// begin makes room for checkpoints. Those of an earlier fit are gone unless it is to
// be continued.
func (r *fitting) begin(cmd *cobra.Command, checkpoint string) error {
	_, err := os.Stat(checkpoint)
	switch {
	case r.resume && err != nil:
		return fmt.Errorf("there is nothing to resume: %s is not there", checkpoint)
	case !r.resume && err == nil:
		tell(cmd, "begin anew; %s, left by a fit that was stopped, is removed", checkpoint)
		return os.RemoveAll(checkpoint)
	}
	return nil
}

// write writes model and report, and says what was found.
func (r *fitting) write(result *fit.Result) error {
	if err := result.Model.Save(r.out); err != nil {
		return err
	}
	files := r.out
	if r.report != "none" {
		if err := result.Save(r.report); err != nil {
			return err
		}
		files += " and " + filepath.Join(r.report, "report.html")
	}
	fmt.Fprintf(r.stdout, "%d rows that were held out:\n", result.Evaluation.Rows)
	if err := printScores(r.stdout, result.Evaluation.Scores()); err != nil {
		return err
	}
	var matter []string
	for _, i := range result.Insight.Importance[:min(5, len(result.Insight.Importance))] {
		matter = append(matter, fmt.Sprintf("%s %.2g", tame(i.Column), i.Loss))
	}
	_, err := fmt.Fprintf(r.stdout, "\nWhat matters (nats a row lost without it): %s\nWrote %s.\n", strings.Join(matter, ", "), files)
	return err
}
