package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"utvi/internal/sweep"
)

const smallSpec = `kind: fc
base: {seed: 1, steps: 80}
grid: {rule: [ut(2), exact]}
replicates: 2
`

// writePlan makes a plan of a spec, by the program.
func writePlan(t *testing.T, dir, spec string) (path string, p *sweep.Plan) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "study.yaml")
	if err := os.WriteFile(file, []byte(spec), 0o666); err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(dir, "plan.json")
	command(t, exec.Command(binary, "sweep", "plan", file, "-o", path))
	p, err := sweep.LoadPlan(path)
	if err != nil {
		t.Fatal(err)
	}
	return path, p
}

// command is what a command that must not fail prints.
func command(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s", cmd.Args, err, errs.String())
	}
	return string(out)
}

// sameResults fails where two folders differ in metrics, data or the bits of the
// saved networks.
func sameResults(t *testing.T, p *sweep.Plan, a, b string) {
	t.Helper()
	for _, x := range p.Trials {
		ra, err := sweep.LoadResult(a, x)
		if err != nil {
			t.Fatal(err)
		}
		rb, err := sweep.LoadResult(b, x)
		if err != nil {
			t.Fatal(err)
		}
		ra.Run, rb.Run = sweep.RunRecord{}, sweep.RunRecord{}
		ja, _ := json.Marshal(ra)
		jb, _ := json.Marshal(rb)
		if len(ra.Metrics) == 0 || !bytes.Equal(ja, jb) {
			t.Errorf("%s: the results differ", x.Name)
		}
		na, nb := readFile(t, filepath.Join(a, x.ID()+".utvi")), readFile(t, filepath.Join(b, x.ID()+".utvi"))
		if !bytes.Equal(na, nb) {
			t.Errorf("%s: the networks differ", x.Name)
		}
	}
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// One trial by each scheduler's number, the rest by a local run: as all by one.
func TestSweep(t *testing.T) {
	dir := t.TempDir()
	plan, p := writePlan(t, dir, smallSpec)
	trial := func(args []string, env ...string) (code int, stderr string) {
		cmd := exec.Command(binary, append([]string{"sweep", "trial", plan}, args...)...)
		cmd.Env = append(os.Environ(), env...)
		out, _ := cmd.CombinedOutput()
		return cmd.ProcessState.ExitCode(), string(out)
	}
	for _, c := range []struct {
		args string
		env  []string
	}{
		{"--index 0", []string{"SLURM_ARRAY_TASK_ID=3"}},
		{"--offset 1", []string{"SLURM_ARRAY_TASK_ID=0", "JOB_COMPLETION_INDEX=3"}},
		{"", []string{"JOB_COMPLETION_INDEX=2"}},
		{"", []string{"JOB_COMPLETION_INDEX=2"}}, // again: nothing to do
	} {
		if code, errs := trial(strings.Fields(c.args), c.env...); code != 0 {
			t.Errorf("%v %v: exit %d, %s", c.args, c.env, code, errs)
		}
	}
	_, out, _ := utvi(t, "sweep", "status", plan)
	if !strings.HasPrefix(out, "PARTIAL: 3 of 4 trials are done; missing: 3.\n") || !strings.Contains(out, "to submit again: --indices 3\n") {
		t.Error(out)
	}
	_, out, _ = utvi(t, "sweep", "collect", plan)
	for _, want := range []string{"PARTIAL: 3 of 4", "| rule=exact | 1 of 2 | best_nll | "} {
		if !strings.Contains(out, want) {
			t.Errorf("%s\nlacks %q", out, want)
		}
	}
	if code, out, errs := utvi(t, "sweep", "run", plan); code != 0 || !strings.HasPrefix(out, "All 4 trials are done") || strings.Count(errs, "\n") != 1 {
		t.Errorf("exit %d, %s%s", code, out, errs)
	}
	whole := filepath.Join(dir, "whole")
	command(t, exec.Command(binary, "sweep", "run", plan, "--out", whole, "--jobs", "1"))
	sameResults(t, p, filepath.Join(dir, "plan.trials"), whole)

	var status struct {
		Done    int
		Partial bool
	}
	if err := json.Unmarshal([]byte(command(t, exec.Command(binary, "sweep", "status", plan, "--json"))), &status); err != nil || status.Done != 4 || status.Partial {
		t.Errorf("%+v, %v", status, err)
	}
	for _, name := range []string{"summary.md", "summary.csv", "summary.json", "trials.csv", "best_nll.svg"} {
		if info, err := os.Stat(filepath.Join(dir, "plan.summary", name)); err != nil || info.Size() < 100 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Told to end, again and again, a trial writes a checkpoint and exits with 75.
func TestTrialInterrupted(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no signal can be sent there")
	}
	dir := t.TempDir()
	plan, p := writePlan(t, dir, strings.Replace(smallSpec, "steps: 80", "steps: 3000", 1)) // many: it still runs when its status is asked for
	trials := filepath.Join(dir, "plan.trials")
	cmd := exec.Command(binary, "sweep", "trial", plan, "--index", "1")
	var errs bytes.Buffer
	cmd.Stderr = &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	marks := filepath.Join(trials, p.Trials[1].ID()+".checkpoint.json")
	for start := time.Now(); ; time.Sleep(5 * time.Millisecond) {
		if _, err := os.Stat(marks); err == nil {
			break // a fifth of the steps is done
		}
		if time.Since(start) > 5*time.Minute { // a hang, on whatever machine
			t.Fatal("no training")
		}
	}
	if _, out, _ := utvi(t, "sweep", "status", plan); !strings.Contains(out, "running   1   1") {
		t.Errorf("while it runs:\n%s", out)
	}
	ended := make(chan error)
	go func() { ended <- cmd.Wait() }()
	for ending := false; !ending; {
		cmd.Process.Signal(syscall.SIGTERM)
		select {
		case <-ended:
			ending = true
		case <-time.After(time.Millisecond):
		}
	}
	if code := cmd.ProcessState.ExitCode(); code != 75 || errs.String() != "utvi: trial 1, fc_ut2_replicate1, was interrupted; the same command continues it\n" {
		t.Errorf("exit %d, %s", code, errs.String())
	}
	if _, out, _ := utvi(t, "sweep", "status", plan); !strings.Contains(out, "4   0-3   1 of them started") {
		t.Error(out)
	}
	if code, _, errs := utvi(t, "sweep", "trial", plan, "--index", "1"); code != 0 {
		t.Error(errs)
	}
	whole := filepath.Join(dir, "whole")
	command(t, exec.Command(binary, "sweep", "trial", plan, "--index", "1", "--out", whole))
	sameResults(t, &sweep.Plan{Trials: p.Trials[1:2]}, trials, whole)
}

// What the user gets wrong is one line.
func TestSweepMisuse(t *testing.T) {
	dir := t.TempDir()
	plan, _ := writePlan(t, dir, smallSpec)
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	text := string(readFile(t, plan))
	foreign := write("foreign.json", strings.Replace(text, `"kind":"fc"`, `"kind":"alien"`, 1))
	odd := write("odd.json", strings.Replace(text, `"index":1`, `"index":7`, 1))
	torn := write("torn.json", text[:len(text)/2])
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"sweep", "nosuch"}, 2, `unknown command "nosuch"; the commands are collect, plan, run, status, submit, trial`},
		{[]string{"sweep", "plan"}, 2, "takes one spec, not 0 arguments"},
		{[]string{"sweep", "plan", filepath.Join(dir, "none.yaml")}, 1, "no such file"},
		{[]string{"sweep", "plan", write("a.yaml", "kind: nosuch")}, 1, `there is no kind "nosuch"; the kinds are fc`},
		{[]string{"sweep", "plan", write("b.yaml", "kind: fc\nbase: {rule: ut(2), step: 3}")}, 1, `trial 0, fc: unknown field "step"; the fields are seed, replicate, rule, steps`},
		{[]string{"sweep", "plan", write("e.yaml", "kind: fc\nbase: {rule: ut(2), steps: many}")}, 1, "trial 0, fc: steps is text; it must be a whole number"},
		{[]string{"sweep", "run", write("f.yaml", "# a study\nkind: fc")}, 1, "f.yaml -o plan.json"},
		{[]string{"sweep", "plan", write("c.yaml", "experiment: nosuch")}, 1, `unknown experiment "nosuch"; choose from fc`},
		{[]string{"sweep", "plan", write("d.yaml", "experiment: fc\npreset: huge")}, 1, `there is no preset "huge"`},
		{[]string{"sweep", "run", foreign}, 1, `has kind "alien"`},
		{[]string{"sweep", "run", odd}, 1, "trial 1 of the plan has index 7"},
		{[]string{"sweep", "run", torn}, 1, "is not a plan"},
		{[]string{"sweep", "collect", "nofile.json"}, 1, "utvi: cannot read nofile.json: no such file or directory"},
		{[]string{"sweep", "plan", "nofile.yaml"}, 1, "utvi: cannot read nofile.yaml: no such file or directory"},
		{[]string{"sweep", "run", plan, "--jobs", "0"}, 2, "--jobs is 0"},
		{[]string{"sweep", "run", plan, "--out", plan}, 1, "is not a folder"},
		{[]string{"sweep", "status", plan, "--out", plan}, 1, "is not a folder"},
		{[]string{"sweep", "trial", plan}, 2, "no trial number; give --index, or set $SLURM_ARRAY_TASK_ID or $JOB_COMPLETION_INDEX"},
		{[]string{"sweep", "trial", plan, "--index", "4"}, 2, "has no trial 4; trials are numbered from 0 to 3"},
		{[]string{"sweep", "trial", plan, "--index", "-1"}, 2, "has no trial -1"},
		{[]string{"sweep", "trial", plan, "--index", "3", "--offset", "2"}, 2, "has no trial 5"},
		{[]string{"sweep", "submit", plan}, 2, `--engine is ""; it must be slurm or kubernetes`},
		{[]string{"sweep", "submit", plan, "--engine", "slurm", "--image", "x"}, 2, "--image works with --engine kubernetes only, not with slurm"},
		{[]string{"sweep", "submit", plan, "--engine", "slurm", "--indices", "2-9", "--dry-run"}, 2, "write numbers from 0 to 3"},
		{[]string{"sweep", "submit", plan, "--engine", "slurm", "--partition", "a b", "--dry-run"}, 2, `--partition is "a b"`},
		{[]string{"sweep", "submit", plan, "--engine", "kubernetes", "--claim", "c"}, 2, "no image is given; name the image with --image"},
		{[]string{"sweep", "submit", plan, "--engine", "kubernetes", "--image", "x", "--claim", "c", "--out", "d"}, 2, "--out works with --engine slurm only"},
	} {
		code, out, errs := utvi(t, c.args...)
		if code != c.code || out != "" || strings.Count(errs, "\n") != 1 || !strings.Contains(errs, c.says) {
			t.Errorf("utvi %v: exit %d, stdout %q, stderr %q; want exit %d and one line with %q", c.args, code, out, errs, c.code, c.says)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*.trials")); len(left) > 0 {
		t.Errorf("left %v", left)
	}
}

