// Package predictions writes predictions of a table's rows as CSV, TSV, JSON lines or
// Parquet.
package predictions

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"utvi/dist"
	"utvi/internal/compute"
	"utvi/internal/schema"
	"utvi/predict"
	"utvi/rng"
	"utvi/table"
	"utvi/table/parquet"
)

// Output says what to write. The zero value writes CSV without the parts of the
// variance.
type Output struct {
	Format  Format   `json:"format,omitempty"`
	Parts   bool     `json:"parts,omitempty"` // of the variance
	Keep    []string `json:"keep,omitempty"`  // columns of the table to repeat in front
	Median  bool     `json:"median,omitempty"`
	Samples int      `json:"samples,omitempty"` // draws of each prediction
	Seed    uint64   `json:"seed,omitempty"`    // of the draws
	Explain int      `json:"explain,omitempty"` // columns that explain each prediction
	Digits  int      `json:"digits,omitempty"`  // significant digits of numbers in text; 0: as many as matter
	// Spreadsheet marks texts that a spreadsheet would run as formulas, in CSV and TSV.
	Spreadsheet bool `json:"spreadsheet,omitempty"`
	// Continues says that rows of the same table stand before: no header is written.
	Continues bool `json:"-"`
}

// Check reports settings that cannot be written.
func (o Output) Check() error {
	const most = 10_000
	switch {
	case o.Samples < 0 || o.Samples > most:
		return fmt.Errorf("the number of samples is %d; it must be 1 to %d", o.Samples, most)
	case o.Digits < 0 || o.Digits > 17:
		return fmt.Errorf("the number of digits is %d; it must be 1 to 17", o.Digits)
	case o.Explain < 0:
		return fmt.Errorf("the number of columns that explain a prediction is %d; it must be at least 1", o.Explain)
	}
	if o.Spreadsheet && (o.Format == JSON || o.Format == Parquet) {
		return fmt.Errorf("texts are marked for spreadsheets in CSV and TSV; %s has no formulas", o.Format)
	}
	return o.Format.Check()
}

// far is the ood above which a summary counts rows.
const far = 2

// A Summary counts the predicted rows.
type Summary struct {
	Rows, Abstained int
	Far             int    // rows far from the training rows: their ood is above 2
	NotFinite       int    // predictions that are not finite numbers; they abstain
	First           string // where the first of these stands
	Unread          int    // rows with a cell that cannot be read; they abstain
	FirstUnread     string // why the first of these cannot be
	NoiseInWeights  bool   // the model has no part for the noise
	ByPosition      bool   // columns were matched by their order
	Pictures        bool   // rows have images, of which those that cannot be read are named in Notes
	Renamed         []string
	Notes           []string // on how the table was read
}

