package main

import (
	"fmt"
	"io"
	"math"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"utvi/internal/compute"
	"utvi/internal/quad"
	"utvi/internal/report"
	"utvi/moment"
	"utvi/rng"
)

type momentsOutput struct {
	Mean          float64 `json:"mean"`
	Variance      float64 `json:"variance"`
	ExactMean     float64 `json:"exact_mean"`
	ExactVariance float64 `json:"exact_variance"`
}

func momentsCommand() *cobra.Command {
	var (
		function       functionFlags
		rule           ruleFlags
		mean, variance float64
		asJSON         bool
		plot           string
	)
	cmd := &cobra.Command{
		Use:   "moments",
		Short: "Push one Gaussian through one function",
		Long: `Compute the mean and the variance of a function of N(mean, var) by a rule, and compare
them with the exact values, from adaptive quadrature.`,
		Example: `  utvi moments --fn tanh --rule ut --kappa 2 --mean 0.3 --var 0.5
  utvi moments --fn leaky-relu --slope 0.1 --rule exact --json
  utvi moments --fn 'x / (1 + x^2)' --rule gh --order 9
  utvi moments --fn sin --rule mc --samples 100 --seed 7 --var 2 --plot sin.svg`,
		Args: noArgs,
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	function.register(flags)
	flags.Float64Var(&mean, "mean", 0, "mean of the input")
	flags.Float64Var(&variance, "var", 1, "variance of the input, ≥ 0")
	rule.register(flags)
	flags.BoolVar(&asJSON, "json", false, "print JSON")
	flags.StringVar(&plot, "plot", "", "draw a figure to this file (.svg, .png or .pdf)")

	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		f, err := function.function(flags)
		if err != nil {
			return err
		}
		r, err := rule.rule(flags)
		if err != nil {
			return err
		}
		if flags.Changed("plot") {
			if err := report.CheckName(plot); err != nil {
				return usagef("--plot: %w", err)
			}
		}
		key := rng.New(rule.seed)
		jet, err := moment.At(f, r, mean, variance, key)
		if err != nil {
			return misuse(err)
		}
		out := momentsOutput{Mean: jet.Mean, Variance: jet.Var}
		out.ExactMean, out.ExactVariance, err = quad.Moments(f, mean, variance)
		if err != nil {
			return err
		}
		if !compute.Finite(out.Mean, out.Variance) {
			return fmt.Errorf("%v of %s over N(%g, %g) is not finite", r, f.Name, mean, variance)
		}
		if plot != "" {
			fig := report.Moments{F: f, Rule: r, Mean: mean, Var: variance, Key: key,
				OutMean: out.Mean, OutVar: out.Variance, ExactMean: out.ExactMean, ExactVar: out.ExactVariance}
			if err := saveTo(plot, func(path string) error { return report.Save(path, fig) }); err != nil {
				return err
			}
		}
		if asJSON {
			return writeJSON(cmd.OutOrStdout(), out)
		}
		fmt.Fprintf(cmd.OutOrStdout(), "%s of N(%g, %g) by %v\n\n", f.Name, mean, variance, r)
		return printMoments(cmd.OutOrStdout(), out)
	}
	return cmd
}

func printMoments(w io.Writer, o momentsOutput) error {
	t := tabwriter.NewWriter(w, 0, 0, 3, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "\trule\texact\terror\t")
	scale := math.Sqrt(o.ExactVariance)
	fmt.Fprintf(t, "mean\t%.6g\t%.6g\t%s\t\n", o.Mean, o.ExactMean, percent(o.Mean, o.ExactMean, scale))
	fmt.Fprintf(t, "variance\t%.6g\t%.6g\t%s\t\n", o.Variance, o.ExactVariance, percent(o.Variance, o.ExactVariance, 0))
	return t.Flush()
}

// percent writes the error of x relative to want. A want that is tiny relative to scale
// is zero except for rounding.
func percent(x, want, scale float64) string {
	const rounding = 1e-12
	size := math.Abs(want)
	switch {
	case math.Abs(x-want) <= rounding*max(size, scale):
		return "0 %"
	case size <= rounding*scale:
		return "–"
	}
	return fmt.Sprintf("%+.3g %%", 100*(x-want)/size)
}
