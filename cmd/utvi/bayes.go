package main

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"utvi/bayes"
	"utvi/data"
	"utvi/internal/compute"
	"utvi/metric"
	"utvi/model"
	"utvi/onnx/importer"
)

const bayesHelp = `Turn a network that was trained elsewhere into a Bayesian one. The weights become
Normals around the trained values, with priors centred on them; a few epochs on your rows
find out how sure the data make each weight, and how large the noise is. Scores before
and after are those of --test, rows that the network has never seen, or else of a share of
the rows that these epochs did not use.

--data is a table of numbers and --target the names of its target columns; all other
columns are the inputs, in their order. Or both are arrays (.npy), rows by columns. Images
are height × width × channels. Classes are numbers from 0. A network with several outputs
and one target predicts classes.`

const bayesExamples = `  utvi bayes net.onnx --data rows.csv --target y --test new.csv -o net.safetensors
  utvi bayes net.onnx --data x.npy --target y.npy --epochs 10
  utvi bayes state.safetensors --layers layers.json --data rows.csv --target y -o net.safetensors`

// bayesOptions are what the flags of bayes ask for.
type bayesOptions struct {
	network importFlags
	table   tableFlags
	config  bayes.Config
	data    string // a table, or the array of inputs
	targets []string
	test    string // a table that is only scored; "": a share of the rows
	out     string
}

func bayesCommand() *cobra.Command {
	o := &bayesOptions{}
	cmd := &cobra.Command{
		Use:     "bayes NETWORK",
		Short:   "Give a trained network error bars: a few epochs around its weights",
		Long:    bayesHelp,
		Example: bayesExamples,
		Args:    networkArg,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.check(args[0]); err != nil {
				return err
			}
			return o.run(cmd, args[0])
		},
	}
	o.flags(cmd.Flags())
	return cmd
}

func (o *bayesOptions) flags(f *pflag.FlagSet) {
	f.SortFlags = false
	f.StringVar(&o.data, "data", "", "a table, or the array of inputs")
	f.StringSliceVar(&o.targets, "target", nil, "the target columns, or the array of targets")
	f.StringVar(&o.test, "test", "", "a table of rows that are only scored")
	f.StringVarP(&o.out, "out", "o", "", "the file to write (default: the network's name with -bayes.safetensors)")
	f.IntVar(&o.config.Epochs, "epochs", 60, "passes over the rows")
	f.IntVar(&o.config.Batch, "batch", 32, "rows in a step")
	f.Float64Var(&o.config.Rate, "rate", 0.01, "learning rate at the start; it falls to 0")
	f.Float64Var(&o.config.Held, "held-out", 0.2, "share of the rows that is only scored")
	f.Uint64Var(&o.config.Seed, "seed", 0, "seed of the order of the rows")
	o.network.flags(f)
	o.table.flags(f)
}

func (o *bayesOptions) check(network string) error {
	if o.data == "" || len(o.targets) == 0 {
		return usagef("--data and --target are needed")
	}
	c := o.config
	if c.Epochs == 0 || c.Batch == 0 || c.Rate == 0 || c.Held == 0 { // which stand for defaults in Go
		return usagef("--epochs, --batch, --rate and --held-out must be above 0")
	}
	if err := c.Check(); err != nil {
		return misuse(err)
	}
	if o.test != "" && o.arrays() {
		return usagef("--test takes a table, with targets by name; --target is an array")
	}
	if o.out == "" {
		o.out = strings.TrimSuffix(network, filepath.Ext(network)) + "-bayes.safetensors"
	}
	if err := spare(o.out, network, o.data, o.test, o.network.layers); err != nil {
		return err
	}
	return ready(o.out)
}

// arrays reports whether inputs and targets are arrays, not columns of a table.
func (o *bayesOptions) arrays() bool {
	return len(o.targets) == 1 && strings.HasSuffix(o.targets[0], ".npy")
}

func (o *bayesOptions) run(cmd *cobra.Command, network string) error {
	rows, err := o.rows(o.data)
	if err != nil {
		return err
	}
	var test *data.Set
	if o.test != "" {
		s, err := o.rows(o.test)
		if err != nil {
			return err
		}
		test = &s
	}
	o.config.Progress = func(epoch, epochs int, nll float64) {
		if epoch == epochs || epoch%max(1, epochs/5) == 0 {
			tell(cmd, "epoch %d of %d: %.4g nats per row", epoch, epochs, nll)
		}
	}
	load := func(options importer.Options) (*model.Model, error) {
		in := importFlags{o: options, layers: o.network.layers}
		return in.load(network)
	}
	r, err := bayes.Train(cmd.Context(), load, o.network.o, rows, test, o.config)
	if err != nil {
		return err
	}
	if err := saveTo(o.out, r.Net.Save); err != nil {
		return err
	}
	w := cmd.OutOrStdout()
	fmt.Fprintf(w, "%d rows of training, scores on %d other rows:\n\n", r.Trained, r.Held)
	printBayes(w, r, o.targets)
	_, err = fmt.Fprintf(w, "\nStored in %s.\n", o.out)
	return err
}

// rows reads a table, or two arrays.
func (o *bayesOptions) rows(from string) (data.Set, error) {
	pool := compute.NewPool(compute.Workers(0))
	defer pool.Close()
	x, err := o.table.open(from, pool)
	if err != nil {
		return data.Set{}, err
	}
	defer x.Close()
	if !o.arrays() {
		return bayes.FromTable(x, o.targets)
	}
	y, err := o.table.open(o.targets[0], pool)
	if err != nil {
		return data.Set{}, err
	}
	defer y.Close()
	return bayes.FromArrays(x, y)
}

// printBayes shows scores before and after, side by side.
func printBayes(w io.Writer, r *bayes.Result, targets []string) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	line := func(name string, before, after any) { fmt.Fprintf(t, "%s\t%v\t%v\t\n", name, before, after) }
	score := func(name string, before, after metric.Score) { line(name, before, after) }
	if b, a := r.ClassesBefore, r.ClassesAfter; b != nil {
		line("classes", "before", "after")
		score("accuracy", b.Accuracy, a.Accuracy)
		score("log-likelihood", b.LL, a.LL)
		score("Brier score", b.Brier, a.Brier)
		line("calibration error", short(b.ECE), short(a.ECE))
	}
	for i, b := range r.Before {
		a := r.After[i]
		name := "target"
		if len(targets) == len(r.Before) {
			name = tame(filepath.Base(targets[i]))
		}
		line(name, "before", "after")
		score("RMSE", b.RMSE, a.RMSE)
		score("log-likelihood", b.LL, a.LL)
		score("CRPS", b.CRPS, a.CRPS)
		for j, c := range b.Intervals {
			line(fmt.Sprintf("%.0f %% intervals cover", 100*c.Level), share(c.Coverage), share(a.Intervals[j].Coverage))
		}
		line("calibration error", short(b.CalibrationError), short(a.CalibrationError))
	}
	t.Flush()
}

func short(x float64) string { return fmt.Sprintf("%.3g", x) }
func share(x float64) string { return fmt.Sprintf("%.1f %%", 100*x) }
