package main

import (
	"io"
	"os"
	"os/signal"

	"github.com/spf13/cobra"

	"utvi/fit"
	"utvi/internal/delimited"
	"utvi/suggest"
)

const suggestHelp = `Say which rows to measure next. Candidates are the rows of a table, or are drawn from ranges of
columns: --range and --levels limit them, columns that are not named have the range that the
training rows showed.

  --goal learn      to know the target everywhere among the candidates: a row is worth what its
                    measurement takes of the doubt about all of them
  --goal min, max   to find a small or a large target: expected improvement on the best known
  --goal target=40  to find a target near 40

The rows of a batch (--count) do not repeat themselves: each is chosen as if those before it were
measured already, by networks drawn from the model, which say what goes together. Gains are divided
by costs (--cost) and multiplied by the probability that a row meets the requirements on targets
(--require). Candidates that have a value of the target are measured already and left out.

The table that is written has the columns of the candidates, what is predicted, the gain, the cost
and why. Gains are in the unit of the target; of learn, they are shares of the variance of all
candidates.`

const suggestExamples = `  utvi suggest strength.utvi candidates.csv --count 5
  utvi suggest strength.utvi --range temperature=100:220 --levels resin --goal max --count 4
  utvi suggest strength.utvi --goal target=40 --cost minutes=0.1 --limit minutes=:30
  utvi suggest two.utvi --goal max --target strength --require 'price<10' --sure 0.8`

// suggestOptions are what the flags of suggest ask for.
type suggestOptions struct {
	table   tableFlags
	config  suggest.Config
	goal    string
	ranges  []string
	levels  []string
	limits  []string
	costs   []string
	require []string
	out     string

	prices map[string]float64
	bounds map[string][2]float64
}

func suggestCommand() *cobra.Command {
	o := &suggestOptions{}
	cmd := &cobra.Command{
		Use:     "suggest MODEL [CANDIDATES]",
		Short:   "Say which rows to measure next",
		Long:    suggestHelp,
		Example: suggestExamples,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) < 1 || len(args) > 2 {
				return usagef("%s takes a model file and perhaps a table of candidates, not %s", cmd.CommandPath(), plural(len(args), "argument", "arguments"))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.check(args); err != nil {
				return err
			}
			return o.run(cmd, args)
		},
	}
	o.flags(cmd.Flags())
	return cmd
}

func (o *suggestOptions) run(cmd *cobra.Command, args []string) error {
	m, err := loadTableModel(args[0])
	if err != nil {
		return err
	}
	if err := o.config.Check(m.Model); err != nil {
		return misuse(err)
	}
	ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt)
	defer stop()
	cmd.SetContext(ctx)
	tellCalibration(cmd, m)
	var head []string
	var cells func(row int) []string
	var picked []suggest.Suggestion
	if len(args) == 2 {
		head, cells, picked, err = o.fromTable(cmd, m, args[1])
	} else {
		head, cells, picked, err = o.fromRanges(cmd, m)
	}
	if err != nil {
		return err
	}
	if n := len(picked); n < o.config.Count {
		tell(cmd, "note: only %s can be suggested", plural(n, "row", "rows"))
	}
	return writeOut(cmd, o.out, func(w io.Writer) error { return o.write(w, m, head, cells, picked) })
}

// write writes the suggested rows as a table.
func (o *suggestOptions) write(w io.Writer, m *fit.Model, head []string, cells func(int) []string, picked []suggest.Suggestion) error {
	target := o.config.Target
	if target == "" {
		target = m.Targets()[0]
	}
	lines := &delimited.Lines{Digits: 5}
	for _, name := range head {
		lines.Text(name)
	}
	more := []string{target + "_mean", target + "_std", target + "_doubt", "gain"}
	if m.Classes() != nil {
		more = []string{"gain"}
	}
	if len(o.prices) > 0 {
		more = append(more, "cost")
	}
	if len(o.config.Require) > 0 {
		more = append(more, "fulfils")
	}
	for _, name := range append(more, "why") {
		lines.Text(name)
	}
	lines.End()
	for _, x := range picked {
		for _, c := range cells(x.Row) {
			lines.Text(c)
		}
		if m.Classes() == nil {
			lines.Float(x.Mean)
			lines.Float(x.Std)
			lines.Float(x.Doubt)
		}
		lines.Float(x.Gain)
		if len(o.prices) > 0 {
			lines.Float(x.Cost)
		}
		if len(o.config.Require) > 0 {
			lines.Float(x.Fulfils)
		}
		lines.Text(x.Why)
		lines.End()
	}
	return lines.Flush(w)
}
