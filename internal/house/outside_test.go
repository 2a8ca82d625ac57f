package house

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The program in docs/library.md compiles and runs in another module, by both of the ways
// that are named there.
func TestUseFromAnotherModule(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles another module")
	}
	text, err := os.ReadFile(filepath.Join(root, "docs/library.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, program, _ := strings.Cut(string(text), "```go\n")
	program, _, found := strings.Cut(program, "```")
	_, want, told := strings.Cut(program, "out.Var) // ")
	want, _, _ = strings.Cut(want, "\n")
	if !found || !told {
		t.Fatal("docs/library.md has no such program")
	}
	here, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	sums, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	for name, steps := range map[string][][]string{
		"workspace": {{"work", "init", ".", here}, {"run", "."}},
		"replace":   {{"mod", "edit", "-require", "utvi@v0.0.0", "-replace", "utvi=" + here}, {"run", "-mod=mod", "."}},
	} {
		dir := t.TempDir()
		run := func(args ...string) string {
			cmd := exec.Command("go", args...)
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=")
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Errorf("%s: go %s: %v\n%s", name, strings.Join(args, " "), err, out)
			}
			return string(out)
		}
		if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(program), 0o666); err != nil {
			t.Fatal(err)
		}
		run("mod", "init", "example.com/mine")
		if err := os.WriteFile(filepath.Join(dir, "go.sum"), sums, 0o666); err != nil {
			t.Fatal(err)
		}
		var out string
		for _, s := range steps {
			out = run(s...)
		}
		if strings.TrimSpace(out) != want {
			t.Errorf("%s: the program prints %q, want %q", name, out, want)
		}
	}
}
