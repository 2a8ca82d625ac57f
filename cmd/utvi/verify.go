package main

import (
	"fmt"
	"io"
	"runtime"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"utvi/fit"
	"utvi/gauss"
	"utvi/internal/compute"
	"utvi/internal/modelfile"
	"utvi/model"
	"utvi/predict"
	"utvi/rng"
)

// verifyRows is how many rows of a table are compared: thousands of networks are run on each.
const verifyRows = 256

const verifyHelp = `Draw whole networks from a saved model's posterior and run them all. Compare the mean
and the variance of every unit of every layer with the propagated ones. Errors of means
are in standard deviations, errors of standard deviations in percent. The inputs are
standard-normal, or the rows of a table (--data): for a model made by utvi fit, a table
with its columns; for another network, a table of numbers with one column for each
input.

The last lines compare the part of the outputs' standard deviation that comes from the
weights, without noise and with the inputs at their means. They show the ratio of
propagated to drawn, its median and 90 % range over rows, outputs and members, and
whether you can trust the error bars: yes if the median is within 5 % and nine of ten
outputs are between 0.85 and 1.15, roughly if the median is within 15 %, else no.`

const verifyExamples = `  utvi verify model.safetensors                      on standard-normal inputs
  utvi verify model.safetensors --data inputs.csv    on the rows of a table
  utvi verify price.utvi --data data.parquet         on rows of the table it was fitted to
  utvi verify model.safetensors --networks 100000    ten times as many networks`

// verifyOptions are what the flags of verify ask for.
type verifyOptions struct {
	config model.VerifyConfig
	table  tableFlags
	data   string // table of inputs; "": standard-normal ones
	rows   int
	asJSON bool
}

func verifyCommand() *cobra.Command {
	o := &verifyOptions{}
	cmd := &cobra.Command{
		Use:     "verify MODEL",
		Short:   "Compare a model's moments with the moments of networks drawn from it",
		Long:    verifyHelp,
		Example: verifyExamples,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 2 {
				return usagef("%s takes one model file; give the table with --data %s", cmd.CommandPath(), args[1])
			}
			return modelArg(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.check(cmd.Flags()); err != nil {
				return err
			}
			return o.run(cmd, args[0])
		},
	}
	o.flags(cmd.Flags())
	return cmd
}

func (o *verifyOptions) flags(f *pflag.FlagSet) {
	f.SortFlags = false
	f.StringVar(&o.data, "data", "", "table of inputs (CSV, TSV, Parquet, .npy, .npz, also .gz)")
	f.IntVar(&o.rows, "rows", 16, "number of rows of standard-normal inputs; with --data, the most rows to read (256 without this flag)")
	f.IntVar(&o.config.Networks, "networks", 10_000, "number of networks to draw")
	f.IntVar(&o.config.Order, "order", 0, "also compare with full covariances of this order (slow for wide layers)")
	f.Uint64Var(&o.config.Seed, "seed", 1, "seed of the draws")
	f.BoolVar(&o.asJSON, "json", false, "print JSON")
	o.table.flags(f)
}

func (o *verifyOptions) check(f *pflag.FlagSet) error {
	if err := within("networks", o.config.Networks, 2, 100_000_000); err != nil {
		return err
	}
	if err := within("rows", o.rows, 1, 1_000_000); err != nil {
		return err
	}
	if o.config.Order < 0 || o.config.Order > 32 {
		return usagef("--order is %d; it must be 1 to 32, or 0 to skip the comparison", o.config.Order)
	}
	if f.Changed("data") && o.data == "" {
		return usagef("--data is empty; name a file")
	}
	return nil
}

func (o *verifyOptions) run(cmd *cobra.Command, file string) error {
	e, err := loadToVerify(file)
	if err != nil {
		return err
	}
	x, err := o.inputs(cmd, e)
	if err != nil {
		return err
	}
	tell, done := lineProgress(cmd.ErrOrStderr())
	if tell != nil {
		o.config.Progress = func(i, total int) { tell(i, total, "networks drawn") }
	}
	all, err := e.Verify(cmd.Context(), x, o.config)
	done()
	if err != nil {
		return err
	}
	w := cmd.OutOrStdout()
	if o.asJSON {
		return writeJSON(w, all)
	}
	for k, v := range all.Members {
		if len(all.Members) > 1 {
			fmt.Fprintf(w, "member %d\n", k)
		}
		printVerification(w, v)
	}
	printRatio(w, &all.Ratio)
	return nil
}

