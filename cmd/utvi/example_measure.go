package main

import (
	"io"

	"github.com/spf13/cobra"

	"utvi/internal/demo"
	"utvi/internal/inputfile"
)

func exampleMeasureCommand() *cobra.Command {
	var (
		seed uint64
		out  string
	)
	cmd := &cobra.Command{
		Use:   "measure TABLE",
		Short: "Measure rows: cure the resin of each, and write how strong it became",
		Long: `Read a CSV table with the columns temperature, minutes and resin, such as utvi suggest
writes for the tutorial's model, cure and break a sample for each row, and write these
columns with the strength. A column temperature_std says how far the thermometer is
off; without one it is the new thermometer, 1 °C. Other columns are left out.`,
		Example: `  utvi suggest resin.utvi --count 8 > next.csv
  utvi example measure next.csv > measured.csv`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usagef("%s takes one table, not %s", cmd.CommandPath(), plural(len(args), "argument", "arguments"))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			f, _, err := inputfile.Open(args[0])
			if err != nil {
				return err
			}
			defer f.Close()
			return writeOut(cmd, out, func(w io.Writer) error { return demo.Measure(w, f, seed) })
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.Uint64Var(&seed, "seed", 1, "seed of the random numbers")
	f.StringVarP(&out, "output", "o", "", "file to write (default the standard output)")
	return cmd
}
