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

const importHelp = `Make a network from an ONNX file, or from a PyTorch state_dict that was saved as
safetensors, with a description of its layers (--layers). The weights become numbers, so
that inputs with variances pass through the network at once. With --random they become
Normals around the trained values, ready for training.

Chains of layers and graphs are taken: residual connections, U-Nets, gates, recurrent
networks, Transformers, several inputs. Images are height × width × channels here.

Operators:
`

const importExamples = `  utvi import net.onnx -o net.safetensors
  utvi import net.onnx --random --scale 0.05
  utvi import state.safetensors --layers layers.json -o net.safetensors`

// importOptions are what the flags of import ask for.
type importOptions struct {
	network importFlags
	out     string
}

func importCommand() *cobra.Command {
	o := &importOptions{}
	cmd := &cobra.Command{
		Use:     "import NETWORK",
		Short:   "Make a network from an ONNX file or PyTorch weights",
		Long:    importHelp + wrapped(importer.Operators()),
		Example: importExamples,
		Args:    networkArg,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.check(args[0]); err != nil {
				return err
			}
			return o.run(cmd, args[0])
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVarP(&o.out, "out", "o", "", "the file to write (default: the network's name with .safetensors)")
	f.BoolVar(&o.network.o.Random, "random", false, "make weights Normals around the trained values")
	o.network.flags(f)
	return cmd
}

// wrapped writes names in lines of a help text.
func wrapped(names []string) string {
	var b strings.Builder
	width := 0
	for i, name := range names {
		if i < len(names)-1 {
			name += ","
		}
		if width > 0 && width+1+len(name) > 86 {
			b.WriteString("\n")
			width = 0
		} else if width > 0 {
			name = " " + name
		}
		b.WriteString(name)
		width += len(name)
	}
	return b.String()
}

// networkArg takes exactly one argument: a network of another program.
func networkArg(cmd *cobra.Command, args []string) error {
	if len(args) != 1 {
		return usagef("%s takes one network, not %d arguments", cmd.CommandPath(), len(args))
	}
	return nil
}

func (o *importOptions) check(network string) error {
	if o.out == "" && o.network.layers != "" { // the network's own name ends in .safetensors, too
		return usagef("--out is needed: name the file to write")
	}
	if o.out == "" {
		o.out = strings.TrimSuffix(network, filepath.Ext(network)) + ".safetensors"
	}
	return spare(o.out, network, o.network.layers)
}

func (o *importOptions) run(cmd *cobra.Command, network string) error {
	n, err := o.network.load(network)
	if err != nil {
		return err
	}
	if err := saveTo(o.out, n.Save); err != nil {
		return err
	}
	weights := 0
	for _, t := range n.Params.Tensors {
		weights += t.Len()
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s: inputs %v, outputs %v, %d weights\n", o.out, n.Config.Input, n.Graph().Out, weights)
	return err
}

// importFlags are the flags of commands that import a network.
type importFlags struct {
	o      importer.Options
	layers string
}

func (i *importFlags) flags(f *pflag.FlagSet) {
	f.Float64Var(&i.o.Scale, "scale", model.DefaultScale, "standard deviation of the priors, beside the root mean square of each tensor")
	f.BoolVar(&i.o.Correlated, "correlated", false, "carry correlations between units")
	f.IntSliceVar(&i.o.Input, "input", nil, "size of one row where the graph leaves it open, such as 3,32,32")
	f.StringVar(&i.o.Output, "output", "", "the output, where the graph has several, or some of them: a,b")
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
	if n.Facts.More == nil {
		n.Facts.More = map[string]string{}
	}
	n.Facts.More["imported from"] = filepath.Base(path)
	n.Facts.More["imported by"] = "utvi " + provenance.Version()
	if i.o.Random {
		n.Facts.More["scale of the priors"] = fmt.Sprint(i.o.Scale)
	}
	return n, nil
}
