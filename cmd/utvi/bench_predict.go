package main

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"utvi/internal/bench"
)

// benchPredictOptions are what the flags of bench predict ask for.
type benchPredictOptions struct {
	bench.PredictOptions
	device string
	asJSON bool
}

func benchPredictCommand() *cobra.Command {
	o := &benchPredictOptions{}
	cmd := &cobra.Command{
		Use:   "predict",
		Short: "Measure predictions of many rows by a table's model",
		Long: `Fit a model of five networks to a small table, then predict rows in memory on two
cores, on all cores and, with --device, on a card: mean and variance of every row, and the
same with 90 % intervals. Two cores predict a small part of the rows.`,
		Example: `  utvi bench predict --rows 1000000
  utvi bench predict --device cuda`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := within("rows", o.Rows, 1, 100_000_000); err != nil {
				return err
			}
			return o.run(cmd)
		},
	}
	f := cmd.Flags()
	f.IntVar(&o.Rows, "rows", 10_000_000, "number of rows")
	f.StringVar(&o.device, "device", "cpu", "cpu, or also a card such as cuda or cuda:1")
	f.BoolVar(&o.asJSON, "json", false, "print JSON")
	return cmd
}

func (o *benchPredictOptions) run(cmd *cobra.Command) error {
	if o.device != "cpu" {
		e, err := openCard(cmd, o.device)
		if err != nil {
			return err
		}
		o.Engine = e
		o.Card = e.Card()
	}
	var done func()
	o.Progress, done = lineProgress(cmd.ErrOrStderr())
	r, err := bench.Predict(cmd.Context(), o.PredictOptions)
	done()
	if err != nil {
		return err
	}
	if o.asJSON {
		return writeJSON(cmd.OutOrStdout(), r)
	}
	return printPredictBench(cmd.OutOrStdout(), r)
}

func printPredictBench(w io.Writer, r *bench.PredictReport) error {
	fmt.Fprintf(w, "%d networks, %d inputs\n\n", r.Members, r.Inputs)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "device\tthreads\tintervals\trows\trows/s\t× two cores\t")
	for _, x := range r.Ways {
		fmt.Fprintf(t, "%s\t%d\t%s\t%d\t%.0f\t%.1f\t\n", x.Device, x.Threads, map[bool]string{true: "90 %", false: "none"}[x.Intervals], x.Rows, x.RowsPerSecond, x.Times)
	}
	return t.Flush()
}
