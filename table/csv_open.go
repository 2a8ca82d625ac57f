package table

import (
	"bufio"
	"bytes"
	"fmt"

	"utvi/internal/compute"
)

// openCSV finds out delimiter, header and how numbers are written from the start of the file.
func (r *Reader) openCSV(in *bufio.Reader, whole bool, ext string, o Options) error {
	start, _ := in.Peek(sniffSize)
	if err := refuseBinary(r.head.File, start); err != nil {
		return err
	}
	const bom = "\xef\xbb\xbf"
	if bytes.HasPrefix(start, []byte(bom)) {
		in.Discard(len(bom))
		start = start[len(bom):]
	}
	if err := lineEnds(start); err != nil {
		return fmt.Errorf("%s: %w", r.head.File, err)
	}
	passed, delim := preamble(start)
	before := bytes.Count(start[:passed], []byte{'\n'})
	in.Discard(passed)
	start = start[passed:]
	if o.Delimiter == 0 {
		o.Delimiter = delim
	}
	if !whole {
		start = start[:lastRecord(start)]
		if len(start) == 0 {
			return fmt.Errorf("%s: the first row is longer than %d kB; is this a table?", r.head.File, sniffSize/1000)
		}
	}
	delim = o.Delimiter
	if delim == 0 {
		delim = sniffDelimiter(start, ext)
	}
	r.head.Lines = true
	lines, size, err := readHeader(r.head, start, 1+before, delim, o)
	if err != nil {
		return err
	}
	in.Discard(size)
	rows := &csvRows{delim: delim, head: r.head, src: in, pool: o.Pool, size: blockSize, line: 1 + before + lines}
	if rows.pool == nil {
		rows.pool = compute.NewPool(compute.Workers(0))
		r.done = append(r.done, rows.pool.Close)
	}
	r.rows = rows
	return nil
}

// readHeader names the columns by the first row, which begins at a line, and returns how
// many lines and bytes to pass over: none if that row is already data.
func readHeader(h *Header, start []byte, line int, delim byte, o Options) (lines, size int, err error) {
	var row []string
	at := 0
	for row == nil {
		var bad *rowError
		row, at, bad = scanRow(start, at, delim)
		if bad != nil {
			return 0, 0, fmt.Errorf("%s: %s", h.At(line+bytes.Count(start[:at], []byte{'\n'})), bad.what)
		}
		if row == nil && at >= len(start) {
			return 0, 0, fmt.Errorf("%s is empty", h.File)
		}
	}
	h.decimals = newDecimals(firstRows(start, delim, decimalLines), len(row), delim, o.Decimal)
	h.decimals.decide(func(int) bool { return true }) // to tell names from numbers
	err = nameColumns(h, row, o.Header)
	if err != nil {
		return 0, 0, err
	}
	if o.Used != nil {
		h.decimals.decide(func(col int) bool { return o.Used(h.Columns[col]) })
	}
	if !h.Named {
		return 0, 0, nil
	}
	return bytes.Count(start[:at], []byte{'\n'}), at, nil
}
