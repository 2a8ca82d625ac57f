package fit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"

	"utvi/dist"
	"utvi/internal/compute"
	"utvi/table"
)

// Output says what to write of predictions. The zero value writes CSV with 90 %
// intervals, marks nothing and tells no budget.
type Output struct {
	Format   Format
	Interval float64  // level of the intervals; 0: 0.9
	Budget   bool     // parts of the variance
	Keep     []string // columns of the table to repeat in front

	// Rows are marked to be left to a person if a standard deviation is larger, the
	// most probable class less probable, or the row less familiar. 0: no bound.
	MaxStd, MinProbability, MaxOOD float64
}

// Check reports what the model or the table cannot serve.
func (o Output) Check(m *Model) error {
	if err := o.Format.check(); err != nil {
		return err
	}
	classes := m.Schema.Task == table.Classification
	switch {
	case !(o.level() > 0 && o.level() < 1):
		return fmt.Errorf("the level of the intervals is %g; it must lie between 0 and 1", o.Interval)
	case o.MaxStd < 0 || math.IsNaN(o.MaxStd):
		return fmt.Errorf("the largest standard deviation is %g; it must be > 0", o.MaxStd)
	case o.MaxOOD < 0 || math.IsNaN(o.MaxOOD):
		return fmt.Errorf("the largest score of unfamiliarity is %g; it must be > 0", o.MaxOOD)
	case !(o.MinProbability >= 0 && o.MinProbability <= 1):
		return fmt.Errorf("the least probability is %g; it must lie between 0 and 1", o.MinProbability)
	case classes && o.MaxStd > 0:
		return errors.New("the model predicts classes, which have no standard deviation; bound the probability instead (--min-prob)")
	case !classes && o.MinProbability > 0:
		return errors.New("the model predicts numbers, which have no probability; bound the standard deviation instead (--max-std)")
	}
	for i := range m.Calibration {
		if c := m.Calibration[i].Conformal; c != nil {
			if err := c.Enough(o.level()); err != nil {
				return err
			}
		}
	}
	return nil
}

func (o Output) level() float64 {
	if o.Interval == 0 {
		return 0.9
	}
	return o.Interval
}

func (o Output) marks() bool { return o.MaxStd > 0 || o.MinProbability > 0 || o.MaxOOD > 0 }

// Summary is what a prediction of many rows came to.
type Summary struct {
	Rows, Abstained int
}

// Predict writes a line for every row of a table, in their order. Rows stream: memory
// does not depend on their number.
func (m *Model) Predict(ctx context.Context, rows table.Source, w io.Writer, o Output, pool *compute.Pool) (Summary, error) {
	var sum Summary
	if err := o.Check(m); err != nil {
		return sum, err
	}
	enc, err := m.bind(rows, false)
	if err != nil {
		return sum, err
	}
	p := &printer{Output: o, m: m, half: m.halfWidths(o.level())}
	if p.keep, err = positions(rows.Header(), o.Keep); err != nil {
		return sum, err
	}
	p.columns = p.names()
	lanes := m.lanes(enc, pool.Workers())
	err = stream(ctx, rows, pool, func(worker int, c *table.Chunk) (*printed, error) {
		out := &printed{lines: o.Format.newLines(p.columns)}
		return out, p.print(lanes[worker], c, out)
	}, func(out *printed) error {
		if sum.Rows == 0 { // not before there is a row: a table that cannot be read writes nothing
			if err := p.header(w); err != nil {
				return err
			}
		}
		sum.Rows += out.rows
		sum.Abstained += out.abstained
		if f, ok := out.lines.(*fields); ok {
			f.to = p.parquet
		}
		return out.lines.Flush(w)
	})
	if err == nil && p.parquet != nil {
		err = p.parquet.Close()
	}
	return sum, err
}

func positions(h *table.Header, names []string) ([]int, error) {
	var all []int
	for _, name := range names {
		i := h.Column(name)
		if i < 0 {
			return nil, fmt.Errorf("%s has no column %s to keep", h.File, name)
		}
		all = append(all, i)
	}
	return all, nil
}

// A printer writes predictions as lines.
type printer struct {
	Output
	m       *Model
	keep    []int // positions of columns to repeat
	columns []string
	parquet *table.Parquet // being written
	half    []float64      // half widths of intervals in standard deviations, if all rows have the same
}

// printed are the lines of a chunk.
type printed struct {
	lines           lines
	rows, abstained int
}

