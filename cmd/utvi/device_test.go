package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"utvi/internal/cuda"
)

// onCard runs the program with further variables of the environment.
func onCard(t *testing.T, env []string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), binary, args...)
	cmd.Env = append(os.Environ(), env...)
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

// lastLine is what the program says in the end.
func lastLine(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return lines[len(lines)-1]
}

// smallTable writes the beginning of the tutorial's table.
func smallTable(t *testing.T) string {
	t.Helper()
	_, table, _ := utvi(t, "example", "table")
	file := filepath.Join(t.TempDir(), "table.csv")
	lines := strings.SplitAfterN(table, "\n", 82)
	if err := os.WriteFile(file, []byte(strings.Join(lines[:81], "")), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

func fitArgs(table, out string, more ...string) []string {
	return append(strings.Fields("fit "+table+" --target strength --noise learned --ensemble 1 --width 4 --depth 1 --steps 12 --batch 16 --kl 1 --activation relu --report none --jobs 1 --holdout -1 --out "+out), more...)
}

// Where there is no driver, --device cuda says so in one sentence, and auto takes the CPU.
func TestNoDriver(t *testing.T) {
	none := []string{cuda.LibraryVariable + "=" + filepath.Join(t.TempDir(), "libcuda.so")}
	table, dir := smallTable(t), t.TempDir()
	plan := filepath.Join(dir, "plan.json")
	if err := os.WriteFile(filepath.Join(dir, "spec.yaml"), []byte("kind: fc\nbase: {steps: 2, seed: 1}\ngrid: {rule: [ut(2)]}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	utvi(t, "sweep", "plan", filepath.Join(dir, "spec.yaml"), "-o", plan)
	if code, _, errs := utvi(t, fitArgs(table, filepath.Join(dir, "cpu.utvi"))...); code != 0 {
		t.Fatal(errs)
	}
	for _, args := range [][]string{
		fitArgs(table, filepath.Join(dir, "card.utvi")),
		{"predict", filepath.Join(dir, "cpu.utvi"), table},
		{"reproduce", "fc", "--preset", "tiny", "--out", filepath.Join(dir, "out")},
		{"sweep", "run", plan},
		{"sweep", "trial", plan, "--index", "0"},
		{"bench"},
	} {
		code, out, errs := onCard(t, none, append(args, "--device", "cuda")...)
		if code != 1 || out != "" || strings.Count(errs, "\n") != 1 || !strings.Contains(errs, "device cuda: no NVIDIA driver was found: ") {
			t.Errorf("%s: exit %d, stdout %q, stderr %q", args[0], code, out, errs)
		}
	}
	code, _, errs := onCard(t, none, fitArgs(table, filepath.Join(dir, "auto.utvi"), "--device", "auto")...)
	if code != 0 || strings.Count(errs, "the CPU is used: device cuda: no NVIDIA driver was found: ") != 1 {
		t.Errorf("exit %d, stderr %q", code, errs)
	}
	same(t, filepath.Join(dir, "auto.utvi"), filepath.Join(dir, "cpu.utvi"))
}

// same checks that two files have the same bytes.
func same(t *testing.T, got, want string) {
	t.Helper()
	a, errA := os.ReadFile(got)
	b, errB := os.ReadFile(want)
	if err := errors.Join(errA, errB); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(a, b) {
		t.Errorf("%s differs from %s", filepath.Base(got), filepath.Base(want))
	}
}

// On the emulated card: a card without memory and a card that is lost end in one sentence,
// nothing is lost, and a fit that is continued has the bits of one that was not disturbed.
func TestCardFails(t *testing.T) {
	if os.Getenv(cuda.LibraryVariable) == "" {
		t.Skipf("not run: cards fail at will only where they are emulated; set %s to the library of internal/cuda/emulator", cuda.LibraryVariable)
	}
	table, dir := smallTable(t), t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	must := func(env []string, args ...string) (stdout, stderr string) {
		t.Helper()
		code, out, errs := onCard(t, env, args...)
		if code != 0 {
			t.Fatalf("exit %d, stderr %q", code, errs)
		}
		return out, errs
	}
	little, gone := []string{"UTVI_EMULATED_MEMORY=20000"}, func(launches string) []string { return []string{"UTVI_EMULATED_LOST=" + launches} }
	must(nil, fitArgs(table, file("cpu.utvi"))...)
	must(nil, fitArgs(table, file("card.utvi"), "--device", "cuda")...)

	code, _, errs := onCard(t, little, fitArgs(table, file("little.utvi"), "--device", "cuda")...)
	if want := "utvi: train: network: the card is out of memory; use a smaller batch, or another card"; code != 1 || lastLine(errs) != want {
		t.Errorf("exit %d, stderr %q, want %q", code, errs, want)
	}
	if _, errs := must(little, fitArgs(table, file("auto.utvi"), "--device", "auto")...); !strings.Contains(errs, "the CPU is used: network: the card is out of memory") {
		t.Errorf("stderr %q", errs)
	}
	same(t, file("auto.utvi"), file("cpu.utvi"))

	code, _, errs = onCard(t, gone("40"), fitArgs(table, file("lost.utvi"), "--device", "cuda")...)
	if says := lastLine(errs); code != 1 || !strings.Contains(says, "the card was lost") || !strings.HasSuffix(says, "continue with --resume") {
		t.Errorf("exit %d, stderr %q", code, errs)
	}
	if _, err := os.Stat(file("lost.utvi")); err == nil {
		t.Error("a model was written")
	}
	must(nil, fitArgs(table, file("lost.utvi"), "--device", "cuda", "--resume")...)
	same(t, file("lost.utvi"), file("card.utvi"))

	want, _ := must(nil, "predict", file("card.utvi"), table)
	if got, _ := must(gone("3"), "predict", file("card.utvi"), table, "--device", "cuda"); got != want {
		t.Error("predictions of a card that is lost differ from those of the CPU, which must take over")
	}
	if got, _ := must(nil, "predict", file("card.utvi"), table, "--device", "cuda"); strings.Count(got, "\n") != strings.Count(want, "\n") {
		t.Errorf("a card predicts %d lines, the CPU %d", strings.Count(got, "\n"), strings.Count(want, "\n"))
	}

	must(nil, "reproduce", "fc", "--preset", "tiny", "--steps", "2", "--replicates", "1", "--jobs", "1", "--device", "cuda", "--out", file("out"))
	if err := os.WriteFile(file("spec.yaml"), []byte("kind: fc\nbase: {steps: 3, seed: 1}\ngrid: {rule: [ut(2)]}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	must(nil, "sweep", "plan", file("spec.yaml"), "-o", file("plan.json"))
	code, _, errs = onCard(t, gone("5"), "sweep", "run", file("plan.json"), "--device", "cuda")
	if code != 1 || !strings.Contains(lastLine(errs), "the card was lost") {
		t.Errorf("exit %d, stderr %q", code, errs)
	}
	must(nil, "sweep", "run", file("plan.json"), "--device", "cuda")
	must(nil, "sweep", "trial", file("plan.json"), "--index", "0", "--device", "cuda", "--out", file("alone"))
}

// On the emulated card: a fit without settings tries all its candidates, and what it wrote
// predicts there and on the CPU.
func TestCardFits(t *testing.T) {
	if os.Getenv(cuda.LibraryVariable) == "" {
		t.Skipf("not run: a fit needs a card; set %s to the library of internal/cuda/emulator", cuda.LibraryVariable)
	}
	table, dir := smallTable(t), t.TempDir()
	for _, target := range []string{"strength", "resin"} {
		out := filepath.Join(dir, target+".utvi")
		for _, args := range [][]string{
			{"fit", table, "--target", target, "--device", "cuda", "--steps", "6", "--batch", "24", "--ensemble", "2", "--report", "none", "--out", out},
			{"predict", out, table, "--device", "cuda"},
			{"predict", out, table},
		} {
			if code, stdout, errs := onCard(t, nil, args...); code != 0 || args[0] == "predict" && strings.Count(stdout, "\n") != 81 {
				t.Errorf("%v: exit %d, stdout %q, stderr %q", args, code, stdout, errs)
			}
		}
	}
}