// A plan that has changed since runs what has changed, and nothing else.
func TestPlanEdited(t *testing.T) {
	dir := t.TempDir()
	plan, _ := writePlan(t, dir, smallSpec)
	command(t, exec.Command(binary, "sweep", "run", plan))
	writePlan(t, dir, strings.Replace(smallSpec, "exact]", "gh(5)]", 1))
	_, out, _ := utvi(t, "sweep", "status", plan)
	if !strings.HasPrefix(out, "PARTIAL: 2 of 4 trials are done; missing: 2,3.\n") {
		t.Error(out)
	}
}

// Of a plan that is done, a dry run shows the scripts of all trials and says why.
func TestSweepDryRunOfFinishedPlan(t *testing.T) {
	plan, _ := writePlan(t, t.TempDir(), "kind: fc\nbase: {seed: 1, steps: 1, rule: ut(2)}\n")
	command(t, exec.Command(binary, "sweep", "run", plan))
	code, out, errs := utvi(t, "sweep", "submit", plan, "--engine", "slurm", "--dry-run")
	if code != 0 || !strings.Contains(out, "#SBATCH --array=0") || !strings.Contains(errs, "every trial is done or running, so nothing would be submitted") {
		t.Errorf("exit %d: %s\n%s", code, errs, out)
	}
}

func TestSweepDryRun(t *testing.T) {
	dir := t.TempDir()
	plan, _ := writePlan(t, dir, smallSpec)
	out := command(t, exec.Command(binary, "sweep", "submit", plan, "--engine", "slurm", "--dry-run", "--cpus", "2", "--max-parallel", "3", "--sbatch=--qos=long"))
	for _, want := range []string{"#SBATCH --array=0-3%3\n", "#SBATCH --cpus-per-task=2\n", "#SBATCH --qos=long\n", "--dependency=afterany:<id of job 1>\n", "--offset 0 &\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("%s\nlacks %q", out, want)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "plan.trials")); err == nil {
		t.Error("it left a folder")
	}
	out = command(t, exec.Command(binary, "sweep", "submit", plan, "--engine", "kubernetes", "--image", "utvi:1", "--claim", "results"))
	for _, want := range []string{"completions: 4\n", `"rule":"exact"`, "claimName: results\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("%s\nlacks %q", out, want)
		}
	}
}
