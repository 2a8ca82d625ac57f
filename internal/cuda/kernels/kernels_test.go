package kernels_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"utvi/internal/cuda/kernels"
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

// NVIDIA's assembler accepts the text of every kernel: no symbol is missing.
func TestAssembles(t *testing.T) {
	if !kernels.Embedded {
		t.Skip("not run: this program embeds no kernels, for it cannot call a driver")
	}
	for _, x := range []struct {
		text kernels.Text
		arch string
	}{{kernels.Base, "sm_75"}, {kernels.Sensed, "sm_75"}, {kernels.Tensor, "sm_80"}, {kernels.Fused, "sm_80"}, {kernels.DenseNet, "sm_90"}, {kernels.Hopper, "sm_90a"}, {kernels.ManyDense, "sm_90a"}} {
		for name := range x.text.Kernels() {
			t.Run(name, func(t *testing.T) { assemble(t, x.text, name, "-arch="+x.arch, "-O0") })
		}
	}
}

// In the pass of a crowd, products are under way while threads compute. An assembler that cannot follow them makes each wait for
// the one before, and only says so.
func TestAssemblesInParallel(t *testing.T) {
	for _, name := range []string{"crowd_three", "crowd_exact", "crowd_three_one", "crowd_exact_one"} {
		t.Run(name, func(t *testing.T) {
			if said := assemble(t, kernels.ManyDense, name, "-arch=sm_90a", "-v"); strings.Contains(said, "serialized") {
				t.Error(said)
			}
		})
	}
}

// assemble returns what NVIDIA's assembler says about a kernel, beside other tests.
func assemble(t *testing.T, text kernels.Text, name string, flags ...string) string {
	ptxas := os.Getenv("UTVI_PTXAS")
	if ptxas == "" {
		t.Skip("not run: there is no assembler; set UTVI_PTXAS to NVIDIA's ptxas")
	}
	t.Parallel()
	ptx, err := text.Kernel(name)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), name+".ptx")
	if err := os.WriteFile(file, ptx, 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), ptxas, append(flags, file, "-o", os.DevNull)...).CombinedOutput()
	if strings.Contains(string(out), "Unsupported .version") {
		t.Skipf("not checked: the assembler is too old: %s", out)
	} else if err != nil {
		t.Errorf("%v: %s", err, out)
	}
	return string(out)
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

// A program without support for cards carries no PTX, and one with support carries all of it.
func TestEmbeddedOnlyWithCards(t *testing.T) {
	embedded := func(env string, flags ...string) (names []string) {
		cmd := exec.CommandContext(t.Context(), "go", append(append([]string{"list"}, flags...), "-deps", "-f", "{{range .EmbedFiles}}{{println .}}{{end}}", "utvi/cmd/utvi")...)
		cmd.Env = append(os.Environ(), "GOARCH=amd64", env)
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("go list: %v", err)
		}
		for _, name := range strings.Fields(string(out)) {
			if strings.HasSuffix(name, ".ptx") {
				names = append(names, name)
			}
		}
		return names
	}
	if with := embedded("GOOS=linux"); len(with) != len(source.Targets) {
		t.Errorf("a program for Linux embeds %q; want all %d texts", with, len(source.Targets))
	}
	if without := embedded("GOOS=linux", "-tags=nocuda"); len(without) > 0 {
		t.Errorf("with the tag nocuda, the command embeds %q", without)
	}
	if other := embedded("GOOS=darwin"); len(other) > 0 {
		t.Errorf("for a system that calls no driver, the command embeds %q", other)
	}
}
