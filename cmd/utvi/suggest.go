package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"utvi/fit"
	"utvi/internal/delimited"
	"utvi/suggest"
	"utvi/table"
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

func (o *suggestOptions) flags(f *pflag.FlagSet) {
	f.SortFlags = false
	f.StringVar(&o.goal, "goal", "learn", "<learn>, <min>, <max> or target=40, say")
	f.StringVar(&o.config.Target, "target", "", "`column` that is measured (default the first target; learn: all)")
	f.IntVar(&o.config.Count, "count", 1, "number of rows to suggest")
	f.StringArrayVar(&o.ranges, "range", nil, "range of a column that candidates are drawn from, as `column=from:to`; may be given several times")
	f.StringArrayVar(&o.levels, "levels", nil, "levels that candidates are drawn from, as `column` for all or column=a,b; may be given several times")
	f.StringArrayVar(&o.limits, "limit", nil, "what a column of a candidate must lie between, as `column=from:to`; either end may be left out")
	f.StringArrayVar(&o.costs, "cost", nil, "what a row costs, as `column=price` of a unit, or a column that holds it; several add up (default 1)")
	f.StringArrayVar(&o.require, "require", nil, "what a target must be, as `'column>number'` or 'column<number'; may be given several times")
	f.Float64Var(&o.config.Sure, "sure", 0, "least probability that a row meets all requirements")
	f.Float64Var(&o.config.Best, "best", math.NaN(), "best value that is known (default the best that is predicted of the rows that the model remembers)")
	f.Lookup("best").DefValue = "0" // is not shown
	f.IntVar(&o.config.Draws, "draws", 256, "number of networks to draw")
	f.Uint64Var(&o.config.Seed, "seed", 1, "seed of the candidates that are drawn")
	f.StringVarP(&o.out, "output", "o", "", "file to write (default the standard output)")
	o.table.flags(f)
}

func (o *suggestOptions) check(args []string) error {
	o.config.Goal = suggest.Goal(o.goal)
	if at, ok := strings.CutPrefix(o.goal, "target="); ok {
		v, err := strconv.ParseFloat(at, 64)
		if err != nil {
			return usagef("--goal target=%s: the target is not a number", at)
		}
		o.config.Goal, o.config.At = suggest.Near, v
	} else if !slices.Contains([]string{"learn", "min", "max"}, o.goal) {
		return usagef("--goal is %q; choose learn, min, max or target=NUMBER", o.goal)
	}
	if len(args) == 2 && len(o.ranges)+len(o.levels) > 0 {
		return usagef("--range and --levels draw candidates, and %s holds candidates; give only one of them (--limit leaves some out)", args[1])
	}
	o.prices = map[string]float64{}
	for _, text := range o.costs {
		name, price, given := strings.Cut(text, "=")
		v := 1.0
		if given {
			var err error
			v, err = strconv.ParseFloat(price, 64)
			if err != nil || !(v > 0) || math.IsInf(v, 0) {
				return usagef("--cost %s: the price must be a number above 0", text)
			}
		}
		o.prices[name] = v
	}
	var err error
	o.bounds, err = boundsOf("limit", o.limits)
	if err != nil {
		return err
	}
	for _, text := range o.require {
		at := strings.IndexAny(text, "<>")
		if at < 1 {
			return usagef("--require %s: write 'column>number' or 'column<number'", text)
		}
		v, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimPrefix(text[at+1:], "=")), 64)
		if err != nil {
			return usagef("--require %s: what stands behind %c is not a number", text, text[at])
		}
		o.config.Require = append(o.config.Require, suggest.Requirement{Target: strings.TrimSpace(text[:at]), Above: text[at] == '>', At: v})
	}
	if o.out != "" {
		return spare(o.out, args...)
	}
	return nil
}

