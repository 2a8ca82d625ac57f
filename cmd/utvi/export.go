package main

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"utvi/fit"
	"utvi/internal/atomicfile"
	"utvi/model"
	"utvi/onnx/export"
)

func exportCommand() *cobra.Command {
	var (
		out string
		o   export.Options
	)
	cmd := &cobra.Command{
		Use:   "export MODEL",
		Short: "Write a model as an ONNX graph, for programs without utvi",
		Long: `Write a network as an ONNX graph (opset 17) that carries means and variances by
ordinary operators: nothing is random, and any ONNX runtime runs it. The input is x, rows
by inputs (rows, height, width, channels for images); the outputs are mean and variance.
An ensemble becomes one graph, the mean and the variance of the mixture.

Rules that draw random numbers, and functions that are Go code, cannot be exported.`,
		Example: `  utvi export model.safetensors -o net.onnx
  utvi export model.safetensors --variance       with variances of the inputs`,
		Args: modelArg,
		RunE: func(cmd *cobra.Command, args []string) error {
			if out == "" {
				out = strings.TrimSuffix(args[0], filepath.Ext(args[0])) + ".onnx"
			}
			if err := spare(out, args[0]); err != nil {
				return err
			}
			if err := fit.CheckFile(args[0]); err != nil {
				return err
			}
			e, err := model.LoadEnsemble(args[0])
			if err != nil {
				return err
			}
			m, err := export.Ensemble(e, o)
			if err != nil {
				return fmt.Errorf("cannot export %s: %w", args[0], err)
			}
			if err := atomicfile.Write(out, m.Write); err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s: %d operators\n", out, len(m.Graph.Nodes))
			return err
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVarP(&out, "out", "o", "", "the file to write (default: the model's name with .onnx)")
	f.BoolVar(&o.Variance, "variance", false, "add the input x_variance, the variances of x")
	return cmd
}
