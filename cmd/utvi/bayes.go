package main

import (
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"utvi/bayes"
	"utvi/data"
	"utvi/fit"
	"utvi/internal/compute"
	"utvi/internal/folder"
	"utvi/metric"
	"utvi/model"
)

const bayesHelp = `Turn a network that was trained elsewhere into a Bayesian one. The weights become
Normals around the trained values, with priors centred on them; a few epochs on your rows
find out how sure the data make each weight, and how large the noise is. Scores before
and after are those of --test, rows that the network has never seen, or else of a share of
the rows that these epochs did not use.

A result that scores worse on these rows than the trained network, with the error bars or
the temperature that suit these very rows best, is not stored, unless --even-if-worse says
so. Rows that the network was trained with flatter it: name others by --test.

--data is a table of numbers and --target the names of its target columns; all other
columns are the inputs, in their order. Or both are arrays (.npy), rows by columns, and so
are --test and --test-target. Rows of images are height × width × channels. Classes are numbers
from 0. A network with several outputs and one target predicts classes.

IMAGES, or --data, may also be a folder of images with a subfolder for each class, in the order of their
names; if these lie in train and test, test is only scored. Or it is an array of three axes or more, or a table
with --image. They are resized to what the network takes. The model then predicts images.

--last 1 gives error bars to the weights of the last layer only, which takes seconds for
any network; the layers before keep their numbers. Normalisations by fixed statistics
become part of the layers beside them.`

const bayesExamples = `  utvi bayes net.onnx --data rows.csv --target y --test new.csv -o net.safetensors
  utvi bayes net.onnx --data x.npy --target y.npy --test new-x.npy --test-target new-y.npy
  utvi bayes net.onnx --data rows.csv --target y --test new.csv --last 1
  utvi bayes net.onnx photos/ --normalise imagenet --last 1
  utvi bayes state.safetensors --layers layers.json --data rows.csv --target y -o net.safetensors`

// bayesOptions are what the flags of bayes ask for.
type bayesOptions struct {
	network importFlags
	table   tableFlags
	config  bayes.Config
	data    string // a table, or the array of inputs
	targets []string
	test    string // rows that are only scored, a table or the array of inputs; "": a share of the rows
	wanted  string // their targets, if they are arrays
	worse   bool   // store a result that scores worse
	out     string
	columns []string // of the table
	images  bayesImages
}

func bayesCommand() *cobra.Command {
	o := &bayesOptions{}
	cmd := &cobra.Command{
		Use:     "bayes NETWORK [IMAGES]",
		Short:   "Give a trained network error bars: a few epochs around its weights",
		Long:    bayesHelp,
		Example: bayesExamples,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 2 && o.data == "" {
				o.data = args[1]
				args = args[:1]
			}
			return networkArg(cmd, args)
		},
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
	f.StringSliceVar(&o.targets, "target", nil, "the target `column`, or several, or the array of targets")
	f.StringVar(&o.test, "test", "", "rows that are only scored: a table, or the array of inputs")
	f.StringVar(&o.wanted, "test-target", "", "the array of their targets")
	f.StringVarP(&o.out, "out", "o", "", "the file to write (default: the network's name with -bayes.safetensors)")
	f.IntVar(&o.config.Epochs, "epochs", 60, "passes over the rows")
	f.IntVar(&o.config.Batch, "batch", 32, "rows in a step")
	f.Float64Var(&o.config.Rate, "rate", 0.01, "learning rate at the start; it falls to 0")
	f.Float64Var(&o.config.Held, "held-out", 0.2, "share of the rows that is only scored")
	f.Uint64Var(&o.config.Seed, "seed", 0, "seed of the order of the rows")
	f.IntVar(&o.config.Last, "last", 0, "give error bars to this many of the last layers with weights only (default all)")
	f.BoolVar(&o.worse, "even-if-worse", false, "store a result that scores worse than the trained network, too")
	o.network.flags(f)
	o.images.flags(f)
	o.table.flags(f)
	o.table.arrayFlags(f, false)
}

func (o *bayesOptions) check(network string) error {
	if o.data == "" || len(o.targets) == 0 && !folder.Is(o.data) {
		return usagef("--data and --target are needed")
	}
	c := o.config
	if c.Epochs == 0 || c.Batch == 0 || c.Rate == 0 || c.Held == 0 { // which stand for defaults in Go
		return usagef("--epochs, --batch, --rate and --held-out must be above 0")
	}
	if err := c.Check(); err != nil {
		return misuse(err)
	}
	switch {
	case folder.Is(o.data) && len(o.targets) > 0:
		return usagef("%s is a folder, whose subfolders are the classes; --target is for tables and arrays", o.data)
	case o.test != "" && o.arrays() && o.wanted == "":
		return usagef("--test-target is needed: --target is an array, so the targets of --test are an array, too")
	case o.wanted != "" && (o.test == "" || !o.arrays()):
		return usagef("--test-target is for arrays: --data, --target, --test and --test-target together")
	}
	if o.out == "" {
		o.out = strings.TrimSuffix(network, filepath.Ext(network)) + "-bayes.safetensors"
	}
	if err := spare(o.out, network, o.data, o.test, o.wanted, o.network.layers); err != nil {
		return err
	}
	return ready(o.out)
}

