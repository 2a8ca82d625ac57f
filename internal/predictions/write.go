// Package predictions writes predictions of a table's rows as CSV, TSV, JSON lines or
// Parquet.
package predictions

import (
	"context"
	"fmt"
	"io"
	"strconv"

	"utvi/internal/compute"
	"utvi/predict"
	"utvi/table"
	"utvi/table/parquet"
)

// Output says what to write. The zero value writes CSV without the parts of the
// variance.
type Output struct {
	Format Format
	Parts  bool     // of the variance
	Keep   []string // columns of the table to repeat in front
	Digits int      // significant digits of numbers in text; 0: enough to distinguish float32 values
}

// A Summary counts the predicted rows.
type Summary struct {
	Rows, Abstained int
	NoiseInWeights  bool // the model has no part for the noise
}

// Write writes a line for every row of a table, in their order. Rows stream: memory
// does not depend on their number.
func Write(ctx context.Context, p *predict.Predictor, rows table.Source, w io.Writer, o Output, pool *compute.Pool) (Summary, error) {
	var sum Summary
	if err := o.Format.Check(); err != nil {
		return sum, err
	}
	out := &printer{Output: o, p: p, m: p.Model(), marks: p.Options().Bounds()}
	var err error
	if out.keep, err = positions(rows.Header(), o.Keep); err != nil {
		return sum, err
	}
	out.columns = out.names()
	err = predict.Stream(ctx, p, rows, pool, out.print, func(x *printed) error {
		if sum.Rows == 0 { // not before there is a row: a table that cannot be read writes nothing
			if err := out.header(w); err != nil {
				return err
			}
		}
		sum.Rows += x.rows
		sum.Abstained += x.abstained
		sum.NoiseInWeights = x.noiseInWeights
		if f, ok := x.lines.(*fields); ok {
			f.to = out.parquet
		}
		return x.lines.Flush(w)
	})
	if err == nil && out.parquet != nil {
		err = out.parquet.Close()
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
	p       *predict.Predictor
	m       *predict.Model
	marks   bool  // rows that abstain
	keep    []int // positions of columns to repeat
	columns []string
	parquet *parquet.Writer // being written
}

// printed are the lines of a chunk.
type printed struct {
	lines           lines
	rows, abstained int
	noiseInWeights  bool
}

// names are the names of the written columns.
func (p *printer) names() []string {
	all := append([]string(nil), p.Keep...)
	for _, t := range p.m.Targets() {
		if classes := p.m.Classes(); classes != nil {
			all = append(all, t)
			for _, class := range classes {
				all = append(all, "p_"+class)
			}
			all = append(all, "entropy")
			continue
		}
		all = append(all, t+"_mean", t+"_std", t+"_lo", t+"_hi")
		if p.Parts {
			all = append(all, t+"_var_weights", t+"_var_inputs", t+"_var_noise")
		}
		for _, q := range p.p.Options().Quantiles {
			all = append(all, t+"_q"+strconv.FormatFloat(q, 'g', -1, 64))
		}
	}
	all = append(all, "ood")
	if p.marks {
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
		p.parquet, err = parquet.NewWriter(w, p.columns, p.texts())
		return err
	}
	out := p.newLines(nil)
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
	if p.m.Classes() != nil {
		all[p.m.Targets()[0]] = true
	}
	return all
}

// print writes the rows of a batch.
func (p *printer) print(b *predict.Batch) (*printed, error) {
	x := &printed{lines: p.newLines(p.columns), rows: b.Len(), noiseInWeights: b.NoiseInWeights()}
	out := x.lines
	for row := range b.Len() {
		for _, col := range p.keep {
			out.Text(b.Chunk().Text(row, col))
		}
		if classes := p.m.Classes(); classes != nil {
			c := b.Classes(row)
			out.Text(classes[c.Argmax()])
			for _, x := range c {
				out.Float(x)
			}
			out.Float(c.Entropy())
		} else {
			p.numbers(b, row, out)
		}
		out.Float(b.Unfamiliar(row))
		if p.marks {
			mark := 0
			if b.Abstain(row) {
				mark = 1
				x.abstained++
			}
			out.Int(mark)
		}
		out.End()
	}
	return x, nil
}

func (p *printer) numbers(b *predict.Batch, row int, out lines) {
	for t, n := range b.Numbers(row) {
		out.Float(n.Mean)
		out.Float(n.Std)
		out.Float(n.Lo)
		out.Float(n.Hi)
		if p.Parts {
			out.Float(n.Variance.Weights)
			out.Float(n.Variance.Inputs)
			out.Float(n.Variance.Noise)
		}
		for _, q := range p.p.Options().Quantiles {
			out.Float(b.Dist(row, t).Quantile(q))
		}
	}
}
