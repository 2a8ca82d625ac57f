package main

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"utvi/examples/internal/show"
)

// A small run goes through all of the program, and writes its figure and its files.
func TestRun(t *testing.T) {
	o := show.Options{Folder: t.TempDir(), Save: true, Out: io.Discard}
	if err := run(size{rows: 32, steps: 2, test: 2}, o); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"sequence.png", "sequence.safetensors", "sequence-test.safetensors"} {
		if _, err := os.Stat(filepath.Join(o.Folder, name)); err != nil {
			t.Error(err)
		}
	}
}
