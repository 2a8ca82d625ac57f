package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Within ulimit -v, a command runs, is refused in a sentence, or ends with a line of the runtime:
// nobody sees the stacks of goroutines.
func TestLimitOfAddresses(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program")
	}
	program := filepath.Join(t.TempDir(), "utvi")
	if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	run := func(kib string, args ...string) (string, error) {
		cmd := exec.Command("sh", append([]string{"-c", "ulimit -v " + kib + " && exec \"$@\"", "sh", program}, args...)...)
		cmd.Dir = t.TempDir()
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if out, err := run("4000000", "version"); err != nil || !strings.Contains(out, "kernels") {
		t.Errorf("with 4 GB: %v, %s", err, out)
	}
	out, err := run("1800000", "version")
	if err == nil || !strings.HasPrefix(out, "utvi: the limit of addresses (ulimit -v) leaves ") || strings.Count(out, "\n") != 1 {
		t.Errorf("with 1.8 GB: %v, %s", err, out)
	}
	rows := filepath.Join(t.TempDir(), "rows.csv")
	f, err := os.Create(rows)
	if err != nil {
		t.Fatal(err)
	}
	f.WriteString("x,y\n")
	for range 3_000_000 {
		f.WriteString("1.2345678,2.3456789\n")
	}
	f.Close()
	out, err = run("2300000", "fit", rows, "--target", "y", "--steps", "20", "--ensemble", "1")
	if strings.Contains(out, "goroutine ") || strings.Contains(out, "runtime stack") || err == nil {
		t.Errorf("with a table that does not fit: %v, %s", err, out)
	}
}