// halfWidths are those of the intervals of a single network, in standard deviations:
// its predictions differ in mean and deviation alone. Nil for ensembles.
func (m *Model) halfWidths(level float64) []float64 {
	if len(m.Net.Members.Members) != 1 {
		return nil
	}
	var all []float64
	for _, s := range m.Net.Residuals {
		var d dist.Mixture
		for j, w := range s.W {
			d.Add(w, 0, math.Sqrt(s.R[j]))
		}
		_, hi := dist.Interval(&d, level)
		all = append(all, hi/d.SD())
	}
	return all
}

// names are those of the columns written.
func (p *printer) names() []string {
	all := append([]string(nil), p.Keep...)
	for _, t := range p.m.Schema.Targets() {
		if p.m.Schema.Task == table.Classification {
			all = append(all, t.Name)
			for _, class := range t.Levels {
				all = append(all, "p_"+class)
			}
			all = append(all, "entropy")
			continue
		}
		all = append(all, t.Name+"_mean", t.Name+"_std", t.Name+"_lo", t.Name+"_hi")
		if p.Budget {
			all = append(all, t.Name+"_var_weights", t.Name+"_var_inputs", t.Name+"_var_noise")
		}
	}
	all = append(all, "ood")
	if p.marks() {
		all = append(all, "abstain")
	}
	return all
}

// header writes what stands before the rows.
func (p *printer) header(w io.Writer) (err error) {
	switch p.Format {
	case JSON:
		return nil
	case Parquet:
		p.parquet, err = table.NewParquet(w, p.columns, p.texts())
		return err
	}
	out := p.Format.newLines(nil)
	for _, name := range p.columns {
		out.Text(name)
	}
	out.End()
	return out.Flush(w)
}

// texts names the columns that are not numbers.
func (p *printer) texts() map[string]bool {
	all := map[string]bool{}
	for _, name := range p.Keep {
		all[name] = true
	}
	if p.m.Schema.Task == table.Classification {
		all[p.m.Schema.Targets()[0].Name] = true
	}
	return all
}

// print predicts a chunk and writes its rows.
func (p *printer) print(l *lane, c *table.Chunk, out *printed) error {
	if err := l.predict(c); err != nil {
		return err
	}
	for row := range c.Rows() {
		for _, col := range p.keep {
			out.lines.Text(c.Text(row, col))
		}
		abstain := false
		if len(l.class) > 0 {
			abstain = p.class(l, row, out.lines)
		}
		for target := range l.targets {
			if len(l.class) == 0 && p.number(l, row, target, out.lines) {
				abstain = true
			}
		}
		ood := l.unfamiliar(row)
		out.lines.Float(ood)
		if p.marks() {
			mark := 0
			if abstain || p.MaxOOD > 0 && ood > p.MaxOOD {
				mark = 1
				out.abstained++
			}
			out.lines.Int(mark)
		}
		out.lines.End()
	}
	out.rows = c.Rows()
	return nil
}

// number writes the prediction of a number and tells whether it is too unsure.
func (p *printer) number(l *lane, row, target int, out lines) (unsure bool) {
	mean, sd := l.moments(row, target)
	var lo, hi float64
	switch c := l.m.calibration(target); {
	case c != nil:
		raw := l.raw(row, target)
		lo, hi = c.Interval(raw, p.level(), &l.scratch)
		d := c.Apply(raw, &l.scratch)
		mean, sd = d.Mean(), d.SD()
	case p.half != nil:
		lo, hi = mean-p.half[target]*sd, mean+p.half[target]*sd
	default:
		lo, hi = dist.Interval(l.raw(row, target), p.level())
	}
	out.Float(mean)
	out.Float(sd)
	out.Float(lo)
	out.Float(hi)
	if p.Budget {
		b := l.budget(row, target, sd)
		out.Float(b.Weights)
		out.Float(b.Inputs)
		out.Float(b.Noise)
	}
	return p.MaxStd > 0 && !(sd <= p.MaxStd)
}

// class writes the prediction of a class and tells whether it is too unsure.
func (p *printer) class(l *lane, row int, out lines) (unsure bool) {
	c := l.classes(row, true)
	best := c.Argmax()
	out.Text(l.targets[0].Levels[best])
	for _, x := range c {
		out.Float(x)
	}
	out.Float(c.Entropy())
	return p.MinProbability > 0 && !(c[best] >= p.MinProbability)
}
