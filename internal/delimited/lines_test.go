package delimited

import (
	"encoding/csv"
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
