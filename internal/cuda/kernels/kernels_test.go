package kernels_test

import (
	"os"
	"path/filepath"
	"testing"

	"utvi/internal/cuda/kernels/source"
)

// Every PTX file is what its source, as it stands, compiles to.
func TestPTXMatchesItsSource(t *testing.T) {
	for _, x := range source.Targets {
		if err := source.Check(".", x); err != nil {
			t.Error(err)
		}
	}
}

// The check notices a changed source and an edited text.
func TestStalePTXIsNoticed(t *testing.T) {
	for _, bend := range []string{"math.h", "base.ptx"} {
		dir := t.TempDir()
		if err := os.CopyFS(dir, os.DirFS(".")); err != nil {
			t.Fatal(err)
		}
		f, err := os.OpenFile(filepath.Join(dir, bend), os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		f.WriteString("\n// changed\n")
		f.Close()
		if err := source.Check(dir, source.Targets[0]); err == nil {
			t.Errorf("a changed %s is not noticed", bend)
		}
	}
}
