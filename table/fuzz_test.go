package table

import (
	"encoding/csv"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"utvi/internal/compute"
)

// FuzzCSV compares with encoding/csv and strconv.
func FuzzCSV(f *testing.F) {
	for _, s := range []string{"x,y\n1,2\n", "1,\"a\"\"b\"\n,\n", "a,b\r\n\"1\n2\",3e5\n\n", "1e5,-.5\n\"x\",\n", "\n\n1,+1\n", "a,\"b", "x,y\n\"\r\n\",inf\n"} {
		f.Add(s, uint8(60))
	}
	pool := compute.NewPool(1)
	f.Fuzz(func(t *testing.T, text string, size uint8) {
		r, err := NewReader(strings.NewReader(text), "f.csv", Options{Header: NoHeader, Delimiter: ',', Pool: pool})
		var got [][]string
		if err == nil {
			if rows, ok := r.rows.(*csvRows); ok {
				rows.size = 1 + int(size)
			}
			err = Each(r, func(c *Chunk) error {
				for i := range c.Rows() {
					var row []string
					for j := range r.Header().Columns {
						row = append(row, show(c, i, j))
					}
					got = append(got, row)
				}
				return nil
			})
			r.Close()
		}
		want, wantErr := oracle(text)
		if wantErr != nil || strings.HasPrefix(text, "\x1f\x8b") || refuseForeign("f.csv", []byte(text)) != nil {
			return // strict: refusing more, or accepting blanks beside quotes, is no harm
		}
		if err != nil {
			t.Fatalf("%q: %v; encoding/csv reads %q", text, err, want)
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("%q:\n got %q\nwant %q", text, got, want)
		}
	})
}

func show(c *Chunk, row, col int) string {
	switch k, v := c.Cell(row, col); k {
	case Number:
		return fmt.Sprint(v)
	case Text:
		return strconv.Quote(c.Text(row, col))
	}
	return "_"
}

// oracle reads what FuzzCSV should see, or says that it does not matter.
func oracle(text string) (rows [][]string, err error) {
	off := errors.New("not compared")
	if n, _ := preamble([]byte(text)); n > 0 {
		return nil, off // which encoding/csv does not know
	}
	if strings.ContainsAny(text, "\x00\t\v\f\u0085\u00a0") || !validText(text) || strings.Contains(strings.ReplaceAll(text, "\r\n", ""), "\r") {
		return nil, off
	}
	cr := csv.NewReader(strings.NewReader(text))
	cr.ReuseRecord = false
	all, err := cr.ReadAll()
	if err != nil {
		return nil, err
	}
	var seen evidence
	for _, rec := range all {
		var row []string
		for _, s := range rec {
			if seen.add(strings.TrimSpace(s)); seen.comma != "" {
				return nil, off // which encoding/csv does not know
			}
			row = append(row, oracleCell(strings.TrimSpace(s)))
		}
		if len(rec) == 1 && strings.Trim(rec[0], " ") == "" {
			return nil, off // a line of blanks
		}
		rows = append(rows, row)
	}
	if len(rows) == 0 {
		return nil, off
	}
	return rows, nil
}

func oracleCell(s string) string {
	switch strings.ToLower(s) {
	case "", "na", "n/a", "nan", "null", "none", "?":
		return "_"
	}
	v, err := strconv.ParseFloat(s, 64)
	if err != nil && !math.IsInf(v, 0) || strings.ContainsAny(s, "xXpP_") || math.IsNaN(v) {
		return strconv.Quote(s)
	}
	return fmt.Sprint(v)
}

func validText(s string) bool {
	return strings.ToValidUTF8(s, "") == s && !strings.HasPrefix(s, "\ufeff")
}
