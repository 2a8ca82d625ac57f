package parquet_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	pq "github.com/parquet-go/parquet-go"

	"utvi/table"
	"utvi/table/parquet"
)

// dumpBytes reads a file's bytes twice: as a file, and as a stream that cannot be
// sought. Both must agree.
func dumpBytes(t *testing.T, name string, data []byte) (string, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	read := func(open func() (*table.Reader, error)) (string, error) {
		r, err := open()
		if err != nil {
			return "", err
		}
		defer r.Close()
		return dump(r)
	}
	file, fileErr := read(func() (*table.Reader, error) { return table.Open(path, table.Options{}) })
	stream, streamErr := read(func() (*table.Reader, error) {
		return table.NewReader(io.MultiReader(bytes.NewReader(data)), path, table.Options{})
	})
	var z bytes.Buffer
	w := gzip.NewWriter(&z)
	w.Write(data)
	w.Close()
	zipped, zippedErr := read(func() (*table.Reader, error) { return table.NewReader(&z, path, table.Options{}) })
	if file != stream || file != zipped || fmt.Sprint(fileErr) != fmt.Sprint(streamErr) || fmt.Sprint(fileErr) != fmt.Sprint(zippedErr) {
		t.Errorf("the file gives\n%s%v, the stream\n%s%v, compressed\n%s%v", file, fileErr, stream, streamErr, zipped, zippedErr)
	}
	if fileErr != nil {
		fileErr = fmt.Errorf("%s", strings.ReplaceAll(fileErr.Error(), path, name))
	}
	return file, fileErr
}

func dump(r *table.Reader) (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", strings.Join(r.Header().Columns, "|"))
	for {
		c, err := r.Next()
		if err == io.EOF {
			return b.String(), nil
		}
		if err != nil {
			return b.String(), err
		}
		for row := range c.Rows() {
			fmt.Fprintf(&b, "%d:", c.Line(row))
			for col := range r.Header().Columns {
				switch k, v := c.Cell(row, col); k {
				case table.Number:
					fmt.Fprintf(&b, " %v", v)
				case table.Text:
					fmt.Fprintf(&b, " %q", c.Text(row, col))
				default:
					b.WriteString(" _")
				}
			}
			b.WriteString("\n")
		}
	}
}

type record struct {
	Z     float64 `parquet:"z"`
	A     int64   `parquet:"a"`
	Name  string  `parquet:"name,optional"`
	Flag  bool    `parquet:"flag"`
	Small float32 `parquet:"small"`
	Money int64   `parquet:"money,decimal(2:10)"`
	Maybe *int32  `parquet:"maybe,optional"`
	Count uint32  `parquet:"count"`
}

func TestParquet(t *testing.T) {
	five := int32(5)
	var b bytes.Buffer
	w := pq.NewGenericWriter[record](&b)
	w.Write([]record{{1.5, 1<<53 + 1, "red, green", true, .25, -1234, &five, 1 << 31}})
	w.Flush() // a second row group
	w.Write([]record{{math.NaN(), -7, "", false, 0, 5, nil, 3}, {-2, 8, "12", false, 1, 0, nil, 4}})
	w.Close()
	got, err := dumpBytes(t, "a.parquet", b.Bytes())
	want := "z|a|name|flag|small|money|maybe|count\n" +
		"1: 1.5 \"9007199254740993\" \"red, green\" \"true\" 0.25 -12.34 5 2.147483648e+09\n" +
		"2: _ -7 _ \"false\" 0 0.05 _ 3\n" +
		"3: -2 8 12 \"false\" 1 0 _ 4\n"
	if err != nil || got != want {
		t.Errorf("%v\n%swant\n%s", err, got, want)
	}
	data := b.Bytes()
	for _, cut := range []int{len(data) - 5, len(data) / 2} {
		if got, err := dumpBytes(t, "a.parquet", data[:cut]); err == nil || !strings.Contains(err.Error(), "cannot read a.parquet: the Parquet file is damaged") {
			t.Errorf("cut: %s %v", got, err)
		}
	}
	for i := 0; i < len(data); i += 173 { // damage anywhere is an error or other values, never a panic
		bad := bytes.Clone(data)
		bad[i] ^= 0x55
		if r, err := table.NewReader(bytes.NewReader(bad), "a", table.Options{Header: table.WithHeader}); err == nil {
			dump(r)
			r.Close()
		}
	}
}

func TestParquetNested(t *testing.T) {
	var b bytes.Buffer
	w := pq.NewGenericWriter[struct {
		X float64   `parquet:"x"`
		L []float64 `parquet:"l,list"`
	}](&b)
	w.Close()
	_, err := dumpBytes(t, "a.parquet", b.Bytes())
	if want := "cannot read a.parquet: column l: the file holds lists or groups; plain columns are needed"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	b.Reset()
	bad := pq.NewGenericWriter[struct{ X string }](&b)
	bad.Write([]struct{ X string }{{"a"}, {"\xff"}})
	bad.Close()
	_, err = dumpBytes(t, "a.parquet", b.Bytes())
	if want := `a.parquet row 2, column X: "\xff" is not text in UTF-8`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	b.Reset()
	pq.NewGenericWriter[struct{ X float64 }](&b).Close()
	if _, err := dumpBytes(t, "a.parquet", b.Bytes()); err == nil || err.Error() != "a.parquet has no rows, only the names of columns" {
		t.Errorf("got %v", err)
	}
}

func TestParquetOutput(t *testing.T) {
	var b bytes.Buffer
	p, err := parquet.NewWriter(&b, []string{"z", "name", "a"}, map[string]bool{"name": true})
	if err != nil {
		t.Fatal(err)
	}
	var want strings.Builder
	want.WriteString("z|name|a\n")
	for i := range 3000 {
		p.Float(float64(i) / 2)
		p.Text(fmt.Sprintf("n%d, ü", i))
		if i%2 == 0 {
			p.Float(math.NaN())
			fmt.Fprintf(&want, "%d: %v \"n%d, ü\" _\n", i+1, float64(i)/2, i)
		} else {
			p.Int(-i)
			fmt.Fprintf(&want, "%d: %v \"n%d, ü\" -%d\n", i+1, float64(i)/2, i, i)
		}
		p.End()
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	got, err := dumpBytes(t, "a.parquet", b.Bytes())
	if err != nil || got != want.String() {
		t.Errorf("%v: got\n%.200s\nwant\n%.200s", err, got, want.String())
	}
	_, err = parquet.NewWriter(&b, []string{"a", "b", "a"}, nil)
	if want := "the output: columns 1 and 3 are both named a; names must differ"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
