package main

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"utvi/fit"
	"utvi/internal/calibrate"
	"utvi/internal/compute"
	"utvi/internal/folder"
	"utvi/internal/pixels"
	"utvi/internal/predictions"
	"utvi/predict"
	"utvi/table"
)

const predictHelp = `Predict the rows of a table, in their order. Rows stream: a table of any size needs
little memory. Columns are found by name. For a target y, the columns are:

  y_mean, y_std                  mean and standard deviation
  y_lo, y_hi                     the interval of level --interval
  y_var_weights, _inputs, _noise components of the variance y_std²: what the network
                                 does not know, uncertainty of the inputs, noise
                                 (--budget=false leaves these out). _noise is empty
                                 where the network has no part for the noise:
                                 _weights then holds both
  y_median, y_q0.05              the median (--median) and quantiles (--quantiles 0.05)
  y_above_10                     the probability that y exceeds 10 (--above 10)
  y_sample1, y_sample2 …         draws from the predicted distribution (--samples)
  y_why1, y_why1_mean, _std …    the columns that moved this prediction most (--explain):
                                 how much larger (below 0: smaller) it makes the mean
                                 and the standard deviation than its typical value
                                 would (the training mean, the median of a skewed
                                 column, or the most frequent level), while the
                                 other columns keep their values
  y_unsure1, y_unsure1_std …     likewise, the columns that moved the standard deviation
  ood                            how unlike the training rows the row is: 99 of 100
                                 of them are below 1
  abstain                        1: flagged for manual review (--max-std, --max-ood,
                                 --min-prob), or the prediction is not finite

For classes, the columns are the most probable class, the probability of each class and
the entropy, and y_set, a set that holds the true class with the probability --interval,
if the model was calibrated with the method conformal. Predictions of a calibrated model
are corrected; a note on standard error says so. Quantiles, probabilities and samples
are of the corrected distribution; only y_lo and y_hi are conformal.

A row with a cell that cannot be read, such as text in a column of numbers, is not predicted: its
cells are empty, and a warning counts such rows and names the first (--strict stops there).
A row far outside the training data can overflow the network. Its cells are empty, and a
note says how many such rows there are. An output column whose name is taken gets
another name, and a note says which. An output file is written as a whole, or not at all.

Many or huge tables can be predicted by many processes, here, by Slurm or by Kubernetes: --plan
writes a plan for utvi sweep, of trials of --rows-per-trial rows, and predicts nothing. sweep collect
then puts the rows of each table together, as one process would have written them.`

const predictExamples = `  utvi predict price.utvi new.csv > predicted.csv
  utvi predict price.utvi new.parquet -o predicted.parquet --keep id
  utvi predict price.utvi new.csv --interval 0.5 --max-std 20 --max-ood 1.5
  utvi predict price.utvi new.csv --median --quantiles 0.05,0.95 --above 100 --explain 3
  cat new.csv | utvi predict price.utvi - --format json
  utvi predict price.utvi days/*.csv --plan plan.json && utvi sweep run plan.json`

// predictOptions are what the flags of predict ask for.
type predictOptions struct {
	table  tableFlags
	what   predict.Options
	form   predictions.Output
	out    string // file to write; "" and "-": standard output
	format string
	strict bool
	device deviceFlag
	plan   string // file of a plan to write; "": predict
	most   int    // rows of a trial of the plan
}

func predictCommand() *cobra.Command {
	o := &predictOptions{}
	cmd := &cobra.Command{
		Use:     "predict MODEL TABLE",
		Short:   "Predict the rows of a table, with error bars",
		Long:    predictHelp,
		Example: predictExamples,
		Args:    o.arguments,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.check(cmd.Flags(), args); err != nil {
				return err
			}
			if o.plan != "" {
				return o.writePlan(cmd, args[0], args[1:])
			}
			return o.run(cmd, args[0], args[1])
		},
	}
	o.flags(cmd.Flags())
	return cmd
}

