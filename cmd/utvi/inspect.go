package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"unicode"

	"github.com/spf13/cobra"

	"utvi/fit"
	"utvi/internal/modelfile"
	"utvi/internal/pixelwise"
	"utvi/model"
)

const inspectHelp = `Show the layers of a saved model, its weights' signal-to-noise |μ|/σ and their
divergence (KL) from the prior, and what it was trained on. User-defined functions
are shown by name. For a model made by utvi fit, show its table, scores and
calibration; --networks adds the networks.`

// inspectOptions are what the flags of inspect ask for.
type inspectOptions struct {
	asJSON   bool
	networks bool // of a tabular model, too
}

func inspectCommand() *cobra.Command {
	o := &inspectOptions{}
	cmd := &cobra.Command{
		Use:   "inspect MODEL",
		Short: "Show what a saved model is made of and how sure it is of its weights",
		Long:  inspectHelp,
		Example: `  utvi inspect model.safetensors
  utvi inspect price.utvi --networks
  utvi inspect model.safetensors --json`,
		Args: modelArg,
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.OutOrStdout(), args[0]) },
	}
	cmd.Flags().BoolVar(&o.asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVar(&o.networks, "networks", false, "also show the networks of a tabular model")
	return cmd
}

func (o *inspectOptions) run(w io.Writer, file string) error {
	if err := modelfile.Check(file); err != nil {
		return err
	}
	e, err := model.LoadEnsemble(file, paperMaps(), model.WithStandIns())
	if err != nil {
		return err
	}
	var members []model.Summary
	for _, m := range e.Members {
		members = append(members, m.Inspect())
	}
	m, err := fit.FromEnsemble(e)
	if err != nil && !errors.Is(err, fit.ErrNotTabular) {
		return fmt.Errorf("cannot load the model %s: %w", file, err)
	}
	if p, err := pixelwise.FromEnsemble(e); err == nil && !o.asJSON && !o.networks {
		return printPixelModel(w, p)
	}
	if o.asJSON {
		found := map[string]any{"members": members}
		if m != nil {
			found["table"] = map[string]any{"schema": m.Schema, "facts": m.Facts, "calibration": m.Calibration}
		}
		return writeJSON(w, found)
	}
	if m != nil {
		if err := printTableModel(w, m); err != nil || !o.networks && !m.Net.Report.Imported {
			return err
		}
		fmt.Fprintln(w)
	}
	for k, s := range members {
		if len(members) > 1 {
			fmt.Fprintf(w, "member %d\n\n", k)
		}
		printLayers(w, s)
		printTensors(w, s)
		printFacts(w, s)
	}
	return nil
}

// modelArg takes exactly one argument: a model file.
func modelArg(cmd *cobra.Command, args []string) error {
	if len(args) != 1 {
		return usagef("%s takes one model file, not %d arguments", cmd.CommandPath(), len(args))
	}
	return nil
}

func printLayers(w io.Writer, s model.Summary) {
	t := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	fmt.Fprintln(t, "layer\toutput\tweights\toptions")
	fmt.Fprintf(t, "input\t%v\t\t\n", s.Input)
	for _, l := range s.Layers {
		options := l.Options
		if len(l.From) > 0 {
			options = strings.TrimSpace("from=" + strings.Join(l.From, ",") + " " + options)
		}
		fmt.Fprintf(t, "%s\t%v\t%d\t%s\n", l.Name, l.Out, l.Weights, tame(options))
	}
	t.Flush()
	fmt.Fprintf(w, "\n%d weights, %d of them distributions; KL %.6g nats; seed %d\n\n", s.Weights, s.Random, s.KL, s.Seed)
}

func printTensors(w io.Writer, s model.Summary) {
	if len(s.Tensors) == 0 {
		return
	}
	t := tabwriter.NewWriter(w, 0, 0, 3, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "tensor\tshape\tprior\tKL\t|μ|/σ min\t25 %\tmedian\t75 %\tmax\tbelow 1\t")
	centered := false
	for _, x := range s.Tensors {
		shape := strings.Trim(strings.ReplaceAll(fmt.Sprint(x.Shape), " ", "×"), "[]")
		if x.SNR == nil {
			fmt.Fprintf(t, "%s\t%s\t%s\t\t\t\t\t\t\t\t\n", x.Name, shape, pointValues(x))
			continue
		}
		mean := fmt.Sprintf("%.3g", x.Prior.Mean)
		if x.Centered {
			mean, centered = "start", true
		}
		std := fmt.Sprintf("%.3g", x.Prior.Std)
		if x.Promoted {
			std = "own"
		}
		fmt.Fprintf(t, "%s\t%s\tN(%s, %s²)\t%.4g\t", x.Name, shape, mean, std, x.KL)
		for _, q := range x.SNR {
			fmt.Fprintf(t, "%.3g\t", q)
		}
		fmt.Fprintf(t, "%.1f %%\t\n", 100*x.Below1)
	}
	t.Flush()
	if centered {
		fmt.Fprintln(w, "\nN(start, …): the prior of each weight is centred on the weight that training started from.")
	}
	fmt.Fprintln(w)
}

// pointValues describes a tensor of numbers: the values of a formula's parameter, as
// they are stored.
func pointValues(x model.TensorSummary) string {
	switch q := x.Numbers; {
	case q == nil || !strings.Contains(x.Name, ".param."):
		return "numbers"
	case q[0] == q[4]:
		return fmt.Sprintf("%.4g", q[0])
	default:
		return fmt.Sprintf("%.4g to %.4g", q[0], q[4])
	}
}

func printFacts(w io.Writer, s model.Summary) {
	f := s.Facts
	t := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	line := func(known bool, name string, value any) {
		if known {
			fmt.Fprintf(t, "%s\t%s\n", tame(name), tame(fmt.Sprint(value)))
		}
	}
	line(f.Data != "", "trained on", f.Data)
	line(f.Rows > 0, "rows", f.Rows)
	line(f.Steps > 0, "steps", f.Steps)
	line(f.Likelihood != "", "likelihood", f.Likelihood)
	line(f.Kernels != "", "kernels", f.Kernels)
	line(f.NLL != 0, "NLL", fmt.Sprintf("%.6g nats per row", f.NLL))
	line(f.Date != "", "date", f.Date)
	for _, k := range slices.Sorted(maps.Keys(f.More)) {
		line(true, k, f.More[k])
	}
	t.Flush()
}

// tame replaces characters of a file's text that would control the terminal or break a
// table.
func tame(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return unicode.ReplacementChar
		}
		return r
	}, s)
}
