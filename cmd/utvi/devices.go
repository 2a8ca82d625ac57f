package main

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"utvi/internal/compute"
	"utvi/internal/cuda"
)

func devicesCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "devices",
		Short: "List what networks can run on: the processor and NVIDIA cards",
		Long: `devices lists the processor and the NVIDIA cards of this machine, by the names that
--device takes. Cards need NVIDIA's driver and compute capability 7.5 or later (2018).`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			out := cmd.OutOrStdout()
			fmt.Fprintf(out, "cpu      %d threads, kernels for %s\n", runtime.NumCPU(), compute.Family())
			cards, err := cuda.Devices()
			if err != nil {
				fmt.Fprintf(out, "no cards: %v\n", err)
				return nil
			}
			for _, c := range cards {
				fmt.Fprintf(out, "cuda:%-3d %s, %.0f GB, compute capability %d.%d", c.Number, c.Name, float64(c.Memory)/1e9, c.Major, c.Minor)
				if c.Major*10+c.Minor < cuda.OldestMajor*10+cuda.OldestMinor {
					fmt.Fprintf(out, "; too old, %d.%d is needed", cuda.OldestMajor, cuda.OldestMinor)
				}
				fmt.Fprintln(out)
			}
			return nil
		},
	}
}