func (o *predictOptions) flags(f *pflag.FlagSet) {
	f.SortFlags = false
	f.StringVarP(&o.out, "output", "o", "", "file to write (default the standard output)")
	f.StringVar(&o.format, "format", "", "<csv>, <tsv>, <json> (one object per line) or <parquet> (default by the name of the file, or csv)")
	f.Float64Var(&o.what.Interval, "interval", 0.9, "level of the intervals")
	f.BoolVar(&o.form.Parts, "budget", true, "include the parts of the variance, columns _var_…")
	f.BoolVar(&o.form.Median, "median", false, "include the median")
	f.Float64SliceVar(&o.what.Quantiles, "quantiles", nil, "include quantiles of these `levels`, such as 0.05,0.95")
	f.Float64SliceVar(&o.what.Above, "above", nil, "include the probability of exceeding these `numbers`")
	for _, name := range []string{"quantiles", "above"} {
		f.Lookup(name).DefValue = "" // else the help says (default [])
	}
	f.IntVar(&o.form.Samples, "samples", 0, "include this many draws from each predicted distribution")
	f.Uint64Var(&o.form.Seed, "seed", 1, "seed of the draws")
	f.IntVar(&o.form.Explain, "explain", 0, "include this many columns that moved each prediction most")
	f.Float64Var(&o.what.MaxStd, "max-std", 0, "flag rows whose standard deviation is larger")
	f.Float64Var(&o.what.MaxOOD, "max-ood", 0, "flag rows whose ood is larger")
	f.Float64Var(&o.what.MinProbability, "min-prob", 0, "flag rows whose most probable class is less probable")
	f.StringSliceVar(&o.form.Keep, "keep", nil, "`column` of the table to copy into the output; may be given several times")
	f.BoolVar(&o.strict, "strict", false, "stop at a cell that cannot be read (default its row is not predicted: its cells are empty, and a warning counts such rows)")
	o.device.flag(f)
	f.BoolVar(&o.form.Spreadsheet, "spreadsheet", false, "for a file that a spreadsheet opens: texts that begin like formulas get an apostrophe")
	f.IntVar(&o.form.Digits, "digits", 0, "significant digits of numbers in text, at most 17 (default enough for single precision)")
	o.table.flags(f)
	o.table.arrayFlags(f, false)
	f.StringVar(&o.plan, "plan", "", "write a plan for utvi sweep that predicts the tables to this `file`, and predict nothing")
	f.IntVar(&o.most, "rows-per-trial", 1_000_000, "rows of a trial of the plan")
}

// check decides the format and refuses what no model can predict.
func (o *predictOptions) check(f *pflag.FlagSet, args []string) error {
	o.form.Format = predictions.Format(o.format)
	if o.format == "" {
		format, err := formatOf(o.out)
		if err != nil {
			return err
		}
		o.form.Format = format
	}
	if err := spare(o.out, args...); err != nil {
		return err
	}
	if err := givenAboveZero(f, "interval", "max-std", "max-ood", "min-prob"); err != nil {
		return err
	}
	if err := o.table.checkArray(); err != nil {
		return err
	}
	if err := givenAtLeast(1, f, "samples", "explain"); err != nil {
		return err
	}
	if f.Changed("digits") {
		if err := within("digits", o.form.Digits, 1, 17); err != nil {
			return err
		}
	}
	return o.checkPlan(f)
}

func (o *predictOptions) run(cmd *cobra.Command, file, rows string) error {
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
	o.table.call(m)
	if m.Schema.Pictures() && !cmd.Flags().Changed("keep") && (folder.Is(rows) || pixels.IsImage(rows) || folder.IsArray(rows)) {
		o.form.Keep = []string{o.table.names.File}
	}
	p, err := o.predictor(cmd, m, file)
	if err != nil {
		return err
	}
	var sum predictions.Summary
	err = o.table.stream(rows, o.progress(cmd), func(rows table.Source, pool *compute.Pool) error {
		tellCalibration(cmd, m)
		return writeOut(cmd, o.out, func(w io.Writer) error {
			var err error
			sum, err = predictions.Write(cmd.Context(), p, rows, w, o.form, pool)
			return err
		})
	})
	if err == nil {
		o.tellColumns(cmd, m, &sum)
	}
	for _, x := range sum.Renamed {
		tell(cmd, "%s", x)
	}
	for _, x := range sum.Notes {
		tell(cmd, "note: %s", x)
	}
	if err == nil {
		o.tellRows(cmd, &sum)
	}
	return err
}