// Write writes a line for every row of a table, in their order. Rows stream: memory
// does not depend on their number.
func Write(ctx context.Context, p *predict.Predictor, rows table.Source, w io.Writer, o Output, pool *compute.Pool) (Summary, error) {
	var sum Summary
	if err := o.Check(); err != nil {
		return sum, err
	}
	out := &printer{Output: o, p: p, m: p.Model(), marks: p.Options().Bounds()}
	columns := 0
	var encoder *schema.Encoder
	if s := out.m.Schema; s != nil {
		columns = len(s.Spans())
		sum.Pictures = s.Pictures()
	}
	out.Explain = min(o.Explain, columns)
	var err error
	out.keep, err = positions(rows.Header(), o.Keep)
	if err != nil {
		return sum, err
	}
	out.columns, sum.Renamed = out.names()
	err = predict.Stream(ctx, p, rows, pool, out.print, func(x *printed) error {
		if sum.Rows == 0 && x.unread == x.rows && x.rows > 0 && !o.Continues {
			_, why := x.encoder.SetAside()
			if x.rows == 1 {
				return errors.New(why)
			}
			return fmt.Errorf("none of the first %d rows can be read: %s", x.rows, why)
		}
		if sum.Rows == 0 && !o.Continues { // not before there is a row: a table that cannot be read writes nothing
			if err := out.header(w); err != nil {
				return err
			}
		}
		if sum.NotFinite == 0 {
			sum.First = x.first
		}
		sum.Rows += x.rows
		sum.Abstained += x.abstained
		sum.Far += x.far
		sum.NotFinite += x.notFinite
		sum.Unread += x.unread
		sum.NoiseInWeights, sum.ByPosition = x.noiseInWeights, x.byPosition
		encoder = x.encoder
		if f, ok := x.lines.(*fields); ok {
			f.to = out.parquet
		}
		return x.lines.Flush(w)
	})
	if err == nil && out.parquet != nil {
		err = out.parquet.Close()
	}
	if encoder != nil {
		sum.Notes = encoder.Notes()
		_, sum.FirstUnread = encoder.SetAside()
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
	columns []column
	parquet *parquet.Writer // being written
}

// printed are the lines of a chunk.
type printed struct {
	lines           lines
	rows, abstained int
	far, notFinite  int
	unread          int
	first           string // where the first row stands that is not finite
	noiseInWeights  bool
	byPosition      bool
	encoder         *schema.Encoder // nil: the model is a network
}

// header writes what stands before the rows.
func (p *printer) header(w io.Writer) (err error) {
	var names []string
	texts := map[string]bool{}
	for _, c := range p.columns {
		names = append(names, c.name)
		texts[c.name] = c.text
	}
	switch p.Format {
	case JSON:
		return nil
	case Parquet:
		p.parquet, err = parquet.NewWriter(w, names, texts)
		return err
	}
	out := p.newLines(nil)
	for _, name := range names {
		out.Text(name)
	}
	out.End()
	return out.Flush(w)
}

// print writes the rows of a batch.
func (p *printer) print(b *predict.Batch) (*printed, error) {
	x := &printed{lines: p.newLines(p.columns), rows: b.Len(), noiseInWeights: b.NoiseInWeights()}
	if e := b.Encoder(); e != nil {
		x.byPosition, x.encoder = e.ByPosition(), e
	}
	why := b.Explain(p.Explain)
	out := x.lines
	for row := range b.Len() {
		for _, col := range p.keep {
			out.Text(b.Chunk().Text(row, col))
		}
		if err := p.account(b, row, x); err != nil {
			return nil, err
		}
		if p.m.Classes() != nil {
			p.class(b, row, out)
		} else {
			p.numbers(b, row, out)
		}
		if why != nil {
			for _, w := range why[row] {
				p.explain(w, out)
			}
		}
		if b.OOD(row) > far {
			x.far++
		}
		out.Float(b.OOD(row))
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

// account counts a row without a prediction, which is an error where such rows are not set aside.
func (p *printer) account(b *predict.Batch, row int, x *printed) error {
	switch {
	case b.Unread(row):
		x.unread++
	case !b.Finite(row):
		if e := b.Encoder(); e != nil && !p.p.Options().SetAside && e.Unreadable() != "" {
			return errors.New(e.Unreadable())
		}
		if x.notFinite == 0 {
			x.first = b.Chunk().Where(row)
		}
		x.notFinite++
	}
	return nil
}

func (p *printer) class(b *predict.Batch, row int, out lines) {
	classes, finite := p.m.Classes(), b.Finite(row)
	c := b.Classes(row)
	name := ""
	if finite {
		name = classes[c.Argmax()]
	}
	out.Text(name)
	for _, x := range c {
		out.Float(x)
	}
	out.Float(c.Entropy())
	if p.doubts() {
		variance, share := b.ClassDoubt(row)
		out.Float(variance)
		out.Float(share)
	}
	key := p.draws(b, row, 0)
	for i := range p.Samples {
		name := ""
		if finite {
			name = classes[drawClass(c, rng.Uniform(key, uint64(i)))]
		}
		out.Text(name)
	}
	if p.sets() {
		var names []string
		for _, k := range b.Set(nil, row) {
			names = append(names, classes[k])
		}
		out.Text(strings.Join(names, "|"))
	}
}

// draws is the key of a row's samples: the same wherever chunks are cut.
func (p *printer) draws(b *predict.Batch, row, target int) rng.Key {
	const samples = 0x73616d70 // "samp": keeps these draws apart from others of the seed
	return rng.New(p.Seed).Sub(uint64(target), samples).Sub(uint64(b.Chunk().Line(row)), 0)
}

func drawClass(c dist.Categorical, u float64) int {
	for k, x := range c {
		u -= x
		if u < 0 {
			return k
		}
	}
	return c.Argmax() // despite rounding
}

func (p *printer) numbers(b *predict.Batch, row int, out lines) {
	o := p.p.Options()
	for t, n := range b.Numbers(row) {
		out.Value(n.Mean, n.Std)
		out.Float(n.Std)
		out.Value(n.Lo, n.Std)
		out.Value(n.Hi, n.Std)
		if p.Parts {
			out.Float(n.Variance.Weights)
			out.Float(n.Variance.Inputs)
			if b.NoiseInWeights() { // it is within the weights
				out.Float(math.NaN())
			} else {
				out.Float(n.Variance.Noise)
			}
		}
		if !p.Median && len(o.Quantiles)+len(o.Above)+p.Samples == 0 {
			continue
		}
		at := func(level float64) float64 { return math.NaN() }
		above := at
		if b.Finite(row) {
			d := b.Dist(row, t)
			at, above = d.Quantile, func(x float64) float64 { return 1 - d.CDF(x) }
		}
		if p.Median {
			out.Value(at(0.5), n.Std)
		}
		for _, q := range o.Quantiles {
			out.Value(at(q), n.Std)
		}
		for _, x := range o.Above {
			out.Float(above(x))
		}
		key := p.draws(b, row, t)
		for i := range p.Samples {
			out.Value(at(rng.Uniform(key, uint64(i))), n.Std)
		}
	}
}

// explain writes the columns that moved a prediction, and those that moved its
// uncertainty.
func (p *printer) explain(w predict.Why, out lines) {
	none := predict.Effect{Mean: math.NaN(), Std: math.NaN()} // of a prediction that is not finite
	for i := range p.Explain {
		e := none
		if i < len(w.Mean) {
			e = w.Mean[i]
		}
		out.Text(e.Column)
		out.Float(e.Mean)
		out.Float(e.Std)
	}
	for i := range p.Explain {
		e := none
		if i < len(w.Std) {
			e = w.Std[i]
		}
		out.Text(e.Column)
		out.Float(e.Std)
	}
}
