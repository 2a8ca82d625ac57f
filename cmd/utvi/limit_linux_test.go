package main

import (
	"fmt"
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
	if out, err := run("2200000", "version"); err != nil { // the C library reserves nothing for threads
		t.Errorf("with 2.2 GB: %v, %s", err, out)
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

// In a control group a fit makes do with what there is, or ends with a sentence: it is not killed.
func TestLimitOfGroup(t *testing.T) {
	rows := filepath.Join(t.TempDir(), "rows.csv")
	if err := os.WriteFile(rows, []byte("x,y\n"+numbers(60)), 0o600); err != nil {
		t.Fatal(err)
	}
	group := newGroup(t)
	for _, c := range []struct{ mib, width, says string }{
		{"120", "16", "Wrote "},
		{"64", "2048", "utvi: to train a network of width 2048 and depth 3 takes more than 320 MiB of memory, and "},
		{"36", "128", "utvi: out of memory: more than the "},
		{"24", "16", "utvi: a control group or ulimit -v leaves "},
	} {
		if err := os.WriteFile(group.limit, []byte(c.mib+"M"), 0o600); err != nil {
			t.Skip("the limit of a control group cannot be set:", err)
		}
		cmd := exec.Command("sh", "-c", `echo $$ >"$0" && exec "$@"`, group.processes, binary, "fit", rows, "--target", "y", "--report", "none", "--fresh")
		cmd.Args = append(cmd.Args, quickly...)
		cmd.Args = append(cmd.Args, "--depth", "3", "--width", c.width)
		cmd.Env = append(os.Environ(), "GOMAXPROCS=2") // each worker has room of its own
		cmd.Dir = t.TempDir()
		out, err := cmd.CombinedOutput()
		lines := strings.Split(strings.TrimSpace(string(out)), "\n")
		if last := lines[len(lines)-1]; (err == nil) != (c.says == "Wrote ") || !strings.HasPrefix(last, c.says) {
			t.Errorf("with %s MiB: %v, %s", c.mib, err, out)
		}
	}
}

// A controlGroup is the files of a control group: its processes, and its limit of memory.
type controlGroup struct{ processes, limit string }

// newGroup makes a control group, of either version. Only root can, and not in every container.
func newGroup(t *testing.T) controlGroup {
	for mount, limit := range map[string]string{"/sys/fs/cgroup/memory": "memory.limit_in_bytes", "/sys/fs/cgroup": "memory.max"} {
		dir := filepath.Join(mount, fmt.Sprintf("utvi-test-%d", os.Getpid()))
		if os.Mkdir(dir, 0o700) != nil {
			continue
		}
		t.Cleanup(func() { os.Remove(dir) })
		if _, err := os.Stat(filepath.Join(dir, limit)); err == nil {
			return controlGroup{filepath.Join(dir, "cgroup.procs"), filepath.Join(dir, limit)}
		}
	}
	t.Skip("no control group of memory can be made here; it takes root")
	return controlGroup{}
}