// predictor is what predicts on the chosen device. It refuses what this model cannot predict.
func (o *predictOptions) predictor(cmd *cobra.Command, m *fit.Model, file string) (*predict.Predictor, error) {
	if err := o.form.Check(); err != nil {
		return nil, misuse(err)
	}
	e, err := o.device.engine(cmd)
	if err != nil {
		return nil, err
	}
	if o.device.name != "cpu" {
		if err := m.Use(e); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
	}
	o.what.SetAside = !o.strict
	p, err := m.NewPredictor(o.what)
	if err != nil {
		return nil, misuse(err)
	}
	if m.Classes() == nil {
		return p, nil
	}
	if cmd.Flags().Changed("interval") && !hasSets(m) {
		return nil, usagef("--interval applies to numbers, and to classes after utvi calibrate --method conformal; %s predicts classes", file)
	}
	if o.form.Median {
		return nil, usagef("--median applies to numbers only; %s predicts classes", file)
	}
	return p, nil
}

// progress is where to show how far the work is: not among rows on a screen, which are
// progress enough.
func (o *predictOptions) progress(cmd *cobra.Command) io.Writer {
	shown := cmd.ErrOrStderr()
	if (o.out == "" || o.out == "-") && isTerminal(cmd.OutOrStdout()) && isTerminal(shown) {
		return io.Discard
	}
	return shown
}

// tellColumns notes what a reader of the columns should know.
func (o *predictOptions) tellColumns(cmd *cobra.Command, m *fit.Model, sum *predictions.Summary) {
	if o.form.Parts && sum.NoiseInWeights {
		tell(cmd, "the networks do not model the noise: the variance of the weights includes it (fit --noise learned separates them)")
	}
	if isConformal(m) && len(o.what.Quantiles) > 0 {
		tell(cmd, "note: lo and hi are conformal, quantiles are those of the predicted distribution: the same levels differ (utvi help words)")
	}
	if sum.ByPosition {
		tell(cmd, "this table, or the one that the model was fitted to, has no column names: columns are matched by their position")
	}
}

// tellRows counts the rows whose predictions need care.
func (o *predictOptions) tellRows(cmd *cobra.Command, sum *predictions.Summary) {
	if far := sum.Far - sum.NotFinite; far > 0 && o.what.MaxOOD == 0 {
		tell(cmd, "note: %s unlike the training rows (ood above 2); --max-ood flags such rows", areRows(far, sum.Rows))
	}
	if sum.Unread > 0 && sum.Pictures {
		tell(cmd, "warning: %s not predicted, because an image or another cell cannot be read; --strict stops there", areRows(sum.Unread, sum.Rows))
	} else if sum.Unread > 0 {
		tell(cmd, "warning: %s a cell that cannot be read and %s not predicted; the first: %s; --strict stops at such a cell", haveRows(sum.Unread, sum.Rows), isAre(sum.Unread), sum.FirstUnread)
	}
	if sum.NotFinite > 0 {
		tell(cmd, "warning: %s a prediction that is not finite, far outside the training data (the first at %s); the cells are empty", haveRows(sum.NotFinite, sum.Rows), sum.First)
	}
	if sum.Abstained > 0 {
		tell(cmd, "%s flagged for manual review", areRows(sum.Abstained, sum.Rows))
	}
}

// isConformal reports whether the intervals of a model are corrected apart from its distributions.
func isConformal(m *fit.Model) bool {
	return slices.ContainsFunc(m.Calibration, func(c calibrate.Calibration) bool { return c.Conformal != nil })
}

// hasSets reports whether a model gives conformal sets of classes.
func hasSets(m *fit.Model) bool { return len(m.Calibration) > 0 && m.Calibration[0].Sets != nil }

func haveRows(n, all int) string {
	if n == 1 {
		return fmt.Sprintf("1 of %d rows has", all)
	}
	return fmt.Sprintf("%d of %d rows have", n, all)
}

func isAre(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

func areRows(n, all int) string {
	if n == 1 {
		return fmt.Sprintf("1 of %d rows is", all)
	}
	return fmt.Sprintf("%d of %d rows are", n, all)
}

// formatOf finds the format by a file's name.
func formatOf(path string) (predictions.Format, error) {
	switch ext := strings.ToLower(filepath.Ext(path)); ext {
	case "", ".csv", ".txt":
		return predictions.CSV, nil
	case ".tsv", ".tab":
		return predictions.TSV, nil
	case ".json", ".jsonl", ".ndjson":
		return predictions.JSON, nil
	case ".parquet":
		return predictions.Parquet, nil
	default:
		return "", usagef("%s: predictions cannot be written as %s; name a .csv, .tsv, .json or .parquet file, or choose a --format", path, ext)
	}
}
