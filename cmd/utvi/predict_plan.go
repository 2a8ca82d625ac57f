package main

import (
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"utvi/internal/fitkind"
	"utvi/internal/folder"
	"utvi/internal/pixels"
	"utvi/internal/sweep"
)

// arguments are a model's file and a table, or several tables for a plan.
func (o *predictOptions) arguments(cmd *cobra.Command, args []string) error {
	if o.plan == "" {
		if len(args) > 2 {
			return usagef("%s takes a model file and one table, not %d tables; --plan takes several", cmd.CommandPath(), len(args)-1)
		}
		return modelAndTable(cmd, args)
	}
	if len(args) < 2 {
		return usagef("%s --plan takes a model file and at least one table", cmd.CommandPath())
	}
	return nil
}

// checkPlan refuses what a plan cannot hold.
func (o *predictOptions) checkPlan(f *pflag.FlagSet) error {
	if o.plan == "" {
		if f.Changed("rows-per-trial") {
			return usagef("--rows-per-trial applies to a plan; give --plan as well")
		}
		return nil
	}
	if f.Changed("output") {
		return usagef("--output and --plan exclude each other; utvi sweep collect writes the predictions of a plan")
	}
	if f.Changed("device") {
		return usagef("--device and --plan exclude each other; utvi sweep run and utvi sweep trial take --device")
	}
	return givenAtLeast(1, f, "rows-per-trial")
}

// writePlan writes a plan whose trials predict rows of the tables.
func (o *predictOptions) writePlan(cmd *cobra.Command, model string, tables []string) error {
	m, err := loadTableModel(model)
	if err != nil {
		return err
	}
	if _, err := o.predictor(cmd, m, model); err != nil {
		return err
	}
	p := fitkind.Prediction{Strict: o.strict, Options: o.what, Output: o.form}
	p.Model, err = filepath.Abs(model)
	if err != nil {
		return err
	}
	if err := o.reading(&p); err != nil {
		return err
	}
	paths := make([]string, len(tables))
	for i, t := range tables {
		if t == "-" || folder.Is(t) || pixels.IsImage(t) || folder.IsArray(t) {
			return usagef("%s cannot be part of a plan; --plan takes files of tables", t)
		}
		paths[i], err = filepath.Abs(t)
		if err != nil {
			return err
		}
	}
	trials, err := fitkind.Predictions(p, paths, o.most)
	if err != nil {
		return err
	}
	plan, err := sweep.NewPlan("predict", trials...)
	if err != nil {
		return err
	}
	return savePlan(cmd, o.plan, plan)
}

// reading notes how the tables are to be read.
func (o *predictOptions) reading(p *fitkind.Prediction) error {
	r, err := o.table.options(nil)
	if err != nil {
		return err
	}
	p.Header = r.Header
	p.Encoding = r.Encoding
	text := func(c byte) string {
		if c == 0 {
			return ""
		}
		return string(rune(c))
	}
	p.Delimiter = text(r.Delimiter)
	p.Decimal = text(r.Decimal)
	return nil
}

// joinPredictions puts the predictions of a plan together, table by table.
func joinPredictions(cmd *cobra.Command, dir, to string, s *sweep.Summary) error {
	joined, left, err := fitkind.Join(dir, to, s.All)
	for _, j := range joined {
		tell(cmd, "%s: the predictions of %s", j.File, plural(j.Rows, "row", "rows"))
		if j.Unread > 0 {
			tell(cmd, "warning: %s a cell that cannot be read and %s not predicted; the first: %s", haveRows(j.Unread, j.Rows), isAre(j.Unread), j.FirstUnread)
		}
		if j.NotFinite > 0 {
			tell(cmd, "warning: %s a prediction that is not finite, far outside the training data; the cells are empty", haveRows(j.NotFinite, j.Rows))
		}
	}
	if err != nil {
		return err
	}
	if left > 0 {
		tell(cmd, "the predictions of %s are not written: trials are not done", plural(left, "table", "tables"))
	}
	return nil
}
