package sweep_test

import (
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"utvi/internal/sweep"
)

// A plan says how many trials of a kind may run side by side, whoever runs one of them, and
// its file says so, too. A trial that measures time is none of them.
func TestPlanCounts(t *testing.T) {
	var trials []sweep.Trial
	for _, name := range []string{"a", "b", "c", "c"} {
		trials = append(trials, sweep.NewTrial("x", name, "", 1, name))
	}
	timed := sweep.NewTrial("x", "timed", "", 1, "t")
	timed.Alone = true
	p, err := sweep.NewPlan("counts", append(trials, timed, sweep.NewTrial("y", "d", "", 1, "d"))...)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "plan.json")
	if err := p.Save(path); err != nil {
		t.Fatal(err)
	}
	q, err := sweep.LoadPlan(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []*sweep.Plan{p, q} {
		var got []int
		for _, x := range p.Trials {
			got = append(got, x.Beside)
		}
		if want := []int{3, 3, 3, 0, 1}; !reflect.DeepEqual(got, want) {
			t.Errorf("trials run beside %v, want %v", got, want)
		}
	}
	q.Trials[0].Beside = -1
	if err := q.Check(); err == nil || !strings.Contains(err.Error(), "trial 0, a, runs beside -1") {
		t.Errorf("%v", err)
	}
}
