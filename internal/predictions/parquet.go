package predictions

import (
	"io"

	"utvi/table/parquet"
)

// fields keep rows, to be written to a Parquet file by one who writes them all.
type fields struct {
	all []field
	to  *parquet.Writer
}

type field struct {
	kind  fieldKind
	text  string
	value float64
}

type fieldKind uint8

const (
	textField fieldKind = iota
	floatField
	intField
	endField
)

func (f *fields) Text(s string)      { f.all = append(f.all, field{kind: textField, text: s}) }
func (f *fields) Float(v float64)    { f.all = append(f.all, field{kind: floatField, value: v}) }
func (f *fields) Value(v, _ float64) { f.Float(v) }
func (f *fields) Int(v int)          { f.all = append(f.all, field{kind: intField, value: float64(v)}) }
func (f *fields) End()               { f.all = append(f.all, field{kind: endField}) }

// Flush writes the rows to the Parquet file.
func (f *fields) Flush(io.Writer) error {
	for _, x := range f.all {
		switch x.kind {
		case textField:
			f.to.Text(x.text)
		case floatField:
			f.to.Float(x.value)
		case intField:
			f.to.Int(int(x.value))
		case endField:
			f.to.End()
		}
	}
	f.all = f.all[:0]
	return nil // Close reports what went wrong
}
