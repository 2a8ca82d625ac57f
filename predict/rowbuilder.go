package predict

import (
	"fmt"

	"utvi/gauss"
	"utvi/internal/schema"
	"utvi/table"
)

// A RowBuilder encodes rows of named values that come one by one, such as those of a
// request, as the networks see them: for Each. Whoever collects rows of several callers
// can report a wrong row to the one who sent it. It belongs to one goroutine.
type RowBuilder struct {
	m      *Model
	b      *table.Builder
	fields []field // of the row being built, by column of the table
	x      gauss.Batch[float32]
	rows   int // that are complete
	done   int // of them, encoded
	next   int // the column that probably comes next
}

// A field is a value that waits for the end of its row.
type field struct {
	is      fieldKind
	number  float64
	integer int64
	text    []byte
}

type fieldKind uint8

const (
	absent fieldKind = iota
	missingField
	numberField
	integerField
	parsedField
)

// blockRows are encoded at a time: the memory of a row before that is larger.
const blockRows = 256

// NewRowBuilder returns a builder without rows. The model must be one of a table.
func (m *Model) NewRowBuilder() *RowBuilder {
	if m.Schema == nil {
		panic("predict: rows of named values need a tabular model")
	}
	return &RowBuilder{m: m, b: table.NewBuilder(m.header), fields: make([]field, len(m.header.Columns)), x: gauss.Batch[float32]{Width: m.Inputs()}}
}

// Column returns the position of a column of the table, −1 if there is none of that name.
func (r *RowBuilder) Column(name []byte) int {
	if at := r.next; at < len(r.fields) && r.m.header.Columns[at] == string(name) {
		r.next++
		return at
	}
	if at, ok := r.m.position[string(name)]; ok {
		r.next = at + 1
		return at
	}
	return -1
}

// Needed returns the position of column i of Model.Columns.
func (r *RowBuilder) Needed(i int) int { return r.m.needed[i] }

// Has reports whether the present row has a value of a column.
func (r *RowBuilder) Has(column int) bool { return r.fields[column].is != absent }

// Missing says that the present row has no value of a column.
func (r *RowBuilder) Missing(column int) { r.fields[column].is = missingField }

// Number sets a value of the present row.
func (r *RowBuilder) Number(column int, v float64) {
	r.fields[column] = field{is: numberField, number: v}
}

// Integer sets a value of the present row.
func (r *RowBuilder) Integer(column int, v int64) {
	r.fields[column] = field{is: integerField, integer: v}
}

// Parse sets a value of the present row to what a table's cell with this text means. The text must
// not change before End.
func (r *RowBuilder) Parse(column int, text []byte) {
	r.fields[column] = field{is: parsedField, text: text}
}

// End completes the present row. It reports columns without a value.
func (r *RowBuilder) End() error {
	for i := range r.fields {
		f := &r.fields[i]
		switch c := &r.m.Schema.Columns[i]; {
		case c.Role != schema.Input && c.Role != schema.Std:
			r.b.Missing() // it is not used
		case f.is == absent && !r.m.Schema.Impute:
			return r.m.errLacks(r.rows, c.Name)
		case f.is == numberField:
			r.b.Number(f.number)
		case f.is == integerField:
			r.b.Integer(f.integer)
		case f.is == parsedField:
			r.b.ParseBytes(f.text)
		default:
			r.b.Missing()
		}
		*f = field{}
	}
	r.next = 0
	if r.rows++; r.rows-r.done == blockRows {
		return r.encode()
	}
	return nil
}

// Rows is the number of complete rows.
func (r *RowBuilder) Rows() int { return r.rows }

// Batch returns the complete rows as the networks see them.
func (r *RowBuilder) Batch() (gauss.Batch[float32], error) {
	err := r.encode()
	return r.x, err
}

func (r *RowBuilder) encode() error {
	n := r.rows - r.done
	if n == 0 {
		return nil
	}
	c, err := r.b.Chunk()
	if err != nil {
		return err
	}
	uncertain := r.m.Schema.Uncertain()
	r.x.Mean = append(r.x.Mean, make([]float32, n*r.x.Width)...)
	if uncertain {
		r.x.Var = append(r.x.Var, make([]float32, n*r.x.Width)...)
	}
	r.x.Rows = r.rows
	x := r.x.Slice(r.done, r.rows)
	r.done = r.rows
	return r.m.encoder.Inputs(c, x)
}

func (m *Model) errLacks(row int, name string) error {
	return fmt.Errorf("row %d lacks the column %s; the model needs %s", row+1, name, list(m.columns))
}

// ErrUnknown is the error about a value whose column the table does not have.
func (r *RowBuilder) ErrUnknown(name []byte) error { return r.m.errUnknown(r.rows, string(name)) }

func (m *Model) errUnknown(row int, name string) error {
	return fmt.Errorf("row %d has an unknown column %.80q; the model needs %s", row+1, name, list(m.columns))
}
