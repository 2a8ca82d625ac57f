package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"utvi/internal/bench"
)

func benchCommand() *cobra.Command {
	var o bench.Options
	var asJSON, kernels bool
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure kernels and networks against this machine's FMA peak",
		Long: `Measure each kernel and whole networks against the FMA peak of one core. The peak and
the measurement alternate in short windows of one run. "× floor" is the time divided by
the time that the matrix products alone would take at the peak.

bench/compare measures PyTorch in the same run.`,
		Example: `  utvi bench --quick                                 a first look, 30 seconds
  utvi bench --json > bench.json                     everything, for a script
  utvi bench --nets 1-128-128-1 --rules ut,exact     two rules on one network`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.NoKernels = !kernels
			if err := checkBench(o); err != nil {
				return err
			}
			var done func()
			o.Progress, done = lineProgress(cmd.ErrOrStderr())
			r, err := bench.Run(cmd.Context(), o)
			done()
			if err != nil {
				return err
			}
			if asJSON {
				return writeJSON(cmd.OutOrStdout(), r)
			}
			printBench(cmd.OutOrStdout(), r)
			return nil
		},
	}
	f := cmd.Flags()
	f.BoolVar(&o.Quick, "quick", false, "about 30 seconds: the most important cases, short windows")
	f.BoolVar(&asJSON, "json", false, "print JSON")
	f.BoolVar(&kernels, "kernels", true, "also measure single kernels and layers")
	f.StringSliceVar(&o.Nets, "nets", nil, "networks: "+strings.Join(bench.Nets(), ", "))
	f.StringSliceVar(&o.Rules, "rules", nil, "rules: "+strings.Join(bench.Rules(), ", "))
	f.IntSliceVar(&o.Batches, "batches", nil, "batch sizes: 1, 128, 1024")
	f.IntSliceVar(&o.Threads, "threads", nil, "numbers of threads: 1, 2")
	cmd.AddCommand(benchUCICommand(), benchServeCommand())
	return cmd
}

func checkBench(o bench.Options) error {
	for _, n := range o.Nets {
		if !slices.Contains(bench.Nets(), n) {
			return usagef("unknown network %q; choose from %s", n, strings.Join(bench.Nets(), ", "))
		}
	}
	for _, r := range o.Rules {
		if !slices.Contains(bench.Rules(), r) {
			return usagef("unknown rule %q; choose from %s", r, strings.Join(bench.Rules(), ", "))
		}
	}
	for _, b := range o.Batches {
		if b != 1 && b != 128 && b != 1024 {
			return usagef("--batches has %d; it must be 1, 128 or 1024", b)
		}
	}
	for _, n := range o.Threads {
		if n != 1 && n != 2 {
			return usagef("--threads has %d; it must be 1 or 2", n)
		}
	}
	return nil
}

func printBench(w io.Writer, r *bench.Report) {
	fmt.Fprintf(w, "FMA peak of one core: %.1f GFLOP/s (%s kernels)\n\n", r.Peak, r.Family)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	if len(r.Kernels) > 0 {
		fmt.Fprintln(t, "kernel\tshape\tGFLOP/s\t% of peak\tns/element\t")
		for _, k := range r.Kernels {
			if k.NsElem > 0 {
				fmt.Fprintf(t, "%s\t\t\t\t%.2f\t\n", k.Name, k.NsElem)
			} else {
				fmt.Fprintf(t, "%s\t%s\t%.1f\t%.1f\t\t\n", k.Name, k.Shape, k.GFLOPS, k.Percent)
			}
		}
		t.Flush()
		fmt.Fprintln(w)
	}
	if len(r.Layers) > 0 {
		fmt.Fprintln(t, "layer\tinput\toutput\tforward ns/unit\tbackward ns/unit\t")
		for _, l := range r.Layers {
			fmt.Fprintf(t, "%s\t%s\t%s\t%.2f\t%.2f\t\n", l.Name, l.Input, l.Output, l.Forward, l.Backward)
		}
		t.Flush()
		fmt.Fprintln(w)
	}
	fmt.Fprintln(t, "network\trule\tbatch\tthreads\tforward µs\t× floor\tstep µs\t× floor\tallocs\t")
	for _, n := range r.Networks {
		fmt.Fprintf(t, "%s\t%s\t%d\t%d\t%.1f\t%.2f\t%.1f\t%.2f\t%.0f\t\n", n.Net, n.Rule, n.Batch, n.Threads, n.ForwardUS, n.ForwardFloor, n.StepUS, n.StepFloor, n.Allocs)
	}
	t.Flush()
}
