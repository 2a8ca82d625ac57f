package parquet_test

import (
	"bytes"
	"io"
	"runtime"
	"strings"
	"testing"

	pq "github.com/parquet-go/parquet-go"

	"utvi/table"
)

// FuzzParquet reads damaged files: whatever the bytes are, an error is one sentence.
func FuzzParquet(f *testing.F) {
	type row struct {
		X float64  `parquet:"x"`
		S string   `parquet:"s"`
		N *int32   `parquet:"n,optional"`
		L []string `parquet:"l,list"`
	}
	n := int32(3)
	for _, rows := range [][]row{{}, {{1, "a", &n, nil}, {2, "b", nil, []string{"c"}}}} {
		var b bytes.Buffer
		w := pq.NewGenericWriter[row](&b)
		w.Write(rows)
		w.Close()
		f.Add(b.Bytes())
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := table.NewReader(bytes.NewReader(append([]byte("PAR1"), bytes.TrimPrefix(data, []byte("PAR1"))...)), "a.parquet", table.Options{})
		for err == nil {
			var c *table.Chunk
			c, err = r.Next()
			if err == nil && c.Rows() == 0 {
				t.Fatal("an empty chunk")
			}
		}
		if r != nil {
			r.Close()
		}
		if text := err.Error(); err != io.EOF && (text == "" || strings.ContainsAny(text, "\n\x00") || len(text) > 2000) {
			t.Fatalf("the error is %q", text)
		}
	})
}

// A footer that is longer than the file is refused before memory is taken for it: 4 GB here.
func TestForgedFooter(t *testing.T) {
	data := append([]byte("PAR1"), make([]byte, 100)...)
	data = append(data, 0xff, 0xff, 0xff, 0xff)
	data = append(data, "PAR1"...)
	_, err := table.NewReader(bytes.NewReader(data), "a.parquet", table.Options{})
	if err == nil || err.Error() != "cannot read a.parquet: the Parquet file is damaged" {
		t.Error(err)
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	if m.HeapSys > 1<<30 {
		t.Errorf("%d MB were taken", m.HeapSys>>20)
	}
}
