package main

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"utvi/fit"
	"utvi/internal/compute"
	"utvi/internal/predictions"
	"utvi/predict"
)

func predictCommand() *cobra.Command {
	var (
		table  tableFlags
		o      predict.Options
		to     predictions.Output
		out    string
		format string
		device deviceFlag
	)
	cmd := &cobra.Command{
		Use:   "predict MODEL TABLE",
		Short: "Predict the rows of a table, with error bars",
		Long: `Predict the rows of a table, in their order. Rows stream: a table of any size needs
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
  ood                            how unfamiliar the row is: 99 of 100 training rows
                                 are below 1
  abstain                        1: flagged for manual review (--max-std, --max-ood,
                                 --min-prob), or the prediction is not finite

For classes, the columns are the most probable class, the probability of each class and
the entropy, and y_set, a set that holds the true class with the probability --interval,
if the model was calibrated with the method conformal. Predictions of a calibrated model
are corrected; a note on standard error says so. Quantiles, probabilities and samples
are of the corrected distribution; only y_lo and y_hi are conformal.

A row far outside the training data can overflow the network. Its cells are empty, and a
note says how many such rows there are. An output column whose name is taken gets
another name, and a note says which. An output file is written as a whole, or not at all.`,
		Example: `  utvi predict price.utvi new.csv > predicted.csv
  utvi predict price.utvi new.parquet -o predicted.parquet --keep id
  utvi predict price.utvi new.csv --interval 0.5 --max-std 20 --max-ood 1.5
  utvi predict price.utvi new.csv --median --quantiles 0.05,0.95 --above 100 --explain 3
  cat new.csv | utvi predict price.utvi - --format json`,
		Args: modelAndTable,
		RunE: func(cmd *cobra.Command, args []string) error {
			var err error
			to.Format = predictions.Format(format)
			if format == "" {
				to.Format, err = formatOf(out)
				if err != nil {
					return err
				}
			}
			if err := spare(out, args...); err != nil {
				return err
			}
			f := cmd.Flags()
			for name, v := range map[string]float64{"interval": o.Interval, "max-std": o.MaxStd, "max-ood": o.MaxUnfamiliar, "min-prob": o.MinProbability} {
				if f.Changed(name) && !(v > 0) {
					return usagef("--%s is %g; it must be a number above 0", name, v)
				}
			}
			for name, n := range map[string]int{"samples": to.Samples, "explain": to.Explain} {
				if f.Changed(name) && n < 1 {
					return usagef("--%s is %d; it must be at least 1", name, n)
				}
			}
			if f.Changed("digits") && (to.Digits < 1 || to.Digits > 17) {
				return usagef("--digits is %d; it must be 1 to 17", to.Digits)
			}
			m, err := loadTableModel(args[0])
			if err != nil {
				return err
			}
			if err := to.Check(); err != nil {
				return misuse(err)
			}
			e, err := device.engine(cmd)
			if err != nil {
				return err
			}
			if device.name != "cpu" {
				if err := m.Use(e); err != nil {
					return fmt.Errorf("%s: %w", args[0], err)
				}
			}
			p, err := m.NewPredictor(o)
			if err != nil {
				return misuse(err)
			}
			if classes := m.Classes() != nil; classes && f.Changed("interval") && !hasSets(m) {
				return usagef("--interval applies to numbers, and to classes after utvi calibrate --method conformal; %s predicts classes", args[0])
			} else if classes && to.Median {
				return usagef("--median applies to numbers only; %s predicts classes", args[0])
			}
			pool := compute.NewPool(compute.Workers(0))
			defer pool.Close()
			rows, err := table.open(args[1], pool)
			if err != nil {
				return err
			}
			defer rows.Close()
			if s := m.CalibrationText(); s != "" {
				tell(cmd, "predictions are calibrated: %s", s)
			}
			shown := cmd.ErrOrStderr()
			if (out == "" || out == "-") && isTerminal(cmd.OutOrStdout()) && isTerminal(shown) {
				shown = io.Discard // the rows on the screen are progress enough
			}
			bar := newRowProgress(shown, rows, estimateRows(args[1]))
			var sum predictions.Summary
			err = writeOut(cmd, out, func(w io.Writer) error {
				sum, err = predictions.Write(cmd.Context(), p, bar, w, to, pool)
				return err
			})
			bar.close()
			if err == nil && to.Parts && sum.NoiseInWeights {
				tell(cmd, "the networks do not model the noise: the variance of the weights includes it (fit --noise learned separates them)")
			}
			if err == nil && sum.ByPosition {
				tell(cmd, "this table, or the one that the model was fitted to, has no column names: columns are matched by their position")
			}
			for _, x := range sum.Renamed {
				tell(cmd, "%s", x)
			}
			for _, x := range sum.Notes {
				tell(cmd, "note: %s", x)
			}
			if far := sum.Far - sum.NotFinite; err == nil && far > 0 && o.MaxUnfamiliar == 0 {
				tell(cmd, "note: %s unlike the training rows (ood above 2); --max-ood flags such rows", areRows(far, sum.Rows))
			}
			if err == nil && sum.NotFinite > 0 {
				tell(cmd, "warning: %s a prediction that is not finite, far outside the training data (the first at %s); the cells are empty", haveRows(sum.NotFinite, sum.Rows), sum.First)
			}
			if err == nil && sum.Abstained > 0 {
				tell(cmd, "%s flagged for manual review", areRows(sum.Abstained, sum.Rows))
			}
			return err
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVarP(&out, "output", "o", "", "file to write (default the standard output)")
	f.StringVar(&format, "format", "", "csv, tsv, json (one object per line) or parquet (default by the name of the file, or csv)")
	f.Float64Var(&o.Interval, "interval", 0.9, "level of the intervals")
	f.BoolVar(&to.Parts, "budget", true, "include variance components")
	f.BoolVar(&to.Median, "median", false, "include the median")
	f.Float64SliceVar(&o.Quantiles, "quantiles", nil, "include quantiles of these `levels`, such as 0.05,0.95")
	f.Float64SliceVar(&o.Above, "above", nil, "include the probability of exceeding these `numbers`")
	f.Lookup("quantiles").DefValue, f.Lookup("above").DefValue = "", "" // else the help says (default [])
	f.IntVar(&to.Samples, "samples", 0, "include this many draws from each predicted distribution")
	f.Uint64Var(&to.Seed, "seed", 1, "seed of the draws")
	f.IntVar(&to.Explain, "explain", 0, "include this many columns that moved each prediction most")
	f.Float64Var(&o.MaxStd, "max-std", 0, "flag rows whose standard deviation is larger")
	f.Float64Var(&o.MaxUnfamiliar, "max-ood", 0, "flag rows whose ood is larger")
	f.Float64Var(&o.MinProbability, "min-prob", 0, "flag rows whose most probable class is less probable")
	f.StringSliceVar(&to.Keep, "keep", nil, "columns of the table to copy into the output")
	device.flag(f)
	f.IntVar(&to.Digits, "digits", 0, "significant digits of numbers in text, at most 17 (default enough for single precision)")
	table.flags(f)
	return cmd
}

// hasSets reports whether a model gives conformal sets of classes.
func hasSets(m *fit.Model) bool { return len(m.Calibration) > 0 && m.Calibration[0].Sets != nil }

func haveRows(n, all int) string {
	if n == 1 {
		return fmt.Sprintf("1 of %d rows has", all)
	}
	return fmt.Sprintf("%d of %d rows have", n, all)
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
