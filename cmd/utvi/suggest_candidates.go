package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"utvi/fit"
	"utvi/suggest"
	"utvi/table"
)

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
