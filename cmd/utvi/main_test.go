package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"utvi/internal/compute"
)

// binary is the program, built once.
var binary string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "utvi-test-")
	if err != nil {
		panic(err)
	}
	binary = filepath.Join(dir, "utvi")
	if runtime.GOOS == "windows" {
		binary += ".exe"
	}
	if out, err := exec.Command("go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
		panic(string(out))
	}
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

func utvi(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), binary, args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		code = exit.ExitCode()
	} else if err != nil {
		t.Fatal(err)
	}
	return code, out.String(), errs.String()
}

// What the user gets wrong is answered in one line that says what would be
// right.
func TestMisuse(t *testing.T) {
	for _, c := range []struct{ args, says string }{
		{"nosuch", `unknown command "nosuch"; the commands are bayes, bench, `},
		{"help nosuch", `unknown command "nosuch"; the commands are bayes, bench, `},
		{"help moments extra", `unknown command "moments extra"`},
		{"bench --batches x", `--batches takes whole numbers separated by commas, not "x"`},
		{"bench --threads 0", "--threads has 0; it must be between 1 and 1024"},
		{"bench serve --windows 0", "--windows is 0; it must be at least 1"},
		{"bench serve --window 1ns", "--window is 1ns; it must be at least 10ms"},
		{"moments --rule mc --samples 1000000000000", "--samples is 1000000000000; it must be at most 10000000"},
		{"reproduce --out=", "--out is empty"},
		{"nosuch --flag", `unknown command "nosuch"`},
		{"--nosuch", "unknown flag --nosuch"},
		{"moments --nosuch 1", "unknown flag --nosuch; utvi moments takes --fn --slope "},
		{"moments -x", "unknown flag -x"},
		{"moments extra", `unexpected argument "extra"`},
		{"version extra", `unexpected argument "extra"`},
		{"moments --mean", "--mean needs a number"},
		{"moments --mean zero", `--mean takes a number, not "zero"`},
		{"moments --rule gh --order 2.5", `--order takes a whole number, not "2.5"`},
		{"moments --rule mc --seed -1", `--seed takes a whole number ≥ 0`},
		{"moments --var -1", "the variance is -1; it must be a finite number ≥ 0"},
		{"moments --var NaN", "the variance is NaN"},
		{"moments --var Inf", "the variance is +Inf"},
		{"moments --mean NaN", "the mean is NaN"},
		{"moments --mean -Inf", "the mean is -Inf"},
		{"moments --fn nosuch", "tanh"},
		{"moments --rule nosuch", `unknown rule "nosuch"; choose from ut, gh, genut, mc, linear, exact`},
		{"moments --kappa -1", "κ is -1"},
		{"moments --kappa NaN", "κ is NaN"},
		{"moments --rule gh --order 1", "the order is 1; it must be 2 to 32"},
		{"moments --rule mc --samples 1", "at least 2"},
		{"moments --rule genut --skew 2", "kurtosis must be at least"},
		{"moments --rule exact --fn tanh", "no closed form is known for tanh"},
		{"moments --order 3", "--order works with --rule gh only, not with ut"},
		{"moments --rule gh --kappa 2", "--kappa works with --rule ut only, not with gh"},
		{"moments --seed 3", "--seed works with --rule mc only, not with ut"},
		{"moments --slope 0.1", "--slope works with --fn leaky-relu only, not with tanh"},
		{"moments --fn leaky-relu --alpha 1", "--alpha works with --fn elu only"},
		{"moments --fn leaky-relu --slope NaN", "finite number"},
		{"moments --plot x.gif", "figures are .svg, .png or .pdf, not .gif"},
		{"moments --plot x", "no extension"},
		{"moments --plot=", "no extension"},
		{"reproduce nosuch", `unknown experiment "nosuch"; choose from fc`},
		{"reproduce fc fc", "one experiment"},
		{"reproduce --preset huge", `there is no preset "huge"; the presets are tiny, quick, paper`},
		{"reproduce --steps 0", "--steps is 0; it must be at least 1"},
		{"reproduce --replicates -2", "--replicates is -2; it must be at least 1"},
	} {
		code, out, errs := utvi(t, strings.Fields(c.args)...)
		if code != 2 || out != "" || strings.Count(errs, "\n") != 1 || !strings.Contains(errs, c.says) {
			t.Errorf("utvi %s: exit %d, stdout %q, stderr %q; want exit 2 and one line with %q", c.args, code, out, errs, c.says)
		}
	}
}

// What fails for other reasons is one sentence, too.
func TestFailure(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"moments", "--fn", "exp", "--mean", "700", "--var", "100"},
		{"moments", "--plot", filepath.Join(file, "x.svg")},
		{"reproduce", "--out", file},
	} {
		code, out, errs := utvi(t, args...)
		if code != 1 || out != "" || strings.Count(errs, "\n") != 1 {
			t.Errorf("utvi %v: exit %d, stdout %q, stderr %q; want exit 1 and one line", args, code, out, errs)
		}
	}
}

