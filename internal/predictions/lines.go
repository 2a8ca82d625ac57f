package predictions

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"utvi/internal/delimited"
)

// Format is how predictions are written; "" stands for CSV.
type Format string

const (
	CSV  Format = "csv"
	TSV  Format = "tsv"
	JSON Format = "json" // an object a line

	// Parquet is for files only.
	Parquet Format = "parquet"
)

var formats = []Format{CSV, TSV, JSON, Parquet}

// lines are rows of fields being written.
type lines interface {
	Text(s string)
	Float(v float64)
	Value(v, unit float64) // with digits down to a small part of unit
	Int(v int)
	End()
	Flush(w io.Writer) error
}

// Check reports a format that does not exist.
func (f Format) Check() error {
	if f != "" && !slices.Contains(formats, f) {
		return fmt.Errorf("unknown format %q; choose csv, tsv, json or parquet", string(f))
	}
	return nil
}

// newLines returns room for rows with the given columns.
func (o *Output) newLines(columns []column) lines {
	if o.Spreadsheet {
		plain := *o
		plain.Spreadsheet = false
		return inert{plain.newLines(columns)}
	}
	switch o.Format {
	case TSV:
		return &delimited.Lines{Delimiter: '\t', Digits: o.Digits}
	case JSON:
		return newObjects(columns, o.Digits)
	case Parquet:
		return &fields{}
	}
	return &delimited.Lines{Digits: o.Digits}
}

// objects write each row as a JSON object on its own line.
type objects struct {
	keys   []string // quoted, with what stands before and after
	digits int
	buf    []byte
	at     int
}

func newObjects(columns []column, digits int) *objects {
	o := &objects{digits: digits}
	for i, c := range columns {
		key, _ := json.Marshal(c.name) // a text always can be
		sep := ","
		if i == 0 {
			sep = "{"
		}
		o.keys = append(o.keys, sep+string(key)+":")
	}
	return o
}

func (o *objects) key() {
	o.buf = append(o.buf, o.keys[o.at]...)
	o.at++
}

func (o *objects) Text(s string) {
	o.key()
	text, _ := json.Marshal(s)
	o.buf = append(o.buf, text...)
}

// Float writes what JSON cannot hold as null.
func (o *objects) Float(v float64) {
	o.key()
	switch {
	case math.IsNaN(v) || math.IsInf(v, 0):
		o.buf = append(o.buf, "null"...)
	case o.digits > 0:
		o.buf = strconv.AppendFloat(o.buf, v, 'g', o.digits, 64)
	case math.Abs(v) <= math.MaxFloat32:
		o.buf = strconv.AppendFloat(o.buf, v, 'g', -1, 32)
	default:
		o.buf = strconv.AppendFloat(o.buf, v, 'g', -1, 64)
	}
}

// Value writes a number with the digits that unit asks for.
func (o *objects) Value(v, unit float64) {
	if o.digits > 0 || math.IsNaN(v) || math.IsInf(v, 0) {
		o.Float(v)
		return
	}
	o.key()
	o.buf = delimited.AppendValue(o.buf, v, unit)
}

func (o *objects) Int(v int) {
	o.key()
	o.buf = strconv.AppendInt(o.buf, int64(v), 10)
}

func (o *objects) End() {
	o.buf = append(o.buf, "}\n"...)
	o.at = 0
}

func (o *objects) Flush(w io.Writer) error {
	_, err := w.Write(o.buf)
	o.buf = o.buf[:0]
	return err
}
