package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The number of rows follows from the start of a file, which is a part of it here.
func TestEstimateRows(t *testing.T) {
	const rows = 200_000
	var text bytes.Buffer
	text.WriteString("x,y\n")
	for i := range rows {
		fmt.Fprintf(&text, "%06d,%d.5\n", i*7919%1000003, i%7)
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	z.Write(text.Bytes())
	z.Close()
	dir := t.TempDir()
	for name, b := range map[string][]byte{"a.csv": text.Bytes(), "a.csv.gz": packed.Bytes()} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, b, 0o644); err != nil {
			t.Fatal(err)
		}
		if got := estimateRows(path); math.Abs(float64(got)/rows-1) > 0.03 {
			t.Errorf("%s: %d rows of %d", name, got, rows)
		}
	}
	binary := filepath.Join(dir, "a.npy")
	os.WriteFile(binary, []byte("\x93NUMPY\x01\x00\n\n"), 0o644)
	for _, path := range []string{"-", binary, dir, filepath.Join(dir, "none")} {
		if got := estimateRows(path); got != 0 {
			t.Errorf("%s: %d rows; they cannot be known", path, got)
		}
	}
}

func TestRowProgress(t *testing.T) {
	p := &rowProgress{one: "row", many: "rows", all: 1000, fifth: 1}
	p.Done(250)
	if got, want := p.text(10*time.Second), "250 rows done, 25 %, 30s left"; got != want {
		t.Errorf("%q, not %q", got, want)
	}
	now := time.Now()
	p.spoke = now
	if !p.due(now) || p.due(now) {
		t.Error("a fifth of the work is not told once")
	}
	if p.due(now.Add(longSilence-1)) || !p.due(now.Add(longSilence)) {
		t.Error("a long silence is not broken")
	}
	p.Done(750)
	if got := p.text(40 * time.Second); !strings.Contains(got, "99 %") {
		t.Errorf("%q before the end of the table", got)
	}
	p = &rowProgress{one: "row", many: "rows"}
	p.Done(1)
	if got, want := p.text(10*time.Second), "1 row done"; got != want {
		t.Errorf("%q, not %q", got, want)
	}
}

// Short work is not commented on.
func TestRowProgressStartsQuietly(t *testing.T) {
	var b bytes.Buffer
	p := newRowProgress(&b, nil, 10)
	p.Done(9)
	p.close()
	if b.Len() > 0 {
		t.Errorf("%q was written", b.String())
	}
}