func TestPanicIsOneLine(t *testing.T) {
	var out, errs bytes.Buffer
	code := run(t.Context(), &cobra.Command{RunE: func(*cobra.Command, []string) error { panic("two\nlines") }}, nil, &out, &errs)
	if code != 1 || errs.String() != "utvi: internal error: two lines (UTVI_DEBUG=1 shows where)\n" {
		t.Errorf("exit %d, stderr %q", code, errs.String())
	}
}

// The stack of a worker, which the pool adds to its panic, is for UTVI_DEBUG=1 only.
func TestPanicOfWorkerIsShort(t *testing.T) {
	root := func() *cobra.Command {
		return &cobra.Command{RunE: func(*cobra.Command, []string) error {
			panic(&compute.TaskPanic{Value: "of a task", Stack: []byte("goroutine 7\n")})
		}}
	}
	const want = "utvi: internal error: of a task (UTVI_DEBUG=1 shows where)\n"
	var out, errs bytes.Buffer
	if code := run(t.Context(), root(), nil, &out, &errs); code != 1 || errs.String() != want {
		t.Errorf("exit %d, stderr %q", code, errs.String())
	}
	t.Setenv("UTVI_DEBUG", "1")
	errs.Reset()
	if run(t.Context(), root(), nil, &out, &errs); errs.String() != want+"goroutine 7\n" {
		t.Errorf("stderr %q", errs.String())
	}
}

// What is printed line by line does not get lost in silence.
func TestFullOutput(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer full.Close()
	for _, args := range []string{"devices", "version", "moments --json", "example table", "--help"} {
		cmd := exec.CommandContext(t.Context(), binary, strings.Fields(args)...)
		var errs bytes.Buffer
		cmd.Stdout, cmd.Stderr = full, &errs
		err := cmd.Run()
		if e, ok := errors.AsType[*exec.ExitError](err); !ok || e.ExitCode() != 1 || errs.String() != "utvi: cannot write to standard output: no space left on device\n" {
			t.Errorf("utvi %s: %v, stderr %q", args, err, errs.String())
		}
	}
}

