package table

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

func TestLines(t *testing.T) {
	l := Lines{Digits: 6}
	for _, s := range []string{"id", "mean", "n"} {
		l.Text(s)
	}
	l.End()
	l.Text(`a "b", c`)
	l.Float(1234567.89)
	l.Int(-3)
	l.End()
	l.Text("x\ny")
	l.Float(math.NaN())
	l.Float(0.1)
	l.End()
	var b strings.Builder
	if err := l.Flush(&b); err != nil {
		t.Fatal(err)
	}
	if want := "id,mean,n\n\"a \"\"b\"\", c\",1.23457e+06,-3\n\"x\ny\",,0.1\n"; b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
	rows, err := csv.NewReader(strings.NewReader(b.String())).ReadAll()
	if err != nil || !slices.Equal(rows[1], []string{`a "b", c`, "1.23457e+06", "-3"}) {
		t.Errorf("reads as %q, %v", rows, err)
	}
	b.Reset()
	short := Lines{Delimiter: '\t'}
	short.Float(float64(float32(0.1)))
	short.Float(1e300)
	short.Float(math.Inf(-1))
	short.End()
	short.Flush(&b)
	short.Flush(&b) // nothing is left
	if want := "0.1\t1e+300\t-Inf\n"; b.String() != want {
		t.Errorf("got %q, want %q", b.String(), want)
	}
}

func TestParquetOutput(t *testing.T) {
	var b bytes.Buffer
	p, err := NewParquet(&b, []string{"z", "name", "a"}, map[string]bool{"name": true})
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
	_, err = NewParquet(&b, []string{"a", "b", "a"}, nil)
	wantError(t, "twice", err, "the output: columns 1 and 3 are both named a; names must differ")
}
