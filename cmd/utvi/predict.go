package main

import (
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

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
                                 (--budget=false leaves these out)
  y_q0.1, y_q0.5 …               the quantiles of levels --quantiles
  ood                            how unfamiliar the row is: 99 of 100 training rows
                                 are below 1
  abstain                        1: flagged for manual review (--max-std, --max-ood,
                                 --min-prob)

For classes, the columns are the most probable class, the probability of each class and
the entropy. Predictions of a calibrated model are corrected; a note on standard error
says so. An output file is written as a whole, or not at all.`,
		Example: `  utvi predict price.utvi new.csv > predicted.csv
  utvi predict price.utvi new.parquet -o predicted.parquet --keep id
  utvi predict price.utvi new.csv --interval 0.5 --max-std 20 --max-ood 1.5
  cat new.csv | utvi predict price.utvi - --format json`,
		Args: modelAndTable,
		RunE: func(cmd *cobra.Command, args []string) error {
			var err error
			if to.Format = predictions.Format(format); format == "" {
				if to.Format, err = formatOf(out); err != nil {
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
			if f.Changed("digits") && (to.Digits < 1 || to.Digits > 17) {
				return usagef("--digits is %d; it must be 1 to 17", to.Digits)
			}
			m, err := loadTableModel(args[0])
			if err != nil {
				return err
			}
			if err := to.Format.Check(); err != nil {
				return misuse(err)
			}
			p, err := m.NewPredictor(o)
			if err != nil {
				return misuse(err)
			}
			if f.Changed("interval") && m.Classes() != nil {
				return usagef("--interval applies to numbers only; %s predicts classes", args[0])
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
			var sum predictions.Summary
			err = writeOut(cmd, out, func(w io.Writer) error {
				sum, err = predictions.Write(cmd.Context(), p, rows, w, to, pool)
				return err
			})
			if err == nil && to.Parts && sum.NoiseInWeights {
				tell(cmd, "the networks do not model the noise: the variance of the weights includes it (fit --noise learned separates them)")
			}
			if err == nil && sum.Abstained > 0 {
				tell(cmd, "%d of %d rows are flagged for manual review", sum.Abstained, sum.Rows)
			}
			return err
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVarP(&out, "output", "o", "", "file to write (default the standard output)")
	f.StringVar(&format, "format", "", "csv, tsv, json (one object per line) or parquet (default by the name of the file, or csv)")
	f.Float64Var(&o.Interval, "interval", 0.9, "level of the intervals")
	f.Float64SliceVar(&o.Quantiles, "quantiles", nil, "levels of quantiles to include, such as 0.1,0.5,0.9")
	f.BoolVar(&to.Parts, "budget", true, "include variance components")
	f.Float64Var(&o.MaxStd, "max-std", 0, "flag rows whose standard deviation is larger")
	f.Float64Var(&o.MaxUnfamiliar, "max-ood", 0, "flag rows whose ood is larger")
	f.Float64Var(&o.MinProbability, "min-prob", 0, "flag rows whose most probable class is less probable")
	f.StringSliceVar(&to.Keep, "keep", nil, "columns of the table to copy into the output")
	f.IntVar(&to.Digits, "digits", 0, "significant digits of numbers in text, at most 17 (default enough for single precision)")
	table.flags(f)
	return cmd
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
