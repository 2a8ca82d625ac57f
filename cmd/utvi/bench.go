package main

import (
	"cmp"
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
	var device string
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure kernels and networks against this machine's FMA peak",
		Long: `Measure each kernel and whole networks against two limits of this machine: the FMA peak
of a core, and the bandwidth at which memory is read. A limit and the measurement
alternate in short windows of one run. "× FMA" is the time divided by the time that the
matrix products alone would take at the peak of all threads used. "× memory" is the time
divided by the time that it takes to read the weights once (forward: mean and variance of
each) or to read and write the parameters and the optimizer's moments once (step); it is
left out where a core's own caches hold the weights, and below 1 where a larger cache
holds a part of them. "× one thread" says how many times faster several threads are: they
and one thread take turns, and one thread runs on another core each time.

internal/bench/compare measures PyTorch in the same run.`,
		Example: `  utvi bench --quick                                 a first look, 30 seconds
  utvi bench --json > bench.json                     everything, for a script
  utvi bench --nets 1-128-128-1 --rules ut,exact     two rules on one network
  utvi bench --kernels=false --threads 1,16          how a network scales`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.NoKernels = !kernels
			if err := checkBench(o); err != nil {
				return err
			}
			if device != "cpu" {
				return benchCard(cmd, device, o, asJSON)
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
	f.BoolVar(&o.Quick, "quick", false, "about 30 seconds: the most important cases, short windows; on a card without sizes of tiles and trainings side by side")
	f.BoolVar(&asJSON, "json", false, "print JSON")
	f.BoolVar(&kernels, "kernels", true, "also measure single kernels and layers")
	f.StringSliceVar(&o.Nets, "nets", nil, "networks: "+choices(bench.Nets()))
	f.StringSliceVar(&o.Rules, "rules", nil, "rules: "+choices(bench.Rules()))
	f.IntSliceVar(&o.Batches, "batches", nil, "batch sizes: 1, 128, 1024")
	f.IntSliceVar(&o.Threads, "threads", nil, "numbers of threads; all: 1, 2, 4, … up to the cores of this machine")
	f.StringVar(&device, "device", "cpu", "cpu, or a card such as cuda or cuda:1: how long the card is busy with each network")
	cmd.AddCommand(benchUCICommand(), benchTablesCommand(), benchLocateCommand(), benchServeCommand(), benchPredictCommand())
	return cmd
}

// benchCard measures networks on a card.
func benchCard(cmd *cobra.Command, device string, o bench.Options, asJSON bool) error {
	e, err := openCard(cmd, device)
	if err != nil {
		return err
	}
	var done func()
	o.Progress, done = lineProgress(cmd.ErrOrStderr())
	r, err := bench.Card(e, o)
	done()
	if err != nil {
		return err
	}
	w := cmd.OutOrStdout()
	if asJSON {
		return writeJSON(w, r)
	}
	printCard(w, r)
	return nil
}

func printCard(w io.Writer, r *bench.CardReport) {
	fmt.Fprintf(w, "%s\n\n", r.Card)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "network\trule\tbatch\ttiles\tforward µs\tstep µs\t")
	for _, n := range slices.Concat(r.Networks, r.Tilings) {
		fmt.Fprintf(t, "%s\t%s\t%d\t%s\t%.1f\t%.1f\t\n", n.Net, n.Rule, n.Batch, cmp.Or(n.Tiles, "chosen"), n.ForwardUS, n.StepUS)
	}
	t.Flush()
	fmt.Fprintln(w)
	fmt.Fprintln(t, "network\trule\tkernel of a step\tblocks\tµs\t")
	for _, n := range r.Networks {
		for _, k := range n.Kernels {
			fmt.Fprintf(t, "%s\t%s\t%s\t%d\t%.1f\t\n", n.Net, n.Rule, k.Kernel, k.Blocks, k.US)
		}
	}
	t.Flush()
	fmt.Fprintln(w)
	for _, x := range r.Together {
		fmt.Fprintf(w, "%s, batch %d, %s at a time: %.0f steps a second in all\n", x.Net, x.Batch, plural(x.Trainings, "training", "trainings"), x.StepsPerSecond)
	}
	for _, x := range r.Refused {
		fmt.Fprintf(w, "not measured: %s\n", x)
	}
	for _, x := range r.Remarks {
		fmt.Fprintf(w, "the driver says of %s\n", x)
	}
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
		if b != 1 && b != 128 && b != 256 && b != 1024 {
			return usagef("--batches has %d; it must be 1, 128, 256 (on a card) or 1024", b)
		}
	}
	for _, n := range o.Threads {
		if n < 1 || n > bench.MaxThreads {
			return usagef("--threads has %d; it must be between 1 and %d", n, bench.MaxThreads)
		}
	}
	return nil
}

func printBench(w io.Writer, r *bench.Report) {
	fmt.Fprintf(w, "%s, %d cores, caches %d KiB, %d KiB, %d MiB, %s kernels\n", cmp.Or(r.CPU, r.Arch), r.Cores, r.L1>>10, r.L2>>10, r.L3>>20, r.Family)
	fmt.Fprintf(w, "FMA peak of one core: %.1f GFLOP/s\n\n", r.Peak)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "threads\tFMA GFLOP/s\tmemory GB/s\t")
	for _, l := range r.Limits {
		fmt.Fprintf(t, "%d\t%.1f\t%.1f\t\n", l.Threads, l.GFLOPS, l.Bandwidth)
	}
	t.Flush()
	fmt.Fprintln(w)
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
	fmt.Fprintln(t, "network\trule\tbatch\tthreads\tforward µs\t× FMA\t× memory\tstep µs\t× FMA\t× memory\tallocs\t")
	for _, n := range r.Networks {
		fmt.Fprintf(t, "%s\t%s\t%d\t%d\t%.1f\t%.2f\t%s\t%.1f\t%.2f\t%s\t%.0f\t\n", n.Net, n.Rule, n.Batch, n.Threads,
			n.ForwardUS, n.ForwardFloor, ratio(n.ForwardMemory), n.StepUS, n.StepFloor, ratio(n.StepMemory), n.Allocs)
	}
	t.Flush()
	if gains := r.Gains(); len(gains) > 0 {
		fmt.Fprintln(t, "\nnetwork\trule\tbatch\tthreads\tforward × one thread\tstep × one thread\t")
		for _, g := range gains {
			fmt.Fprintf(t, "%s\t%s\t%d\t%d\t%.2f\t%.2f\t\n", g.Net, g.Rule, g.Batch, g.Threads, g.Forward, g.Step)
		}
		t.Flush()
	}
}

// ratio is empty where there is none.
func ratio(x float64) string {
	if x == 0 {
		return ""
	}
	return fmt.Sprintf("%.2f", x)
}
