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
	"github.com/spf13/pflag"

	"utvi/engine/gpu"
	"utvi/fit"
	"utvi/internal/live"
	"utvi/internal/schema"
	"utvi/internal/tabular"
	"utvi/table"
)

const fitHelp = `Learn to predict a column of a table, or several, from the others: read the table
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

The images of a FOLDER are told apart by the subfolders that they lie in, a class each; with
subfolders train and test, in which the classes lie, the images in test are held out. --image
names a column of image files in a table. PNG, JPEG, GIF, BMP, WebP and TIFF are read. The images
of an array, N×H×W, N×H×W×C or N×C×H×W in a .npy file, take another such file as their --target.
Numbers are learned from images, too. --target-image names a column, or an array, of images whose
pixels are predicted: numbers with error bars, or classes where these images have few colours.

Nothing needs tuning. Settings can be given by flags or in a file (--config). The report
lists all settings in the form of such a file.

Ctrl-C writes the best model so far and its report, and exits with status 75. The same
command with --resume continues and gives the same bits as a fit that was not stopped.
With --fresh it starts again.

A model that predicts the held-out rows worse than their mean, or the shares of the classes,
would, beyond chance, is written with a warning that comes first; the status is 3.`

const fitExamples = `  utvi fit data.csv --target price
  utvi fit data.csv --target class --task classification --ignore id,name
  utvi fit runs.parquet --target y --target z --group patient --ensemble 10
  utvi fit data.csv --target y --input-std length=0.1 --impute
  utvi fit photos/
  utvi fit cells.csv --image file --target area
  utvi fit x.npy --target y.npy
  utvi fit photos/ --from resnet.onnx --normalise imagenet
  utvi fit pairs.csv --image noisy --target-image clean
  utvi fit small.csv --target y --folds 10
  utvi fit large.csv --target y --minutes 30
  utvi fit data.csv --config fit.yaml --seed 2 --out second.utvi`

// A fitting is what the flags of fit ask for.
type fitting struct {
	settings fitFlags
	table    tableFlags
	out      string // model file
	report   string // folder; "none": no report
	resume   bool
	fresh    bool
	jobs     int
	live     liveFlag
	folds    int
	minutes  float64
	device   deviceFlag

	config fit.Config
	stdout io.Writer
}

func fitCommand() *cobra.Command {
	r := &fitting{}
	cmd := &cobra.Command{
		Use:     "fit TABLE --target COLUMN | FOLDER",
		Short:   "Learn to predict a column of a table, with error bars",
		Long:    fitHelp,
		Example: fitExamples,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usagef("%s takes one table, not %d arguments", cmd.CommandPath(), len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("target-image") {
				return r.fitPixels(cmd, args[0])
			}
			if err := r.takeFolder(args[0], cmd.Flags()); err != nil {
				return err
			}
			if err := r.check(cmd.Flags()); err != nil {
				return naming(err, cmd, args)
			}
			r.stdout = cmd.OutOrStdout()
			return r.run(cmd, args[0])
		},
	}
	r.flags(cmd.Flags())
	return cmd
}

func (r *fitting) flags(f *pflag.FlagSet) {
	f.SortFlags = false
	r.settings.flags(f)
	r.table.flags(f)
	r.table.arrayFlags(f, false)
	f.StringVar(&r.out, "out", "", "model file (default the target's name with .utvi)")
	f.StringVar(&r.report, "report", "", "`folder` of the report (default the model's name with -report), or none for no report")
	f.BoolVar(&r.resume, "resume", false, "continue a fit that was stopped")
	f.BoolVar(&r.fresh, "fresh", false, "discard a fit that was stopped and start again")
	f.IntVar(&r.folds, "folds", 0, "also fit that many further models, each without one part of the rows, and score every row by the model that did not see it; for small tables")
	f.Float64Var(&r.minutes, "minutes", 0, "stop training after this time and keep the best model so far (with --folds, all models share the time); the result then depends on the machine")
	f.IntVar(&r.jobs, "jobs", 0, "number of trainings at the same time (default the number of cores, or as many as suit the card)")
	r.device.flag(f)
	r.live.flag(f)
}

