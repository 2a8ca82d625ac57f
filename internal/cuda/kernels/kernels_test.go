package kernels_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
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

// NVIDIA's assembler accepts every text without a symbol that is missing.
func TestAssembles(t *testing.T) {
	ptxas := os.Getenv("UTVI_PTXAS")
	if ptxas == "" {
		t.Skip("not run: there is no assembler; set UTVI_PTXAS to NVIDIA's ptxas")
	}
	for _, x := range source.Targets {
		if x.PTX == "formula.ptx" {
			continue // its functions are missing: package gpu assembles it with them
		}
		out, err := exec.CommandContext(t.Context(), ptxas, "-arch="+x.Arch, "-O0", x.PTX, "-o", os.DevNull).CombinedOutput()
		if strings.Contains(string(out), "Unsupported .version") {
			t.Logf("%s is not checked: the assembler is too old: %s", x.PTX, out)
		} else if err != nil {
			t.Errorf("%s: %v: %s", x.PTX, err, out)
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
