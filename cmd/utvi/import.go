package main

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"utvi/internal/provenance"
	"utvi/model"
	"utvi/onnx/importer"
)

func importCommand() *cobra.Command {
	var (
		out string
		in  importFlags
	)
	cmd := &cobra.Command{
		Use:   "import NETWORK",
		Short: "Make a network from an ONNX file or PyTorch weights",
		Long: `Make a network from an ONNX file, or from a PyTorch state_dict that was saved as
safetensors, with a description of its layers (--layers). The weights become numbers, so
that inputs with variances pass through the network at once. With --random they become
Normals around the trained values, ready for training.

The graph must be a chain of layers with residual connections, sums of two branches of one
tensor such as x + f(x): Gemm, MatMul, Conv, BatchNormalization, LayerNormalization,
pooling, Flatten, Reshape, Softmax, and any elementwise operators. Images are height ×
width × channels here.`,
		Example: `  utvi import net.onnx -o net.safetensors
  utvi import net.onnx --random --scale 0.05
  utvi import state.safetensors --layers layers.json -o net.safetensors`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usagef("%s takes one network, not %d arguments", cmd.CommandPath(), len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if out == "" {
				out = strings.TrimSuffix(args[0], filepath.Ext(args[0])) + ".safetensors"
				if in.layers != "" {
					return usagef("--out is needed: name the file to write")
				}
			}
			if err := spare(out, args[0], in.layers); err != nil {
				return err
			}
			n, err := in.load(args[0])
			if err != nil {
				return err
			}
			if err := saveTo(out, n.Save); err != nil {
				return err
			}
			weights := 0
			for _, t := range n.Params.Tensors {
				weights += t.Len()
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s: inputs %v, outputs %v, %d weights\n", out, n.Config.Input, n.Graph().Out, weights)
			return err
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVarP(&out, "out", "o", "", "the file to write (default: the network's name with .safetensors)")
	f.BoolVar(&in.o.Random, "random", false, "make weights Normals around the trained values")
	in.flags(f)
	return cmd
}

// importFlags are the flags of commands that import a network.
type importFlags struct {
	o      importer.Options
	layers string
}

func (i *importFlags) flags(f *pflag.FlagSet) {
	f.Float64Var(&i.o.Scale, "scale", importer.DefaultScale, "standard deviation of the priors, beside the root mean square of each tensor")
	f.BoolVar(&i.o.Correlated, "correlated", false, "carry correlations between units")
	f.IntSliceVar(&i.o.Input, "input", nil, "size of one row where the graph leaves it open, such as 3,32,32")
	f.StringVar(&i.o.Output, "output", "", "the output, where the graph has several")
	f.StringVar(&i.layers, "layers", "", "layers of a PyTorch state_dict, a JSON file")
}

func (i *importFlags) load(path string) (n *model.Model, err error) {
	if !(i.o.Scale > 0) {
		return nil, usagef("--scale is %g; it must be a number above 0", i.o.Scale)
	}
	if i.layers != "" {
		n, err = importer.LoadStateDict(path, i.layers, i.o)
	} else {
		n, err = importer.Load(path, i.o)
	}
	if err != nil {
		return nil, err
	}
	n.Facts.More = map[string]string{"imported from": filepath.Base(path), "imported by": "utvi " + provenance.Version()}
	if i.o.Random {
		n.Facts.More["scale of the priors"] = fmt.Sprint(i.o.Scale)
	}
	return n, nil
}
