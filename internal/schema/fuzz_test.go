package schema

import (
	"io"
	"strings"
	"testing"

	"utvi/table"
)

// FuzzCells infers a column of any cells: what was learned from rows must read them again,
// as finite numbers.
func FuzzCells(f *testing.F) {
	for _, s := range []string{"1,5\n2\n3", "$1\n-\n$3", "2026-01-01\n2026-02-30\n-", "NA\nDE\nUS\nFR", "1/2/2026\n3/4/2026\n13/4/2026", "12 %\n0\n3%", "(1)\n−2\n+3", "1e400\n1\n2", "9e15\n9e15\n1", "23:59\n00:00\n", "01067\n10115\n007", "01\n1.5\n2", "2026-01-02\n3.1.2026\nx", "5 kg\n6 g\n7"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		b := table.NewBuilder(&table.Header{File: "f", Columns: []string{"c", "x", "y"}, Named: true})
		lines := strings.Split(text, "\n")
		for i, s := range lines[:min(len(lines), 100)] {
			b.Parse(s)
			b.Number(float64(i * i % 7))
			b.Number(float64(i))
		}
		c, err := b.Chunk()
		if err != nil {
			return
		}
		frame, err := table.Load(&once{chunk: c})
		if err != nil {
			t.Fatal(err)
		}
		s, err := Infer(frame.Rows(nil), Spec{Targets: []string{"y"}, Impute: true})
		if err != nil {
			return
		}
		set, err := s.Encode(frame.Rows(nil))
		if err != nil {
			t.Fatalf("%q: learned as %+v, but: %v", text, s.Columns[0], err)
		}
		for _, v := range set.X.Mean {
			if v-v != 0 {
				t.Fatalf("%q: encoded as %v", text, set.X.Mean)
			}
		}
	})
}

// once is a source of one chunk.
type once struct {
	chunk *table.Chunk
	done  bool
}

func (o *once) Header() *table.Header { return o.chunk.Header() }

func (o *once) Next() (*table.Chunk, error) {
	if o.done || o.chunk.Rows() == 0 {
		return nil, io.EOF
	}
	o.done = true
	return o.chunk, nil
}
