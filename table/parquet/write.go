package parquet

import (
	"errors"
	"io"

	"github.com/parquet-go/parquet-go"

	"utvi/table"
)

// A Writer writes rows of numbers and texts to a Parquet file.
type Writer struct {
	w    *parquet.GenericWriter[any]
	kind []table.Kind
	row  parquet.Row
	rows []parquet.Row
	err  error
}

// NewWriter begins a file with the given columns; those that texts names hold
// texts, the others numbers (NaN: missing).
func NewWriter(w io.Writer, columns []string, texts map[string]bool) (*Writer, error) {
	h := &table.Header{File: "the output", Columns: columns}
	if err := h.Check(); err != nil {
		return nil, err
	}
	if len(columns) == 0 {
		return nil, errors.New("the output has no columns")
	}
	g := parquet.Group{}
	p := &Writer{kind: make([]table.Kind, len(columns))}
	for i, name := range columns {
		leaf := parquet.Leaf(parquet.DoubleType)
		if texts[name] {
			leaf = parquet.String()
			p.kind[i] = table.Text
		}
		g[name] = parquet.Optional(parquet.Compressed(leaf, &parquet.Snappy))
	}
	// A group sorts its fields by name; readers want the order given.
	o := ordered{Group: g, fields: make([]parquet.Field, len(columns))}
	for _, f := range g.Fields() {
		o.fields[h.Column(f.Name())] = f
	}
	p.w = parquet.NewGenericWriter[any](w, parquet.NewSchema("table", o))
	return p, nil
}

type ordered struct {
	parquet.Group
	fields []parquet.Field
}

func (o ordered) Fields() []parquet.Field { return o.fields }

func (p *Writer) add(k table.Kind, v parquet.Value) {
	i := len(p.row)
	if i == len(p.kind) || p.kind[i] != k {
		panic("parquet: a value that does not suit its column")
	}
	defined := 1
	if v.IsNull() {
		defined = 0
	}
	p.row = append(p.row, v.Level(0, defined, i))
}

// Text adds a text.
func (p *Writer) Text(s string) { p.add(table.Text, parquet.ByteArrayValue([]byte(s))) }

// Float adds a number.
func (p *Writer) Float(v float64) {
	if v != v {
		p.add(table.Number, parquet.NullValue())
	} else {
		p.add(table.Number, parquet.DoubleValue(v))
	}
}

// Int adds a whole number.
func (p *Writer) Int(v int) { p.Float(float64(v)) }

// End ends the row.
func (p *Writer) End() {
	if len(p.row) != len(p.kind) {
		panic("parquet: a row with too few values")
	}
	p.rows = append(p.rows, p.row)
	p.row = make(parquet.Row, 0, len(p.kind))
	if len(p.rows) == 1024 {
		p.flush()
	}
}

func (p *Writer) flush() {
	if p.err == nil && len(p.rows) > 0 {
		_, p.err = p.w.WriteRows(p.rows)
	}
	p.rows = p.rows[:0]
}

// Close writes the remaining rows and ends the file. It returns the first error.
func (p *Writer) Close() error {
	p.flush()
	return errors.Join(p.err, p.w.Close())
}