// arrays reports whether inputs and targets are arrays, not columns of a table.
func (o *bayesOptions) arrays() bool {
	return len(o.targets) == 1 && strings.HasSuffix(o.targets[0], ".npy")
}

func (o *bayesOptions) run(cmd *cobra.Command, network string) error {
	if o.pictures() {
		return o.runImages(cmd, network)
	}
	rows, err := o.rows(o.data, o.targets[0])
	if err != nil {
		return err
	}
	var test *data.Set
	if o.test != "" {
		s, err := o.rows(o.test, o.wanted)
		if err != nil {
			return err
		}
		test = &s
	}
	trained, err := o.load(network)
	if err != nil {
		return err
	}
	return o.train(cmd, trained, rows, test)
}

// load loads the network; what it is to become is among the settings.
func (o *bayesOptions) load(network string) (*model.Model, error) {
	o.config.Scale = o.network.o.Scale
	o.config.Correlated = o.network.o.Correlated
	o.network.o.Correlated = false
	return o.network.load(network)
}

// train makes the network Bayesian.
func (o *bayesOptions) train(cmd *cobra.Command, trained *model.Model, rows data.Set, test *data.Set) error {
	progress, done := stepProgress(cmd)
	o.config.Progress = progress
	r, err := bayes.Train(cmd.Context(), trained, rows, test, o.config)
	done()
	if err != nil {
		return err
	}
	return o.finish(cmd, r, rows)
}

// finish prints the scores, and stores a network that they speak for.
func (o *bayesOptions) finish(cmd *cobra.Command, r *bayes.Result, rows data.Set) error {
	w := cmd.OutOrStdout()
	fmt.Fprintf(w, "%d rows of training, scores on %d other rows:\n\n", r.Trained, r.Held)
	printBayes(w, r, o.targets)
	if n := r.Net.Outputs(); !r.Correlated && n > 1 {
		tell(cmd, "note: correlations between units are left out, because those of %d outputs make a step several times slower; --correlated carries them", n)
	}
	if r.Worse() && !o.worse {
		advice := ""
		if o.test == "" {
			advice = "; if the network was trained with these rows, name rows that it has never seen by --test"
		}
		return fmt.Errorf("%s is not stored: on the %d held-out rows the log-likelihood is %v a row below that of the trained network at its best; --even-if-worse stores it all the same%s",
			o.out, r.Held, metric.Score{Value: -r.Gain.Value, SE: r.Gain.SE}, advice)
	}
	r.Net.Facts.More = maps.Clone(r.Net.Facts.More)
	r.Net.Facts.More["scale of the priors"] = fmt.Sprint(o.config.Scale)
	save, err := o.storing(r, rows)
	if err != nil {
		return err
	}
	if err := saveTo(o.out, save); err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "\nStored in %s.\n", o.out)
	return err
}

// storing writes the network with the columns of its table, so that predict and eval know them; of
// very wide rows, as images are, the network alone.
func (o *bayesOptions) storing(r *bayes.Result, rows data.Set) (func(path string) error, error) {
	if o.images.schema != nil {
		t := fit.NetworkTable{Schema: o.images.schema, Classes: len(o.images.schema.Classes())}
		return o.saving(r, rows, t)
	}
	if rows.X.Width > fit.MostColumns {
		return r.Net.Save, nil
	}
	t := fit.NetworkTable{Columns: o.columns, Targets: o.targets, Named: !o.arrays()}
	if o.arrays() {
		t.Columns, t.Targets = nil, nil
		for i := range rows.X.Width {
			t.Columns = append(t.Columns, fmt.Sprintf("c%d", i+1))
		}
		for i := range rows.Targets {
			t.Targets = append(t.Targets, fmt.Sprintf("y%d", i+1))
		}
		t.Columns = append(t.Columns, t.Targets...)
	}
	if r.ClassesAfter != nil {
		t.Classes = r.Net.Outputs()
	}
	return o.saving(r, rows, t)
}

func (o *bayesOptions) saving(r *bayes.Result, rows data.Set, t fit.NetworkTable) (func(path string) error, error) {
	m, err := fit.OfNetwork(r.Net, rows, t)
	if err != nil {
		return nil, err
	}
	return m.Save, nil
}

// rows reads a table, or two arrays.
func (o *bayesOptions) rows(from, targets string) (data.Set, error) {
	pool := compute.NewPool(compute.Workers(0))
	defer pool.Close()
	x, err := o.table.open(from, pool)
	if err != nil {
		return data.Set{}, err
	}
	defer x.Close()
	if !o.arrays() {
		if o.columns == nil {
			o.columns = x.Header().Columns
		}
		return bayes.FromTable(x, o.targets)
	}
	y, err := o.table.open(targets, pool)
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