// loadToVerify loads networks, and says what to do with those that need a user's function.
func loadToVerify(file string) (*model.Ensemble, error) {
	if err := modelfile.Check(file); err != nil {
		return nil, err
	}
	e, err := model.LoadEnsemble(file, paperMaps())
	if err == nil {
		return e, nil
	}
	if _, known := model.LoadEnsemble(file, paperMaps(), model.WithStandIns()); known == nil {
		err = fmt.Errorf("%w and verify it in Go with Verify: this command has only the named functions", err)
	}
	return nil, err
}

// inputs are the rows to compare on: drawn, or the first of a table.
func (o *verifyOptions) inputs(cmd *cobra.Command, e *model.Ensemble) (gauss.Batch[float32], error) {
	if o.data == "" {
		return randomInputs(o.rows, e.Inputs(), o.config.Seed), nil
	}
	chosen := cmd.Flags().Changed("rows")
	most := o.rows
	if !chosen {
		most = verifyRows
	}
	x, err := o.table.inputs(e, o.data, most+1)
	if err != nil || x.Rows <= most {
		return x, err
	}
	if !chosen {
		fmt.Fprintf(cmd.ErrOrStderr(), "The first %d rows are used; --rows sets how many.\n", most)
	}
	return x.Slice(0, most), nil
}

// inputs reads rows of a table as the networks see them, at most rows of them.
func (t *tableFlags) inputs(e *model.Ensemble, path string, rows int) (gauss.Batch[float32], error) {
	none := gauss.Batch[float32]{}
	m, err := predict.FromEnsemble(e)
	if err != nil {
		return none, err
	}
	pool := compute.NewPool(runtime.GOMAXPROCS(0))
	defer pool.Close()
	if m.Schema != nil {
		t.call(&fit.Model{Model: m})
	}
	r, err := t.open(path, pool)
	if err != nil {
		return none, err
	}
	defer r.Close()
	return m.ReadInputs(r, rows)
}

// randomInputs draws standard-normal inputs.
func randomInputs(rows, width int, seed uint64) gauss.Batch[float32] {
	x := make([]float32, rows*width)
	key := rng.New(seed).Sub(0, 3)
	for i := range x {
		x[i] = float32(rng.Normal(key, uint64(i)))
	}
	return gauss.Fixed(width, x)
}

func printVerification(w io.Writer, v *model.Verification) {
	fmt.Fprintf(w, "%d networks drawn, %d rows; chance alone gives errors of %.2g σ in means and %.2g %% in the outputs' σ\n\n",
		v.Networks, v.Rows, v.MeanError, 100*v.StdError)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "layer\toutput\tmean error: median\tworst\tat\tσ error: median\tworst\tat\tconstant\t")
	var independent []string
	for _, l := range v.Layers {
		name := l.Name
		if l.AssumesIndependence {
			independent = append(independent, name)
			name += " *"
		}
		if l.Compared == 0 {
			fmt.Fprintf(t, "%s\t%v\t\t\t\t\t\t\t%d\t\n", name, l.Shape, l.Constant)
			continue
		}
		fmt.Fprintf(t, "%s\t%v\t%.3f σ\t%+.3f σ\trow %d unit %d\t%.2f %%\t%+.2f %%\trow %d unit %d\t%d\t\n", name, l.Shape,
			l.Mean.Median, l.Mean.Worst, l.Mean.Row, l.Mean.Unit, 100*l.Std.Median, 100*l.Std.Worst, l.Std.Row, l.Std.Unit, l.Constant)
	}
	t.Flush()
	fmt.Fprintln(w, "\nThe last line is the network's output.")
	if len(independent) > 0 {
		fmt.Fprintf(w, "* these layers assume that the terms they add are independent: %s\n", strings.Join(independent, ", "))
	}
	fmt.Fprintln(w)
}

// printRatio says whether to trust the error bars.
func printRatio(w io.Writer, r *model.SigmaRatio) {
	fmt.Fprintf(w, "Standard deviation due to the weights: %s.\n", r)
	if c := r.Covariances; c != nil {
		fmt.Fprintf(w, "With full covariances of order %d: %.2f (90 %% of outputs: %.2f to %.2f).\n", c.Order, c.Median, c.P05, c.P95)
	}
	fmt.Fprintln(w, r.Sentence())
}
