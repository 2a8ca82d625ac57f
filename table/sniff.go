package table

import (
	"bytes"
	"fmt"
	"strings"

	"utvi/internal/notation"
)

// sniffLines is how many lines decide on the delimiter.
const sniffLines = 20

// candidates are the delimiters a file may have, the usual ones first.
func candidates(ext string) []byte {
	switch ext {
	case ".tsv", ".tab":
		return []byte{'\t'}
	case ".csv":
		return []byte{',', ';', '\t', '|'}
	}
	return []byte{',', ';', '\t', '|', blank}
}

// sniffDelimiter chooses the delimiter that cuts most of the first lines into equally
// many fields, more than one, and among several the one that leaves most of them
// numbers. One that the first line lacks is none, for that may be the header.
func sniffDelimiter(start []byte, ext string) byte {
	choices := candidates(ext)
	best, most := choices[0], 0.0
	for _, d := range choices {
		rows := firstRows(start, d, sniffLines)
		if len(rows) == 0 || len(rows[0]) < 2 {
			continue
		}
		if share, ok := numbers(rows, d == ';'); ok && share > most {
			best, most = d, share
		}
	}
	return best
}

// numbers rates rows with the same number of fields by their share of numbers, above 0. A
// ragged row among many does not spoil it: it is to be found later, and named.
func numbers(rows [][]string, commas bool) (share float64, ok bool) {
	n, total := 1, 1
	widths := map[int]int{}
	for _, row := range rows {
		widths[len(row)]++
		for _, s := range row {
			total++
			if notation.IsNumber(s, '.') || commas && isDecimalComma(s) {
				n++
			}
		}
	}
	for w, count := range widths {
		ok = ok || w > 1 && 4*count >= 3*len(rows)
	}
	return float64(n) / float64(total), ok
}

// isDecimalComma recognises 1,5.
func isDecimalComma(s string) bool { return !notation.IsNumber(s, '.') && notation.IsNumber(s, ',') }

// firstRows parses up to n rows from the start of a file, of any width.
func firstRows(start []byte, delim byte, n int) (rows [][]string) {
	for at := 0; at < len(start) && len(rows) < n; {
		row, next, err := scanRow(start, at, delim)
		if err != nil {
			break
		}
		if row != nil {
			rows = append(rows, row)
		}
		at = next
	}
	return rows
}

// scanRow parses the row at a position, nil if it is blank.
func scanRow(data []byte, at int, delim byte) (row []string, next int, err *rowError) {
	if next := skipBlankLine(data, at); next > at {
		return nil, next, nil
	}
	b := &block{data: data, delim: delim}
	for last := false; !last; {
		from := b.skip(at)
		_, at, last = b.field(at, '.')
		if b.err != nil {
			return nil, at, b.err
		}
		s := ""
		if from < len(data) {
			s = b.text(0, 0, from, 0)
		}
		row = append(row, s)
	}
	return row, at, nil
}

// nameColumns turns the first row into column names: those it holds, if it is a header,
// c1, c2 … otherwise. Unnamed columns in a header get their number as well.
func nameColumns(h *Header, row []string, header HeaderRow) error {
	h.Named = header == WithHeader
	if header == AnyHeader {
		h.Named = true
		for col, s := range row {
			h.Named = h.Named && !notation.IsNumber(s, h.point(col))
		}
	}
	if h.Named {
		h.Columns = make([]string, len(row))
		for i, s := range row {
			h.Columns[i] = strings.TrimSpace(s)
			if s == "" {
				h.Columns[i] = fmt.Sprintf("c%d", i+1)
			}
		}
	} else {
		h.Columns, h.first = numbered("c", len(row)), row
	}
	return h.Check()
}

// numbered returns stem1, stem2 …
func numbered(stem string, n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("%s%d", stem, i+1)
	}
	return names
}

// refuseBinary returns an error for a file that is not text.
func refuseBinary(file string, start []byte) error {
	if bytes.IndexByte(start, 0) >= 0 {
		return fmt.Errorf("%s is neither text nor a Parquet or NumPy file", file)
	}
	return nil
}
