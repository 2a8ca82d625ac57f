package main

import (
	"io"

	"github.com/spf13/cobra"

	"utvi/internal/demo"
)

func exampleCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "example",
		Short: "Write data to try the other commands with",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return unknownCommand(cmd, args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(exampleTableCommand(), exampleMeasureCommand())
	return cmd
}

func exampleTableCommand() *cobra.Command {
	var (
		rows    int
		seed    uint64
		strange bool
		out     string
	)
	cmd := &cobra.Command{
		Use:   "table",
		Short: "Write the tutorial's table: resin that cured in an oven, and how strong it became",
		Long: `Write the tutorial's table as CSV: samples of a resin that cured in an oven at a
temperature, for some minutes, and the strength at which they broke. temperature_std is
the error of the thermometer. The hotter the oven, the more the strength scatters. With
--strange, the last 5 % of the rows are unlike all others.`,
		Example: `  utvi example table > resin.csv
  utvi example table --rows 200 --seed 2 --strange > new.csv`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if rows < 1 || rows > 100_000_000 {
				return usagef("--rows is %d; it must be 1 to 100000000", rows)
			}
			return writeOut(cmd, out, func(w io.Writer) error { return demo.Table(w, rows, seed, strange) })
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.IntVar(&rows, "rows", 600, "number of rows")
	f.Uint64Var(&seed, "seed", 1, "seed of the random numbers")
	f.BoolVar(&strange, "strange", false, "make the last 5 % of the rows unlike all others")
	f.StringVarP(&out, "output", "o", "", "file to write (default the standard output)")
	return cmd
}