// Every command makes the folder of the file it writes.
func TestMakesFolders(t *testing.T) {
	dir := t.TempDir()
	spec := filepath.Join(dir, "study.yaml")
	if err := os.WriteFile(spec, []byte("kind: fc\nbase: {seed: 1, steps: 9, rule: ut(2)}\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	in := func(name string) string { return filepath.Join(dir, "new", name) }
	for _, c := range [][]string{
		{in("a/table.csv"), "example", "table", "--rows", "5", "-o"},
		{in("b/c/plan.json"), "sweep", "plan", spec, "-o"},
		{in("d/plan.json"), "reproduce", "fc", "--preset", "tiny", "--plan"},
		{in("e/tanh.svg"), "moments", "--plot"},
	} {
		if code, _, errs := utvi(t, append(c[1:], c[0])...); code != 0 {
			t.Errorf("%v: exit %d, %s", c, code, errs)
		}
		if _, err := os.Stat(c[0]); err != nil {
			t.Error(err)
		}
	}
	code, _, errs := utvi(t, "example", "table", "-o", in("a/table.csv/x.csv"))
	if want := "utvi: cannot write to the folder " + in("a/table.csv") + ": " + in("a/table.csv") + " is not a folder\n"; code != 1 || errs != want {
		t.Errorf("exit %d, %s", code, errs)
	}
	if _, _, errs := utvi(t, "example", "table", "-o", in("f")+"/"); !strings.Contains(errs, "not a file name") {
		t.Error(errs)
	}
	if _, err := os.Stat(in("f")); err == nil {
		t.Error("a folder was made for a name that is none of a file")
	}
	if code, out, _ := utvi(t, "sweep", "plan", spec, "-o", "-"); code != 0 || !strings.HasPrefix(out, "{") {
		t.Errorf("exit %d, %s", code, out)
	}
}

func TestInterruptedIsOneWord(t *testing.T) {
	var out, errs bytes.Buffer
	code := run(t.Context(), &cobra.Command{SilenceErrors: true, SilenceUsage: true, RunE: func(*cobra.Command, []string) error { return context.Canceled }}, nil, &out, &errs)
	if code != 1 || errs.String() != "utvi: interrupted\n" {
		t.Errorf("exit %d, stderr %q", code, errs.String())
	}
}

func TestHelp(t *testing.T) {
	for _, args := range []string{"", "--help", "help moments", "moments --help", "reproduce -h"} {
		code, out, errs := utvi(t, strings.Fields(args)...)
		if code != 0 || errs != "" || !strings.Contains(out, "Examples:") {
			t.Errorf("utvi %s: exit %d, stderr %q, stdout %q", args, code, errs, out)
		}
	}
}

func TestVersion(t *testing.T) {
	code, out, _ := utvi(t, "version")
	if code != 0 || !strings.HasPrefix(out, "utvi ") || !strings.Contains(out, runtime.Version()) || !strings.Contains(out, "kernels ") {
		t.Errorf("exit %d, %q", code, out)
	}
}

func TestMomentsJSON(t *testing.T) {
	for _, c := range []struct {
		args                   string
		mean, variance, em, ev float64
	}{
		// Exact for a square: N(−3, 1) → (10, 38).
		{"--fn square --mean -3 --var 1", 10, 38, 10, 38},
		{"--fn square --mean -3 --var 1 --rule genut", 10, 38, 10, 38},
		{"--fn square --mean 2 --var 3 --rule linear", 4, 48, 7, 66},
		// By hand: mean 0.99·√3/6, second moment (1+a²)/2; exactly, mean 0.99·φ(0).
		{"--fn leaky-relu --rule ut", 0.28578838325, 0.418375, 0.39495285760, 0.34406224028},
		{"--fn leaky-relu --slope 0.01 --rule exact", 0.39495285760, 0.34406224028, 0.39495285760, 0.34406224028},
	} {
		code, out, errs := utvi(t, strings.Fields("moments --json "+c.args)...)
		if code != 0 || errs != "" {
			t.Errorf("%s: exit %d, %s", c.args, code, errs)
			continue
		}
		var got map[string]float64
		if err := json.Unmarshal([]byte(out), &got); err != nil {
			t.Errorf("%s: %v in %s", c.args, err, out)
			continue
		}
		want := map[string]float64{"mean": c.mean, "variance": c.variance, "exact_mean": c.em, "exact_variance": c.ev}
		if len(got) != len(want) {
			t.Errorf("%s: keys of %s", c.args, out)
		}
		for k, w := range want {
			if g, ok := got[k]; !ok || math.Abs(g-w) > 1e-9*math.Abs(w) {
				t.Errorf("%s: %s is %v, want %v", c.args, k, g, w)
			}
		}
	}
}

func TestMomentsTable(t *testing.T) {
	_, out, _ := utvi(t, "moments", "--fn", "square", "--rule", "linear", "--mean", "2", "--var", "3")
	for _, want := range []string{"square of N(2, 3) by linear", "-42.9 %", "-27.3 %"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q lacks %q", out, want)
		}
	}
}

func TestMomentsPlot(t *testing.T) {
	for _, name := range []string{"a.svg", "b.PNG", "c.pdf"} {
		path := filepath.Join(t.TempDir(), name)
		code, out, errs := utvi(t, "moments", "--plot", path)
		if code != 0 || !strings.HasSuffix(out, "\nWrote "+path+".\n") {
			t.Fatalf("exit %d, %s\n%s", code, errs, out)
		}
		if info, err := os.Stat(path); err != nil || info.Size() < 8000 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
}

// Interrupted and started again, an experiment gives the same file.
func TestReproduceContinues(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no interrupt can be sent there")
	}
	dir := t.TempDir()
	args := func(out string) []string {
		return []string{"reproduce", "fc", "--preset", "tiny", "--steps", "120", "--replicates", "2", "--out", filepath.Join(dir, out)}
	}
	code, out, errs := utvi(t, args("whole")...)
	if code != 0 || !strings.Contains(out, "UT") || !strings.Contains(out, "2 of 10 replicates") {
		t.Fatalf("exit %d\n%s\n%s", code, out, errs)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, args("broken")...)
	pipe, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(pipe)
	lines.Scan() // the first training has ended, the others have not
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	last := ""
	for lines.Scan() {
		last = lines.Text()
	}
	if err := cmd.Wait(); err == nil || cmd.ProcessState.ExitCode() != exitInterrupted || last != "utvi: interrupted; the same command continues" {
		t.Fatalf("interrupted: %v, %q", err, last)
	}
	if code, _, errs := utvi(t, args("broken")...); code != 0 {
		t.Fatalf("continued: exit %d, %s", code, errs)
	}
	for _, pattern := range []string{"fc/results.json", "fc/figures/*", "trials/*.utvi"} {
		files, err := filepath.Glob(filepath.Join(dir, "whole", pattern))
		if err != nil || len(files) == 0 {
			t.Fatalf("there is no %s (%v)", pattern, err)
		}
		for _, f := range files {
			name, _ := filepath.Rel(filepath.Join(dir, "whole"), f)
			a, b := timeless(t, f), timeless(t, filepath.Join(dir, "broken", name))
			if len(a) < 1000 || !bytes.Equal(a, b) {
				t.Errorf("%s: %d bytes, and %d that differ after an interruption", name, len(a), len(b))
			}
		}
	}
}

// timeless reads a file without the seconds it took to make it.
func timeless(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return regexp.MustCompile(`"(wall|trial)_seconds": [0-9.e-]+`).ReplaceAll(b, nil)
}
