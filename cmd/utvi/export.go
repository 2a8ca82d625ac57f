package main

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"utvi/internal/atomicfile"
	"utvi/internal/modelfile"
	"utvi/internal/onnx"
	"utvi/model"
	"utvi/onnx/export"
	"utvi/predict"
)

const exportHelp = `Write a model as an ONNX graph (opset 17) that carries means and variances by
ordinary operators: nothing is random, and any ONNX runtime runs it.

A network has the input x, rows by inputs (rows, height, width, channels for images), and
the outputs mean and variance. An ensemble is the mixture of its networks.

A model made by utvi fit has one input for each column, rows by 1: numbers as floats (NaN
where missing), names as strings ("" where missing), dates and times as doubles, seconds
since 1970 (NaN where missing). If the table writes times with offsets from UTC, the input
COLUMN_offset takes these, in seconds. Encoding, ensemble and calibration are inside. Its
outputs are mean, std, lo, hi (the interval), quantiles, variance_weights, variance_inputs,
variance_noise and ood, with the meaning that utvi predict gives them; for classes label,
probabilities and ood, and set, the conformal set of a calibrated model.

With --page: write a folder with the page that utvi serve shows and the model inside. Open its
index.html in any browser: no server and no network is needed, and nothing leaves the browser.

Rules that draw random numbers, and functions that are Go code, cannot be exported.`

const exportExamples = `  utvi export model.safetensors -o net.onnx
  utvi export model.safetensors --variance       with variances of the inputs
  utvi export price.utvi                         a tabular model, one input a column
  utvi export price.utvi --page -o price-page    a page to pass on, with the model inside`

// exportOptions are what the flags of export ask for.
type exportOptions struct {
	out     string
	page    bool
	network export.Options
	table   export.TableOptions
}

func exportCommand() *cobra.Command {
	o := &exportOptions{}
	cmd := &cobra.Command{
		Use:     "export MODEL",
		Short:   "Write a model as an ONNX graph, or as a page, for those without utvi",
		Long:    exportHelp,
		Example: exportExamples,
		Args:    modelArg,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.check(cmd.Flags(), args[0]); err != nil {
				return err
			}
			if o.page {
				return o.writePage(cmd, args[0])
			}
			return o.run(cmd, args[0])
		},
	}
	o.flags(cmd.Flags())
	return cmd
}

func (o *exportOptions) flags(f *pflag.FlagSet) {
	f.SortFlags = false
	f.StringVarP(&o.out, "out", "o", "", "the file to write (default: the model's name with .onnx), or with --page the folder (default: the name with -page)")
	f.BoolVar(&o.page, "page", false, "write a folder with a page that predicts in a browser, without a server")
	f.BoolVar(&o.network.Variance, "variance", false, "add the input x_variance of a network, the variances of x")
	f.Float64SliceVar(&o.table.Quantiles, "quantiles", []float64{0.05, 0.25, 0.5, 0.75, 0.95}, "`levels` of the quantiles of a tabular model")
	f.Lookup("quantiles").DefValue = "0.05,0.25,0.5,0.75,0.95" // as one writes them
	f.Float64Var(&o.table.Interval, "interval", 0.9, "level of the interval, or of the sets of classes, of a tabular model")
}

func (o *exportOptions) check(f *pflag.FlagSet, file string) error {
	if o.page {
		return o.checkPage(f, file)
	}
	if o.out == "" {
		o.out = strings.TrimSuffix(file, filepath.Ext(file)) + ".onnx"
	}
	if err := modelfile.Check(file); err != nil {
		return err
	}
	if err := spare(o.out, file); err != nil {
		return err
	}
	if ext := filepath.Ext(o.out); ext != "" && !strings.EqualFold(ext, ".onnx") {
		return usagef("%s: a graph cannot be written as %s; name a .onnx file", o.out, ext)
	}
	return nil
}

func (o *exportOptions) run(cmd *cobra.Command, file string) error {
	e, err := model.LoadEnsemble(file, paperMaps())
	if err != nil {
		return err
	}
	g, err := o.graph(cmd, e)
	if err != nil {
		return fmt.Errorf("cannot export %s: %w", file, err)
	}
	if err := saveTo(o.out, func(path string) error { return atomicfile.Write(path, g.Write) }); err != nil {
		return err
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s: %d operators\n", o.out, len(g.Graph.Nodes))
	return err
}

// graph is the graph of a network or of a table's model.
func (o *exportOptions) graph(cmd *cobra.Command, e *model.Ensemble) (*onnx.Model, error) {
	m, err := predict.FromEnsemble(e)
	if err == nil && m.Net != nil && !m.Net.Report.Imported {
		return o.tableGraph(cmd, m)
	}
	for _, name := range []string{"quantiles", "interval"} {
		if cmd.Flags().Changed(name) {
			return nil, usagef("--%s is for tabular models; a network predicts mean and variance", name)
		}
	}
	return export.Ensemble(e, o.network)
}

func (o *exportOptions) tableGraph(cmd *cobra.Command, m *predict.Model) (*onnx.Model, error) {
	if o.network.Variance {
		return nil, usagef("--variance is for networks; a tabular model takes the columns of its standard deviations")
	}
	if m.Counts() {
		if cmd.Flags().Changed("quantiles") {
			return nil, usagef("the model predicts counts, whose quantiles a graph cannot compute; leave out --quantiles")
		}
		o.table.Quantiles = nil
		fmt.Fprintln(cmd.OutOrStdout(), "The model predicts counts: the graph has no quantiles, and an interval only if it is conformal.")
	}
	return export.Table(m, o.table)
}
