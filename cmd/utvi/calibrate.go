package main

import (
	"cmp"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"utvi/fit"
	"utvi/internal/compute"
	"utvi/table"
)

const calibrateHelp = `Correct a model's predictions with rows that it was not trained on, and store the
correction in the model file. predict applies the correction and says so.

  scale        multiplies every standard deviation by one number
  isotonic     corrects the shape of the distributions; needs hundreds of rows
  conformal    gives intervals with guaranteed coverage for rows like these, however
               good the model is; symmetric about the mean
  asymmetric   gives conformal intervals with each side fitted separately: at most
               half of the misses fall on either side; needs twice as many rows
  temperature  sharpens or flattens the probabilities of classes

For classes, conformal gives sets that hold the true class with guaranteed probability.

The default is scale and conformal for numbers, temperature for classes. The scores
under "after" are fair: each half of the rows is corrected by the other half. A
correction that makes these scores worse is left out, and a note says so. The file is
replaced as a whole, or not at all; --output leaves it and writes another.`

const calibrateExamples = `  utvi calibrate price.utvi held-out.csv
  utvi calibrate price.utvi held-out.csv --method scale,isotonic,conformal
  utvi calibrate price.utvi --remove`

// calibrateOptions are what the flags of calibrate ask for.
type calibrateOptions struct {
	table   tableFlags
	methods []string
	remove  bool
	out     string
}

// stored is the file that the corrected model goes to.
func (o *calibrateOptions) stored(model string) string { return cmp.Or(o.out, model) }

func calibrateCommand() *cobra.Command {
	o := &calibrateOptions{}
	cmd := &cobra.Command{
		Use:     "calibrate MODEL TABLE",
		Short:   "Correct a model's error bars with rows that it was not trained on",
		Long:    calibrateHelp,
		Example: calibrateExamples,
		Args: func(cmd *cobra.Command, args []string) error {
			if o.remove {
				return modelArg(cmd, args)
			}
			return modelAndTable(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := spare(o.out, args[1:]...); err != nil {
				return err
			}
			m, err := loadTableModel(args[0])
			if p, failed := pixelModel(args[0], err); failed != nil {
				return failed
			} else if p != nil && !o.remove {
				return o.pixels(cmd, p, args[0], args[1])
			}
			if err != nil {
				return err
			}
			if o.remove {
				return o.uncalibrate(cmd, m, args[0])
			}
			return o.run(cmd, m, args[0], args[1])
		},
	}
	o.flags(cmd.Flags())
	return cmd
}

func (o *calibrateOptions) flags(f *pflag.FlagSet) {
	f.SortFlags = false
	f.StringSliceVar(&o.methods, "method", nil, "<scale>, <isotonic>, <conformal> or <asymmetric>; <temperature> or conformal for classes (default scale,conformal)")
	f.BoolVar(&o.remove, "remove", false, "remove the correction from the model")
	f.StringVarP(&o.out, "output", "o", "", "file for the corrected model (default MODEL itself)")
	o.table.flags(f)
	o.table.arrayFlags(f, true)
}

func (o *calibrateOptions) run(cmd *cobra.Command, m *fit.Model, file, rows string) error {
	methods, err := o.chosen(cmd.Flags(), m)
	if err != nil {
		return err
	}
	if err := o.table.checkArray(); err != nil {
		return err
	}
	o.table.call(m)
	var c *fit.Correction
	err = o.table.stream(rows, cmd.ErrOrStderr(), func(rows table.Source, pool *compute.Pool) error {
		var err error
		c, err = m.Calibrate(cmd.Context(), rows, methods, pool)
		return err
	})
	if err != nil {
		return err
	}
	file = o.stored(file)
	if err := saveTo(file, m.Save); err != nil {
		return err
	}
	tellCorrection(cmd, m, c)
	w := cmd.OutOrStdout()
	printCorrection(w, c)
	if m.Calibration == nil {
		_, err = fmt.Fprintf(w, "\nNo correction makes the predictions better; %s is not calibrated.\n", file)
		return err
	}
	_, err = fmt.Fprintf(w, "\n%s\nStored in %s.\n", m.CalibrationText(), file)
	return err
}

// chosen are the methods that the flag names, or the usual ones of the model's task.
func (o *calibrateOptions) chosen(f *pflag.FlagSet, m *fit.Model) ([]fit.Method, error) {
	if !f.Changed("method") {
		return m.DefaultMethods(), nil
	}
	var methods []fit.Method
	for _, x := range o.methods {
		methods = append(methods, fit.Method(x))
	}
	return methods, misuse(m.CheckMethods(methods))
}

// tellCorrection notes what to know of the rows and of the correction.
func tellCorrection(cmd *cobra.Command, m *fit.Model, c *fit.Correction) {
	if c.Used < c.Rows {
		tell(cmd, "%d of %d rows were used, evenly spaced", c.Used, c.Rows)
	}
	for _, note := range append(c.Notes, c.Dropped...) {
		tell(cmd, "note: %s", note)
	}
	if c.Seen {
		tell(cmd, "warning: the model was trained with about %.0f %% of these rows; error bars calibrated on them are too narrow for new rows", 100*c.Trained)
	}
	for _, note := range m.Shortfalls() {
		tell(cmd, "%s", note)
	}
}

func (o *calibrateOptions) uncalibrate(cmd *cobra.Command, m *fit.Model, path string) error {
	if m.Calibration == nil {
		_, err := fmt.Fprintf(cmd.OutOrStdout(), "%s is not calibrated.\n", path)
		return err
	}
	if err := m.Uncalibrate(); err != nil {
		return err
	}
	path = o.stored(path)
	if err := saveTo(path, m.Save); err != nil {
		return err
	}
	_, err := fmt.Fprintf(cmd.OutOrStdout(), "Calibration removed from %s.\n", path)
	return err
}

// printCorrection shows scores before and after, side by side.
func printCorrection(w io.Writer, c *fit.Correction) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	for i, before := range c.Before {
		var after *fit.Scores
		if len(c.After) == len(c.Before) {
			after = &c.After[i]
		}
		head := tame(before.Target)
		fmt.Fprintf(t, "%s\tbefore\tafter\t\n", head)
		for _, x := range before.List() {
			fmt.Fprintf(t, "%s\t%s\t", x.Name, x.Text)
			if after == nil {
				fmt.Fprint(t, "too few rows\t\n")
				continue
			}
			for _, y := range after.List() {
				if y.Name == x.Name {
					fmt.Fprintf(t, "%s\t\n", y.Text)
				}
			}
		}
	}
	t.Flush()
}
