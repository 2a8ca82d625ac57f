package main

import (
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"utvi/fit"
	"utvi/internal/compute"
)

func predictCommand() *cobra.Command {
	var (
		table  tableFlags
		o      fit.Output
		out    string
		format string
	)
	cmd := &cobra.Command{
		Use:   "predict MODEL TABLE",
		Short: "Predict the rows of a table, with error bars",
		Long: `Predict the rows of a table, in their order, as they stream by. Columns are found by
name. Of a target y are written:

  y_mean, y_std                  mean and standard deviation
  y_lo, y_hi                     the interval of level --interval
  y_var_weights, _inputs, _noise where the variance y_std² comes from: what the
                                 network does not know, the inputs' own deviations,
                                 noise (--budget=false leaves these out)
  ood                            how unfamiliar the row is: 1 is what 99 of 100
                                 training rows stay below
  abstain                        1: leave this row to a person (--max-std, --max-ood,
                                 --min-prob)

Of classes: the most probable one, the probability of each, and their entropy.
A model that was calibrated is corrected, which is said on standard error. To a
file all rows are written, or none.`,
		Example: `  utvi predict price.utvi new.csv > predicted.csv
  utvi predict price.utvi new.parquet -o predicted.parquet --keep id
  utvi predict price.utvi new.csv --interval 0.5 --max-std 20 --max-ood 1.5
  cat new.csv | utvi predict price.utvi - --format json`,
		Args: modelAndTable,
		RunE: func(cmd *cobra.Command, args []string) error {
			var err error
			if o.Format = fit.Format(format); format == "" {
				if o.Format, err = formatOf(out); err != nil {
					return err
				}
			}
			if err := spare(out, args...); err != nil {
				return err
			}
			f := cmd.Flags()
			for name, v := range map[string]float64{"interval": o.Interval, "max-std": o.MaxStd, "max-ood": o.MaxOOD, "min-prob": o.MinProbability} {
				if f.Changed(name) && !(v > 0) {
					return usagef("--%s is %g; it must be a number above 0", name, v)
				}
			}
			m, err := fit.Load(args[0])
			if err != nil {
				return err
			}
			if err := o.Check(m); err != nil {
				return misuse(err)
			}
			if f.Changed("interval") && len(m.Schema.Classes()) > 0 {
				return usagef("--interval is given, but %s predicts classes, which have probabilities and no intervals", args[0])
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
			var sum fit.Summary
			err = writeOut(cmd, out, func(w io.Writer) error {
				sum, err = m.Predict(cmd.Context(), rows, w, o, pool)
				return err
			})
			if err == nil && o.Budget && m.NoiseInWeights() {
				tell(cmd, "the networks have no noise of their own: the variance of the weights holds the noise too (fit --noise tells them apart)")
			}
			if err == nil && sum.Abstained > 0 {
				tell(cmd, "%d of %d rows are marked to be left to a person", sum.Abstained, sum.Rows)
			}
			return err
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVarP(&out, "output", "o", "", "file of the predictions (default the standard output)")
	f.StringVar(&format, "format", "", "csv, tsv, json (an object a line) or parquet (default by the file's name, or csv)")
	f.Float64Var(&o.Interval, "interval", 0.9, "level of the intervals")
	f.BoolVar(&o.Budget, "budget", true, "tell where the variance comes from")
	f.Float64Var(&o.MaxStd, "max-std", 0, "mark rows with a larger standard deviation")
	f.Float64Var(&o.MaxOOD, "max-ood", 0, "mark rows that are less familiar")
	f.Float64Var(&o.MinProbability, "min-prob", 0, "mark rows whose most probable class is less probable")
	f.StringSliceVar(&o.Keep, "keep", nil, "columns of the table to repeat")
	table.flags(f)
	return cmd
}

// formatOf tells a format by a file's name.
func formatOf(path string) (fit.Format, error) {
	switch ext := strings.ToLower(filepath.Ext(path)); ext {
	case "", ".csv", ".txt":
		return fit.CSV, nil
	case ".tsv", ".tab":
		return fit.TSV, nil
	case ".json", ".jsonl", ".ndjson":
		return fit.JSON, nil
	case ".parquet":
		return fit.Parquet, nil
	default:
		return "", usagef("%s: predictions are not written as %s; name a .csv, .tsv, .json or .parquet file, or say what it is to be (--format)", path, ext)
	}
}
