package main

import (
	"fmt"
	"io"
	"math"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"utvi/internal/compute"
	"utvi/internal/methodpage"
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

const momentsHelp = `Compute the mean and the variance of a function of N(mean, var) by a rule, and compare
them with the exact values, from adaptive quadrature.`

const momentsExamples = `  utvi moments --fn tanh --rule ut --kappa 2 --mean 0.3 --var 0.5
  utvi moments --fn leaky-relu --slope 0.1 --rule exact --json
  utvi moments --fn 'x / (1 + x^2)' --rule gh --order 9
  utvi moments --fn sin --rule mc --samples 100 --seed 7 --var 2 --plot sin.svg
  utvi moments --page method         # a page to play with functions and rules, for any browser`

// momentsOptions are what the flags of moments ask for.
type momentsOptions struct {
	function functionFlags
	rule     ruleFlags
	mean     float64
	variance float64
	asJSON   bool
	plot     string // file of the figure; "": none
	page     string // folder of the page; "": none
}

func momentsCommand() *cobra.Command {
	o := &momentsOptions{}
	cmd := &cobra.Command{
		Use:     "moments",
		Short:   "Push one Gaussian through one function",
		Long:    momentsHelp,
		Example: momentsExamples,
		Args:    noArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return o.run(cmd) },
	}
	o.flags(cmd.Flags())
	return cmd
}

func (o *momentsOptions) flags(f *pflag.FlagSet) {
	f.SortFlags = false
	o.function.register(f)
	f.Float64Var(&o.mean, "mean", 0, "mean of the input")
	f.Float64Var(&o.variance, "var", 1, "variance of the input, ≥ 0")
	o.rule.register(f)
	f.BoolVar(&o.asJSON, "json", false, "print JSON")
	f.StringVar(&o.plot, "plot", "", "draw a figure to this file (.svg, .png or .pdf)")
	f.StringVar(&o.page, "page", "", "write a page that lets a browser choose all this, to this `folder`; nothing else is done")
}

func (o *momentsOptions) run(cmd *cobra.Command) error {
	if cmd.Flags().Changed("page") {
		return o.writePage(cmd)
	}
	f, err := o.function.function(cmd.Flags())
	if err != nil {
		return err
	}
	r, err := o.rule.rule(cmd.Flags())
	if err != nil {
		return err
	}
	if cmd.Flags().Changed("plot") {
		if err := report.CheckName(o.plot); err != nil {
			return usagef("--plot: %w", err)
		}
	}
	out, err := o.compute(f, r)
	if err != nil {
		return err
	}
	if o.plot != "" {
		fig := report.Moments{F: f, Rule: r, Mean: o.mean, Var: o.variance, Key: o.key(),
			OutMean: out.Mean, OutVar: out.Variance, ExactMean: out.ExactMean, ExactVar: out.ExactVariance}
		if err := saveTo(o.plot, func(path string) error { return report.Save(path, fig) }); err != nil {
			return err
		}
	}
	if o.asJSON {
		return writeJSON(cmd.OutOrStdout(), out)
	}
	fmt.Fprintf(cmd.OutOrStdout(), "%s of N(%g, %g) by %v\n\n", f.Name, o.mean, o.variance, r)
	if err := printMoments(cmd.OutOrStdout(), out); err != nil || o.plot == "" {
		return err
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "\nWrote %s.\n", o.plot)
	return err
}

// writePage writes the page to play with, which starts with its own function and rule.
func (o *momentsOptions) writePage(cmd *cobra.Command) error {
	var others []string
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if f.Name != "page" {
			others = append(others, "--"+f.Name)
		}
	})
	switch {
	case len(others) > 0:
		return usagef("--page stands alone: what %s says is chosen on the page", strings.Join(others, ", "))
	case o.page == "":
		return usagef("--page needs the name of a folder, as in --page method")
	}
	all, err := methodpage.Folder()
	if err != nil {
		return err
	}
	return writeFolder(cmd.OutOrStdout(), o.page, all)
}

// key is that of a rule's samples.
func (o *momentsOptions) key() rng.Key { return rng.New(o.rule.seed) }

// compute finds the moments by the rule and exactly.
func (o *momentsOptions) compute(f *moment.Func, r moment.Rule) (momentsOutput, error) {
	var out momentsOutput
	jet, err := moment.At(f, r, o.mean, o.variance, o.key())
	if err != nil {
		return out, misuse(err)
	}
	out.Mean = jet.Mean
	out.Variance = jet.Var
	out.ExactMean, out.ExactVariance, err = quad.Moments(f, o.mean, o.variance)
	if err != nil {
		return out, err
	}
	if !compute.Finite(out.Mean, out.Variance) {
		return out, fmt.Errorf("%v of %s over N(%g, %g) is not finite", r, f.Name, o.mean, o.variance)
	}
	return out, nil
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
