package sweep_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"utvi/data"
	"utvi/fn"
	"utvi/gauss"
	"utvi/internal/killtest"
	"utvi/internal/sweep"
	"utvi/model"
	"utvi/nn"
	"utvi/train"
)

const runEnv = "UTVI_TEST_RUN_SWEEP"

// A process that the fault test starts runs the plan, with a line for every
// event.
func TestMain(m *testing.M) {
	dir := os.Getenv(runEnv)
	if dir == "" {
		os.Exit(m.Run())
	}
	r := sweep.Runner{Kinds: []sweep.Kind{tiny}, Dir: dir, Jobs: 2, Progress: func(e sweep.Event) { fmt.Println(e.Trial.Name, e.Step) }}
	if _, err := r.Run(context.Background(), faultPlan()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

const tinySteps, tinyEvery = 40, 5

// tiny is a real training, of a small network, with many checkpoints.
var tiny = sweep.Kind{
	Name:  "tiny",
	Check: func(json.RawMessage) error { return nil },
	Run: func(ctx context.Context, j sweep.Job) (sweep.Outcome, error) {
		var seed uint64
		if err := json.Unmarshal(j.Spec, &seed); err != nil {
			return sweep.Outcome{}, err
		}
		x, y := make([]float32, 64), make([]float32, 64)
		for i := range x {
			x[i] = float32(i)/32 - 1
			y[i] = x[i] * x[i]
		}
		table, err := data.NewTable(gauss.Fixed(1, x), 1, y)
		if err != nil {
			return sweep.Outcome{}, err
		}
		m, err := model.New(model.Config{Input: nn.Vec(1), Layers: nn.Chain{nn.Dense{Out: 8}, nn.Apply{F: fn.Tanh()}, nn.Dense{Out: 1}}, Seed: seed})
		if err != nil {
			return sweep.Outcome{}, err
		}
		t, err := train.New(m, train.Config{Data: table, Steps: tinySteps, Batch: 16, Seed: seed, Workers: j.Workers,
			Checkpoint: j.Stem + ".checkpoint", CheckpointEvery: tinyEvery})
		if err != nil {
			return sweep.Outcome{}, err
		}
		defer t.Close()
		for s, err := range t.Steps(ctx) {
			if err != nil {
				return sweep.Outcome{}, err
			}
			if s.Step%tinyEvery == 0 {
				j.Tell(s.Step, tinySteps, math.NaN())
			}
		}
		m.Facts = model.Facts{Steps: tinySteps} // the trainer's, of its last step, are not in a checkpoint
		at := m.NewPredictor(1).Predict(gauss.Fixed(1, []float32{0.5}))
		return sweep.Outcome{Metrics: map[string]float64{"mean": float64(at.Mean[0]), "variance": float64(at.Var[0])}}, m.Save(j.Stem + ".utvi")
	},
}

func faultPlan() *sweep.Plan {
	var trials []sweep.Trial
	for i := range 50 {
		trials = append(trials, sweep.NewTrial("tiny", fmt.Sprintf("tiny-%d", i), fmt.Sprintf("group %d", i%5), 1, i))
	}
	p, err := sweep.NewPlan("faults", trials...)
	if err != nil {
		panic(err)
	}
	return p
}

// Fifty trials, run by two processes at a time of which twenty are killed, and
// once the folder cannot be written to, not even by root: nothing is lost, done
// twice or different.
func TestFaults(t *testing.T) {
	if testing.Short() {
		t.Skip("many processes")
	}
	p := faultPlan()
	calm := sweep.Runner{Kinds: []sweep.Kind{tiny}, Dir: filepath.Join(t.TempDir(), "calm"), Jobs: 2}
	if _, err := calm.Run(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "trials")
	seen := results{}
	amid := 0
	for round := range 10 {
		pair := startPair(t, dir)
		if round == 5 {
			pair.read(30)
			unwritable(t, dir, pair)
			seen.check(t, dir, p)
			pair = startPair(t, dir)
		}
		for _, c := range pair.children {
			pair.read(1 + rand.IntN(40))
			if c.Process.Kill() == nil {
				amid++
			}
		}
		pair.wait()
		seen.check(t, dir, p)
	}
	t.Logf("%d processes were killed; %d of 50 results were there by then", amid, len(seen))
	if amid < 20 || len(seen) < 5 || len(seen) > 45 {
		t.Errorf("this proves little")
	}
	last := startPair(t, dir)
	last.read(math.MaxInt)
	if errs := last.wait(); errs[0] != nil || errs[1] != nil {
		t.Fatalf("%v\n%s", errs, last.stderr.String())
	}
	seen.check(t, dir, p)

	s := sweep.Summarize(p, sweep.Status(dir, p))
	if s.Partial() || len(s.Groups) != 5 {
		t.Error(s.State())
	}
	for _, g := range s.Groups {
		if g.Done != 10 || g.Metrics[0].N != 10 {
			t.Errorf("%+v", g)
		}
	}
	for _, x := range p.Trials {
		a, err := sweep.LoadResult(calm.Dir, x)
		if err != nil {
			t.Fatal(err)
		}
		b, err := sweep.LoadResult(dir, x)
		if err != nil {
			t.Fatal(err)
		}
		na, _ := os.ReadFile(filepath.Join(calm.Dir, x.ID()+".utvi"))
		nb, _ := os.ReadFile(filepath.Join(dir, x.ID()+".utvi"))
		if a.Sum != b.Sum || len(na) == 0 || !bytes.Equal(na, nb) {
			t.Errorf("%s differs", x.Name)
		}
	}
	// The names of temporary files, which killed processes leave, begin with a dot.
	if files, _ := filepath.Glob(filepath.Join(dir, "[^.]*")); len(files) != 100 {
		t.Errorf("there are %d files, not a result and a network for each of 50 trials", len(files))
	}
}

// results are the files of results by their trial, as they were first seen.
type results map[string]string

// check fails if a result has gone or was made again: its record of the run would
// differ.
func (r results) check(t *testing.T, dir string, p *sweep.Plan) {
	t.Helper()
	for _, s := range sweep.Status(dir, p) {
		b, _ := os.ReadFile(sweep.ResultPath(dir, s.Trial))
		if old, ok := r[s.Trial.Name]; ok && old != string(b) {
			t.Errorf("the result of %s was %q and is %q", s.Trial.Name, old, b)
		}
		if s.State == sweep.Done {
			r[s.Trial.Name] = string(b)
		}
	}
}

// A pair are two processes that run the plan at once.
type pair struct {
	children [2]*exec.Cmd
	lines    *bufio.Scanner
	stderr   strings.Builder
}

func startPair(t *testing.T, dir string) *pair {
	t.Helper()
	out, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	t.Cleanup(func() { out.Close() })
	p := &pair{lines: bufio.NewScanner(out)}
	for i := range p.children {
		c := killtest.Command(runEnv + "=" + dir)
		c.Stdout = in
		c.Stderr = &p.stderr
		killtest.Start(t, c)
		t.Cleanup(func() { c.Process.Kill() })
		p.children[i] = c
	}
	return p
}

// read waits for n events, or the end of both.
func (p *pair) read(n int) {
	for i := 0; i < n && p.lines.Scan(); i++ {
	}
}

func (p *pair) wait() (errs [2]error) {
	p.read(math.MaxInt)
	for i, c := range p.children {
		errs[i] = c.Wait()
	}
	return errs
}

// unwritable puts a file in the folder's place, which stops everyone, until both
// processes have failed.
func unwritable(t *testing.T, dir string, p *pair) {
	t.Helper()
	file := dir + ".file"
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	swap := func() {
		if err := unix.Renameat2(unix.AT_FDCWD, dir, unix.AT_FDCWD, file, unix.RENAME_EXCHANGE); err != nil {
			t.Skip("a folder cannot be exchanged for a file here:", err)
		}
	}
	swap()
	errs := p.wait()
	swap()
	if errs[0] == nil || errs[1] == nil || !strings.Contains(p.stderr.String(), "trials failed, the first: tiny-") || !strings.Contains(p.stderr.String(), "not a directory") {
		t.Errorf("with no folder to write to: %v, %s", errs, p.stderr.String())
	}
}