// check joins the settings, and refuses flags that no table could follow.
func (r *fitting) check(f *pflag.FlagSet) error {
	if err := r.live.check(); err != nil {
		return err
	}
	if err := r.table.checkArray(); err != nil {
		return err
	}
	if err := givenAtLeast(1, f, "jobs"); err != nil {
		return err
	}
	if r.resume && r.fresh {
		return usagef("--resume continues a fit and --fresh starts again; give only one of them")
	}
	if err := givenAtLeast(2, f, "folds"); err != nil {
		return err
	}
	if f.Changed("minutes") && !(r.minutes > 0 && r.minutes < 1e6) {
		return usagef("--minutes is %g; it must be a number above 0", r.minutes)
	}
	c, err := r.settings.config(f)
	if err != nil {
		return err
	}
	r.config = c
	if c.Images.Column != "" && r.folds > 0 {
		return usagef("--folds is for small tables; of images, a tenth is held out, or the part for testing")
	}
	if c.Holdout < 0 && r.folds > 0 {
		return usagef("--folds scores rows and --holdout -1 asks for no scores; give only one of them")
	}
	return nil
}

func (r *fitting) run(cmd *cobra.Command, path string) error {
	if err := r.places(path); err != nil {
		return err
	}
	reading, err := r.table.options(nil)
	if err != nil {
		return err
	}
	e, err := r.device.engine(cmd)
	if err != nil {
		return err
	}
	reading.Used = r.config.Uses
	frame, err := r.frame(path, reading)
	if err != nil {
		return err
	}
	if r.folds > 0 {
		if err := r.config.CheckFolds(frame, r.folds); err != nil {
			return err
		}
	}
	o := fit.Options{Checkpoint: r.out + ".checkpoint", Workers: r.jobs, Engine: e, Budget: r.budget()}
	release, err := r.begin(o.Checkpoint)
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
	err = r.learn(ctx, cmd, page, frame, o)
	closeLive(page, fmt.Sprintf("The fit is complete: wrote %s.", r.out), err)
	return err
}

// learn trains, and writes the model, or the best one so far if the training is stopped.
func (r *fitting) learn(ctx context.Context, cmd *cobra.Command, page *live.Page, frame *table.Frame, o fit.Options) error {
	result, err := r.train(ctx, cmd, page, frame, o)
	stopped := errors.Is(err, context.Canceled)
	if stopped && result == nil {
		return exitError{errors.New("fit was interrupted before the first model was ready; continue it with --resume"), exitInterrupted}
	}
	if err != nil && !stopped {
		return advised(err)
	}
	if !stopped && r.folds > 0 {
		if err := r.crossValidate(ctx, cmd, frame, result, o); err != nil {
			return advised(err)
		}
	}
	if err := r.write(result); err != nil {
		return err
	}
	if stopped {
		return exitError{fmt.Errorf("fit was interrupted; %s holds the best model so far; continue with --resume", r.out), exitInterrupted}
	}
	err = os.RemoveAll(o.Checkpoint)
	if err == nil && result.Losing != "" {
		return exitError{fmt.Errorf("%s is written, but %s", r.out, result.Losing), exitLosing}
	}
	return err
}

// exitLosing says that a model is written that is worse than none.
const exitLosing = 3

// train runs the fit, and shows how far it is.
func (r *fitting) train(ctx context.Context, cmd *cobra.Command, page *live.Page, frame *table.Frame, o fit.Options) (*fit.Result, error) {
	bar := newFitProgress(cmd.ErrOrStderr(), filepath.Join(o.Checkpoint, progressFile))
	bar.budget = o.Budget
	if page != nil {
		bar.page = &fitPage{page}
	}
	defer context.AfterFunc(ctx, bar.stop)()
	defer bar.close()
	o.Progress = bar.tell
	o.Scoring = bar.scoring
	o.Schema = r.summary
	o.Warn = func(w fit.Warning) { tell(cmd, "warning: %s", w.In(asFlag)) }
	return fit.Run(ctx, frame, r.config, o)
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