// boundsOf reads flags such as column=1:2, of which either end may be left out.
func boundsOf(flag string, all []string) (map[string][2]float64, error) {
	out := map[string][2]float64{}
	for _, text := range all {
		name, ends, ok := strings.Cut(text, "=")
		from, to, both := strings.Cut(ends, ":")
		if !ok || !both {
			return nil, usagef("--%s %s: write column=from:to", flag, text)
		}
		b := [2]float64{math.Inf(-1), math.Inf(1)}
		for i, end := range []string{from, to} {
			if end == "" {
				continue
			}
			v, err := strconv.ParseFloat(end, 64)
			if err != nil {
				return nil, usagef("--%s %s: %q is not a number", flag, text, end)
			}
			b[i] = v
		}
		if !(b[0] <= b[1]) {
			return nil, usagef("--%s %s: %g is larger than %g", flag, text, b[0], b[1])
		}
		out[name] = b
	}
	return out, nil
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

// fromRanges picks among candidates that are drawn.
func (o *suggestOptions) fromRanges(cmd *cobra.Command, m *fit.Model) (head []string, cells func(int) []string, picked []suggest.Suggestion, err error) {
	l := suggest.Limits{Levels: map[string][]string{}}
	l.Range, err = boundsOf("range", o.ranges)
	if err != nil {
		return nil, nil, nil, err
	}
	for _, text := range o.levels {
		name, list, given := strings.Cut(text, "=")
		l.Levels[name] = nil
		if !given {
			continue
		}
		l.Levels[name], err = csv.NewReader(strings.NewReader(list)).Read()
		if err != nil {
			return nil, nil, nil, usagef("--levels %s: write column=a,b, and a level that has a comma in quotes", text)
		}
	}
	s, err := suggest.NewSpace(m.Model, l)
	if err != nil {
		return nil, nil, nil, err
	}
	index := map[string]int{}
	for i := range s.Axes {
		a := &s.Axes[i]
		head = append(head, a.Name)
		index[a.Name] = i
		b, limited := o.bounds[a.Name]
		if !limited {
			continue
		}
		if a.Levels != nil {
			return nil, nil, nil, usagef("--limit %s: the column holds categories; --levels names those to draw", a.Name)
		}
		was := *a
		a.Low, a.High = max(a.Low, b[0]), min(a.High, b[1])
		if a.Low > a.High {
			return nil, nil, nil, fmt.Errorf("--limit of %s leaves nothing of the range %g to %g", a.Name, was.Low, was.High)
		}
	}
	for _, names := range [][]string{keys(o.bounds), keys(o.prices)} {
		for _, name := range names {
			if i, known := index[name]; !known || s.Axes[i].Levels != nil {
				return nil, nil, nil, usagef("the candidates have no column of numbers %s; they have %s", name, strings.Join(head, ", "))
			}
		}
	}
	var costs func(suggest.Point) float64
	if len(o.prices) > 0 {
		costs = func(p suggest.Point) (sum float64) {
			for _, name := range keys(o.prices) {
				sum += o.prices[name] * p[index[name]]
			}
			return sum
		}
	}
	points, picked, err := s.Pick(cmd.Context(), costs, o.config)
	return head, func(row int) []string { return s.Cells(points[row]) }, picked, err
}

// keys are the keys of a map in order.
func keys[V any](m map[string]V) (all []string) {
	for k := range m {
		all = append(all, k)
	}
	slices.Sort(all)
	return all
}

// fromTable picks among the rows of a table that have not been measured and are within the limits.
func (o *suggestOptions) fromTable(cmd *cobra.Command, m *fit.Model, file string) (head []string, cells func(int) []string, picked []suggest.Suggestion, err error) {
	none := func(err error) ([]string, func(int) []string, []suggest.Suggestion, error) { return nil, nil, nil, err }
	reading, err := o.table.options(nil)
	if err != nil {
		return none(err)
	}
	f, err := fit.ReadTable(file, reading)
	if err != nil {
		return none(err)
	}
	h := f.Header()
	for _, name := range append(keys(o.bounds), keys(o.prices)...) {
		if h.Column(name) < 0 {
			return none(usagef("%s has no column %s; it has %s", file, name, strings.Join(h.Columns, ", ")))
		}
	}
	open, measured, err := o.open(m, f)
	if err != nil {
		return none(err)
	}
	switch {
	case len(open) == 0 && measured == f.Len():
		return none(fmt.Errorf("%s is exhausted: all of its %s a value of the target already", file, plural(measured, "row has", "rows have")))
	case len(open) == 0:
		return none(fmt.Errorf("%s: no row is within the limits; %d rows were looked at", file, f.Len()))
	case measured > 0:
		tell(cmd, "note: %s a value of the target already and left out", haveRows(measured, f.Len()))
	}
	x, err := m.ReadInputs(f.Rows(open), 0)
	if err != nil {
		return none(err)
	}
	costs, err := o.costsOf(f, open)
	if err != nil {
		return none(err)
	}
	picked, err = suggest.Rows(cmd.Context(), m.Model, x, costs, o.config)
	if err != nil {
		return none(fmt.Errorf("%s: %w", file, err))
	}
	return h.Columns, func(row int) (all []string) {
		c, at := f.At(open[row])
		for col := range h.Columns {
			all = append(all, c.Written(at, col))
		}
		return all
	}, picked, nil
}

// open are the rows that have no target and are within the limits.
func (o *suggestOptions) open(m *fit.Model, f *table.Frame) (open []int, measured int, err error) {
	e, err := m.Schema.Bind(f.Header())
	if err != nil {
		return nil, 0, err
	}
	for i := range f.Len() {
		c, row := f.At(i)
		if e.HasTargets() && e.Complete(c, row) {
			measured++
			continue
		}
		inside := true
		for name, b := range o.bounds {
			k, v := c.Cell(row, f.Header().Column(name))
			inside = inside && k == table.Number && v >= b[0] && v <= b[1]
		}
		if inside {
			open = append(open, i)
		}
	}
	return open, measured, nil
}

// costsOf are the costs of rows, nil without prices.
func (o *suggestOptions) costsOf(f *table.Frame, rows []int) ([]float64, error) {
	if len(o.prices) == 0 {
		return nil, nil
	}
	costs := make([]float64, len(rows))
	for i, r := range rows {
		c, row := f.At(r)
		for _, name := range keys(o.prices) {
			k, v := c.Cell(row, f.Header().Column(name))
			if k != table.Number {
				return nil, errors.New(c.Where(row) + ", column " + name + ": a cost must be a number")
			}
			costs[i] += o.prices[name] * v
		}
		if !(costs[i] > 0) {
			return nil, fmt.Errorf("%s: the row costs %g; a cost must be above 0", c.Where(row), costs[i])
		}
	}
	return costs, nil
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
