package table

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"utvi/internal/compute"
)

// dump writes a table as names and rows of cells: numbers as they are, texts in
// quotes, _ where something is missing; each row with its line.
func dump(r *Reader) (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", strings.Join(r.Header().Columns, "|"))
	err := Each(r, func(c *Chunk) error {
		for row := range c.Rows() {
			fmt.Fprintf(&b, "%d:", c.Line(row))
			for col := range r.Header().Columns {
				switch k, v := c.Cell(row, col); k {
				case Number:
					fmt.Fprintf(&b, " %v", v)
				case Text:
					fmt.Fprintf(&b, " %q", c.Text(row, col))
				default:
					b.WriteString(" _")
				}
			}
			b.WriteString("\n")
		}
		return nil
	})
	return b.String(), err
}

func dumpText(t *testing.T, text, name string, o Options) (string, error) {
	t.Helper()
	r, err := NewReader(strings.NewReader(text), name, o)
	if err != nil {
		return "", err
	}
	defer r.Close()
	return dump(r)
}

func TestCSV(t *testing.T) {
	for _, c := range []struct{ name, file, text, want string }{
		{"plain", "a.csv", "x,y\n1,2\n3,-4.5\n", "x|y\n2: 1 2\n3: 3 -4.5\n"},
		{"no end of line", "a.csv", "x,y\n1,2", "x|y\n2: 1 2\n"},
		{"crlf", "a.csv", "x,y\r\n1,a\r\n3,b\r\n\r\n", "x|y\n2: 1 \"a\"\n3: 3 \"b\"\n"},
		{"crlf, cut", "a.csv", "x,y\r\n1,2\r", "x|y\n2: 1 2\n"},
		{"mark", "a.csv", "\xef\xbb\xbfx,y\n1,2\n", "x|y\n2: 1 2\n"},
		{"blank lines", "a.csv", "\nx,y\n\n1,2\n  \n3,4\n\n\n", "x|y\n4: 1 2\n6: 3 4\n"},
		{"missing", "a.csv", "x,y,z\n,NA,\n nan ,?, None\n\"\",n/a,null\n", "x|y|z\n2: _ _ _\n3: _ _ _\n4: _ _ _\n"},
		{"quotes", "a.csv", "x,\"the, y\"\n\"1.5\",\"a \"\"b\"\", c\"\n \"2\" , \"d\"\n", "x|the, y\n2: 1.5 \"a \\\"b\\\", c\"\n3: 2 \"d\"\n"},
		{"lines in quotes", "a.csv", "x,y\n1,\"a\r\nb\n\"\n2,c\n", "x|y\n2: 1 \"a\\nb\"\n5: 2 \"c\"\n"},
		{"blanks", "a.csv", "x , y\n 1 ,\t2 \n", "x|y\n2: 1 2\n"},
		{"semicolons", "a.csv", "x;y\n1;2\n", "x|y\n2: 1 2\n"},
		{"semicolons and commas", "a.txt", "x;name\n1;a, b\n2;c, d\n", "x|name\n2: 1 \"a, b\"\n3: 2 \"c, d\"\n"},
		{"decimal commas", "a.csv", "a;b;c\n1,5;2,5;3,25\n-0,5;,5e1;3\n\"1,5\"; 2, ;a, b\n7;1,2,3;1.2.24\n", "a|b|c\n2: 1.5 2.5 3.25\n3: -0.5 5 3\n4: 1.5 2 \"a, b\"\n5: 7 \"1,2,3\" \"1.2.24\"\n"},
		{"decimal commas, many digits", "a.csv", "a;b\n1,00000000000000000000005;2\n", "a|b\n2: 1 2\n"},
		{"decimal commas, no header", "a.txt", "1,5;2,5\n3;4\n", "c1|c2\n1: 1.5 2.5\n2: 3 4\n"},
		{"a point in another column", "a.csv", "a;b\n1,5;2.5\n", "a|b\n2: 1.5 2.5\n"},
		{"a point among commas", "a.csv", "a;b\n1,5;2\n2.5;3\n", "a|b\n2: \"1,5\" 2\n3: 2.5 3\n"},
		{"commas below semicolons", "a.csv", "a;b\nu,v;w\nu,v;w\nu,v;w\nu,v;w\n", "a|b\n2: \"u,v\" \"w\"\n3: \"u,v\" \"w\"\n4: \"u,v\" \"w\"\n5: \"u,v\" \"w\"\n"},
		{"tabs", "a.tsv", "x\ty z\n1\t\n\t2,5\n", "x|y z\n2: 1 _\n3: _ 2.5\n"},
		{"bars", "a.csv", "x|a, b|y\n1|2,5|u\n3||v\n", "x|a, b|y\n2: 1 2.5 \"u\"\n3: 3 _ \"v\"\n"},
		{"thousands", "a.csv", "x,y\n1,\"7,637\"\n2,\"8,001.5\"\n", "x|y\n2: 1 \"7,637\"\n3: 2 \"8,001.5\"\n"},
		{"Latin-1", "a.csv", "x,y\n1,M\xfcller\n2,\x80\n", "x|y\n2: 1 \"Müller\"\n3: 2 \"€\"\n"},
		{"UTF-16", "a.csv", utf16Text("\ufeffx,y\n1,Müller 你😀\n", false), "x|y\n2: 1 \"Müller 你😀\"\n"},
		{"UTF-16, big end first, no mark", "a.csv", utf16Text("x,y\n1,Müller\n", true), "x|y\n2: 1 \"Müller\"\n"},
		{"tabs, unsaid", "a", "x\ty z\n1\ta b\n2\tc d e\n", "x|y z\n2: 1 \"a b\"\n3: 2 \"c d e\"\n"},
		{"spaces", "data.txt", "  1   2.5 \t-3\n4 5  6  \n\n", "c1|c2|c3\n1: 1 2.5 -3\n2: 4 5 6\n"},
		{"spaces, quotes", "data.txt", "x name\n1 \"a b\"\n2 c\n", "x|name\n2: 1 \"a b\"\n3: 2 \"c\"\n"},
		{"no header", "a.csv", "1,a\n2,b\n", "c1|c2\n1: 1 \"a\"\n2: 2 \"b\"\n"},
		{"one column", "a.csv", "x\n1\n2\n", "x\n2: 1\n3: 2\n"},
		{"unnamed column", "a.csv", ",y\n0,2\n", "c1|y\n2: 0 2\n"},
		{"infinite", "a.csv", "x,y\ninf,-Infinity\n1e999,2\n", "x|y\n2: +Inf -Inf\n3: +Inf 2\n"},
		{"utf-8", "a.csv", "größe,y\n1,weiß\n", "größe|y\n2: 1 \"weiß\"\n"},
	} {
		got, err := dumpText(t, c.text, c.file, Options{})
		if err != nil || got != c.want {
			t.Errorf("%s: got %v\n%swant\n%s", c.name, err, got, c.want)
		}
	}
	got, err := dumpText(t, "1,2\n3,4\n", "a.csv", Options{Header: WithHeader})
	if want := "1|2\n2: 3 4\n"; got != want || err != nil {
		t.Errorf("with a header said: %v\n%s", err, got)
	}
	got, err = dumpText(t, "a b|c\n3|4\n", "a.csv", Options{Header: NoHeader, Delimiter: '|'})
	if want := "c1|c2\n1: \"a b\" \"c\"\n2: 3 4\n"; got != want || err != nil {
		t.Errorf("without a header said: %v\n%s", err, got)
	}
}

func TestCSVErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                                  "a.csv is empty",
		"\n \r\n":                           "a.csv is empty",
		"x,y\n":                             "a.csv has no rows, only the names of columns",
		"x,y\n\n\n":                         "a.csv has no rows, only the names of columns",
		"x,y,x\n1,2,3\n":                    "a.csv: columns 1 and 3 are both named x; names must differ",
		"x,y\n1,2\n\n3\n":                   "a.csv line 4: 1 fields where 2 are expected",
		"x,y\n1,2\n3,4,5\n":                 "a.csv line 3: 3 fields where 2 are expected",
		"x,y\n1,\"a\nb\"\n3,4,\n":           "a.csv line 4: 3 fields where 2 are expected",
		"x,y\n1,a\"b\n":                     `a.csv line 2, column y: a quote (") inside a field that does not begin with one; put the field in quotes and double those within`,
		"x,y\n\"a\"b,1\n":                   "a.csv line 2, column x: text follows a closing quote; double the quotes within a quoted field",
		"x,y\n1,2\n1,\"ab\n":                "a.csv line 3, column y: a quoted field is never closed",
		"\xff\xfex\x00,\x00\n":              "cannot read a.csv: unexpected EOF",
		"\x7fELF\x02\x01\x00\x00":           "a.csv is neither text nor a Parquet or NumPy file",
		"x,\"y\n":                           "a.csv line 2: a quoted field is never closed",
		"PK\x03\x04 and more":               "cannot read a.csv: zip: not a valid zip file",
		"PAR1 and more, but not a footer":   "cannot read a.csv: this is a Parquet file; the program must import utvi/table/parquet to read it",
		"\x93NUMPY\x01\x00":                 "cannot read a.csv: the file is truncated",
		"\x1f\x8b\x08\x00\x00\x00\x00\x00x": "cannot read a.csv: the compressed file is truncated",
		"\x1f\x8bgarbage":                   "cannot read a.csv: the compressed file is damaged",
		"\x1f\x8bgarbage, and more of it":   "cannot read a.csv: the compressed file is damaged",
		"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03garbage": "cannot read a.csv: the compressed file is damaged",
	} {
		_, err := dumpText(t, text, "a.csv", Options{})
		if err == nil || err.Error() != want {
			t.Errorf("%q: got\n%v, want\n%s", text, err, want)
		}
	}
	for path, want := range map[string]string{
		"/none/x.csv": "cannot read /none/x.csv: no such file or directory",
		t.TempDir():   "it is a folder",
	} {
		if _, err := Open(path, Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestGzip(t *testing.T) {
	var z bytes.Buffer
	w := gzip.NewWriter(&z)
	for i := range 100_000 {
		fmt.Fprintf(w, "%d\t%d\n", i, i*7%10007)
	}
	w.Close()
	path := filepath.Join(t.TempDir(), "a.tsv.gz")
	if err := os.WriteFile(path, z.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	r, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	f, err := Load(r)
	if err != nil || f.Len() != 100_000 {
		t.Fatal(f.Len(), err)
	}
	c, row := f.At(98_765)
	if _, v := c.Cell(row, 1); v != 98_765*7%10007 || c.Line(row) != 98_766 {
		t.Errorf("row 98765 holds %v from line %d", v, c.Line(row))
	}
	for _, cut := range []int{len(z.Bytes()) / 2, len(z.Bytes()) - 4} {
		os.WriteFile(path, z.Bytes()[:cut], 0o644)
		r, err := Open(path, Options{})
		if err == nil {
			_, err = Load(r)
			r.Close()
		}
		if want := "cannot read " + path + ": the compressed file is truncated"; err == nil || err.Error() != want {
			t.Errorf("cut: got %v, want %s", err, want)
		}
	}
}

// Blocks end anywhere, rows come whole and in order, with their lines, whatever
// the number of workers; identifiers keep the way they are written.
func TestBlocks(t *testing.T) {
	var text, want strings.Builder
	text.WriteString("id,x,s\n")
	line := 2
	for i := range 3000 {
		s := strings.Repeat("ab\"\"\n", i%5)
		fmt.Fprintf(&text, "%05d,%d.5,\"%s\"\r\n", i, i, s)
		fmt.Fprintf(&want, "%d %05d %d.5 %q\n", line, i, i, strings.TrimSpace(strings.ReplaceAll(s, `""`, `"`)))
		line += 1 + i%5
		if i%7 == 0 {
			text.WriteString("\n")
			line++
		}
	}
	for _, workers := range []int{1, 3} {
		for _, size := range []int{60, 1000, 1 << 20} {
			pool := compute.NewPool(workers)
			r, err := NewReader(strings.NewReader(text.String()), "a.csv", Options{Pool: pool})
			if err != nil {
				t.Fatal(err)
			}
			r.rows.(*csvRows).size = size
			var got strings.Builder
			err = Each(r, func(c *Chunk) error {
				for i := range c.Rows() {
					fmt.Fprintf(&got, "%d %s %s %q\n", c.Line(i), c.Text(i, 0), c.Text(i, 1), c.Text(i, 2))
				}
				return nil
			})
			if err != nil || got.String() != want.String() {
				t.Fatalf("%d workers, blocks of %d: %v, %d bytes, want %d", workers, size, err, got.Len(), want.Len())
			}
			pool.Close()
		}
	}
}

func TestLongRecord(t *testing.T) {
	endless := io.MultiReader(strings.NewReader("x,y\n1,2\n3,\""), io.LimitReader(newAgain([]byte("\nno quote\n"), 1<<30), 1<<30))
	r, err := NewReader(endless, "a.csv", Options{})
	if err == nil {
		_, err = Load(r)
	}
	if want := `a.csv: a row is longer than 16 MiB; is a quote (") not closed?`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestReadFails(t *testing.T) {
	broken := errors.New("the disk is on fire")
	for _, rows := range []int{0, 300_000} {
		src := io.MultiReader(strings.NewReader("x,y\n"+strings.Repeat("1,2\n", rows)), failing{broken})
		r, err := NewReader(src, "a.csv", Options{})
		if err == nil {
			_, err = Load(r)
		}
		if want := "cannot read a.csv: the disk is on fire"; err == nil || err.Error() != want || !errors.Is(err, broken) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

func utf16Text(s string, big bool) string {
	var b []byte
	for _, u := range utf16.Encode([]rune(s)) {
		if big {
			b = append(b, byte(u>>8), byte(u))
		} else {
			b = append(b, byte(u), byte(u>>8))
		}
	}
	return string(b)
}

// TestEncodings names encodings, and finds Latin-1 behind a long start in ASCII.
func TestEncodings(t *testing.T) {
	long := "x,y\n" + strings.Repeat("1,a\n", sniffSize/4) + "2,M\xfcller\n"
	if _, err := dumpText(t, long, "a.csv", Options{}); err == nil || !strings.Contains(err.Error(), "is not text in UTF-8; name the encoding") {
		t.Error(err)
	}
	got, err := dumpText(t, long, "a.csv", Options{Encoding: latin1})
	if err != nil || !strings.Contains(got, "Müller") {
		t.Error(err)
	}
	for name, want := range map[string]Encoding{"auto": "", "UTF8": utf8Text, "cp1252": latin1, "utf-16": utf16LE} {
		if e, err := ParseEncoding(name); e != want || err != nil {
			t.Errorf("%s is %q, %v", name, e, err)
		}
	}
	if _, err := ParseEncoding("ebcdic"); err == nil {
		t.Error("an unknown encoding passed")
	}
}
