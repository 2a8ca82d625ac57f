// Package delimited writes rows of text as CSV or TSV.
package delimited

import (
	"io"
	"math"
	"strconv"
	"strings"
)

// Lines are rows of text being written, as CSV or TSV. Several goroutines can write
// separate Lines, to be joined in order; Flush empties them into a file.
type Lines struct {
	Delimiter byte // 0: a comma
	Digits    int  // significant digits of numbers; 0: enough to distinguish float32 values

	buf   []byte
	begun bool
}

func (l *Lines) begin() {
	if l.Delimiter == 0 {
		l.Delimiter = ','
	}
	if l.begun {
		l.buf = append(l.buf, l.Delimiter)
	}
	l.begun = true
}

// Text adds a field, in quotes where it needs them.
func (l *Lines) Text(s string) {
	l.begin()
	if !strings.ContainsAny(s, "\"\n\r\t ") && strings.IndexByte(s, l.Delimiter) < 0 {
		l.buf = append(l.buf, s...)
		return
	}
	l.buf = append(l.buf, '"')
	l.buf = append(l.buf, strings.ReplaceAll(s, `"`, `""`)...)
	l.buf = append(l.buf, '"')
}

// Float adds a number; NaN becomes an empty field.
func (l *Lines) Float(v float64) {
	l.begin()
	switch {
	case v != v:
	case l.Digits > 0:
		l.buf = strconv.AppendFloat(l.buf, v, 'g', l.Digits, 64)
	case math.Abs(v) <= math.MaxFloat32:
		l.buf = strconv.AppendFloat(l.buf, v, 'g', -1, 32)
	default:
		l.buf = strconv.AppendFloat(l.buf, v, 'g', -1, 64)
	}
}

// Value adds a number whose digits matter down to a ten-thousandth of unit: float32
// holds too few of a number around 1e9 that is known to 1.
func (l *Lines) Value(v, unit float64) {
	if l.Digits > 0 || !fine(v, unit) {
		l.Float(v)
		return
	}
	l.begin()
	l.buf = AppendValue(l.buf, v, unit)
}

// fine reports whether a number needs more digits than float32 has.
func fine(v, unit float64) bool {
	return math.Abs(float64(float32(v))-v) > 1e-4*unit && !math.IsInf(v, 0)
}

// AppendValue appends a number as Lines.Value writes it.
func AppendValue(b []byte, v, unit float64) []byte {
	if !fine(v, unit) {
		if math.Abs(v) <= math.MaxFloat32 {
			return strconv.AppendFloat(b, v, 'g', -1, 32)
		}
		return strconv.AppendFloat(b, v, 'g', -1, 64)
	}
	digits := 17.
	if unit > 0 {
		digits = min(digits, 7+math.Ceil(math.Log10(math.Abs(v)/unit)))
	}
	return strconv.AppendFloat(b, v, 'g', int(digits), 64)
}

// Int adds a whole number.
func (l *Lines) Int(v int) {
	l.begin()
	l.buf = strconv.AppendInt(l.buf, int64(v), 10)
}

// End ends the row.
func (l *Lines) End() {
	l.buf = append(l.buf, '\n')
	l.begun = false
}

// Flush writes all rows to w and forgets them.
func (l *Lines) Flush(w io.Writer) error {
	_, err := w.Write(l.buf)
	l.buf = l.buf[:0]
	return err
}
