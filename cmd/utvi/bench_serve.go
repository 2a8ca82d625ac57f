package main

import (
	"fmt"
	"io"
	"os"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"utvi/internal/servebench"
)

const benchServeHelp = `Measure the server on loopback beside a handler of net/http that echoes JSON, in
alternating windows of one run: single rows at 64 connections, their 99 % quantile of the
time at half the rate that fits, and batches of 1,024 rows beside utvi predict. With --soak,
start a server as its own process instead and send it twice the load that fits.`

const benchServeExamples = `  utvi bench serve
  utvi bench serve --soak 5m`

// benchServeOptions are what the flags of bench serve ask for.
type benchServeOptions struct {
	servebench.Options
	soak   time.Duration // 0: none
	asJSON bool
}

func benchServeCommand() *cobra.Command {
	o := &benchServeOptions{}
	cmd := &cobra.Command{
		Use:     "serve",
		Short:   "Measure the server beside a bare JSON server, and under too much load",
		Long:    benchServeHelp,
		Example: benchServeExamples,
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.check(); err != nil {
				return err
			}
			if o.soak > 0 {
				return o.overload(cmd)
			}
			return o.compare(cmd)
		},
	}
	f := cmd.Flags()
	f.IntVar(&o.Windows, "windows", 5, "number of windows")
	f.DurationVar(&o.Window, "window", 2*time.Second, "length of a window")
	f.DurationVar(&o.soak, "soak", 0, "send twice the load that fits for this long")
	f.BoolVar(&o.asJSON, "json", false, "print JSON")
	return cmd
}

func (o *benchServeOptions) check() error {
	if o.soak < 0 {
		return usagef("--soak must be above 0")
	}
	if o.Windows < 1 {
		return usagef("--windows is %d; it must be at least 1", o.Windows)
	}
	const least = 10 * time.Millisecond // in less, no request is answered
	if o.Window < least {
		return usagef("--window is %v; it must be at least %v", o.Window, least)
	}
	return nil
}

// overload sends twice the load that fits.
func (o *benchServeOptions) overload(cmd *cobra.Command) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	s, err := servebench.Overload(cmd.Context(), program, o.soak)
	if err != nil {
		return err
	}
	if o.asJSON {
		return writeJSON(cmd.OutOrStdout(), s)
	}
	return printOverload(cmd.OutOrStdout(), s)
}

// compare measures the server beside a bare one.
func (o *benchServeOptions) compare(cmd *cobra.Command) error {
	var done func()
	o.Progress, done = lineProgress(cmd.ErrOrStderr())
	r, err := servebench.Run(cmd.Context(), o.Options)
	done()
	if err != nil {
		return err
	}
	if o.asJSON {
		return writeJSON(cmd.OutOrStdout(), r)
	}
	return printServeBench(cmd.OutOrStdout(), r)
}

func printOverload(w io.Writer, s *servebench.Soak) error {
	t := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	fmt.Fprintf(t, "requests/s that fit\t%.0f\n", s.Fits)
	fmt.Fprintf(t, "at twice that, for\t%.0f s\n", s.Seconds)
	fmt.Fprintf(t, "answered, refused, wrong\t%d, %d, %d\n", s.Answered, s.Refused, s.Wrong)
	fmt.Fprintf(t, "p99 of the answered\t%.1f ms\n", s.P99)
	fmt.Fprintf(t, "memory early, late\t%.1f MB, %.1f MB\n", s.Early, s.Late)
	fmt.Fprintf(t, "recovered after\t%.3f s\n", s.Recovery)
	return t.Flush()
}

func printServeBench(w io.Writer, r *servebench.Report) error {
	t := tabwriter.NewWriter(w, 0, 0, 3, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "%d cores, %d networks\tbare\tutvi serve\t\t\n", r.Cores, r.Members)
	fmt.Fprintf(t, "single rows, %d connections, requests/s\t%.0f\t%.0f\t%.0f %%\t\n", r.Connections, r.Echo, r.Single, 100*r.Share)
	if r.EchoCPU > 0 {
		fmt.Fprintf(t, "processor time of a request and its client, µs\t%.1f\t%.1f\t× %.2f\t\n", r.EchoCPU, r.SingleCPU, r.SingleCPU/r.EchoCPU)
	}
	fmt.Fprintf(t, "p99 at half load, µs\t%.0f\t%.0f\t× %.2f\t\n", r.EchoP99, r.SingleP99, r.P99Ratio)
	fmt.Fprintf(t, "batches of 1024, rows/s (bare: utvi predict)\t%.0f\t%.0f\t%.0f %%\t\n", r.PredictRows, r.BatchRows, 100*r.BatchShare)
	fmt.Fprintf(t, "wrong answers\t\t%d\t\t\n", r.Wrong)
	return t.Flush()
}
