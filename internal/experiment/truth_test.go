package experiment

import (
	"math"
	"strings"
	"testing"

	"utvi/internal/report"
	"utvi/model"
	"utvi/nn"
	"utvi/rng"
)

// The scores of a linear network are known: its variance is exact, and the noise does
// not count in the ratio.
func TestTruthScores(t *testing.T) {
	m, err := model.New(model.Config{Input: nn.Vec(truthInputs), Layers: nn.Chain{nn.Dense{Out: 1}, nn.Noise{Start: 2}}})
	if err != nil {
		t.Fatal(err)
	}
	rows := newTruthTable(rng.New(1), 40)
	s := rows.scores(m, 4000, 3)
	if len(s) != truthPhotons || math.Abs(s[truthMedian]-1) > 0.04 || s[truthP05] < 0.95 || s[truthP95] > 1.05 {
		t.Errorf("ratios %.3f", s[truthMedian:])
	}
	if math.Abs(s[truthNLL]-s[truthDrawnNLL]) > 0.01 {
		t.Errorf("NLLs %.4f", s[:truthMedian])
	}
}

// truthRowsOf are rows of all tasks and variants with the given ratios.
func truthRowsOf(ratio func(r *TruthRow) float64) []*TruthRow {
	var rows []*TruthRow
	for _, task := range truthTasks {
		for _, v := range task.variants() {
			r := &TruthRow{Task: task.name, Rule: v.rule, Correlated: v.correlated}
			x := ratio(r)
			r.Ratio.add(x)
			r.P05.add(x - 0.05)
			r.P95.add(x + 0.05)
			rows = append(rows, r)
		}
	}
	return rows
}

// Every claim has each of the three verdicts.
func TestTruthClaims(t *testing.T) {
	good := func(r *TruthRow) float64 {
		switch {
		case r.Rule == "ut(2)":
			return 0.1
		case r.Correlated:
			return 0.98
		}
		return 0.85
	}
	verdicts := func(s Size, ratio func(r *TruthRow) float64) string {
		var all []string
		for _, c := range truthClaims(s, truthRowsOf(ratio)) {
			all = append(all, c.Verdict.String())
			if c.Verdict != report.Holds && c.Why == "" || c.Ours == "" || c.Needs == "" {
				t.Errorf("%+v", c)
			}
		}
		return strings.Join(all, ", ")
	}
	for _, c := range []struct {
		size  Size
		ratio func(r *TruthRow) float64
		want  string
	}{
		{Size{Preset: "tiny"}, good, "undecided, undecided, undecided, undecided"},
		{Size{Preset: "quick"}, good, "holds, holds, holds, undecided"},
		{Size{Preset: "paper"}, good, "holds, holds, holds, holds"},
		{Size{Preset: "paper"}, func(*TruthRow) float64 { return 0.6 }, "does not hold, does not hold, does not hold, does not hold"},
		{Size{Preset: "paper"}, func(r *TruthRow) float64 { // wide, but right in the median
			if r.Correlated && r.Task == truthGELU {
				return 1.06
			}
			return good(r)
		}, "holds, holds, does not hold, holds"},
	} {
		if got := verdicts(c.size, c.ratio); got != c.want {
			t.Errorf("%s: %s, want %s", c.size.Preset, got, c.want)
		}
	}
}

func TestTruthSpecRefuses(t *testing.T) {
	for spec, want := range map[string]string{
		`{"task":"moons","rule":"exact","steps":1,"every":1,"networks":2,"final":2}`:      `there is no task "moons"; the tasks are regression, relu, gelu, localization`,
		`{"task":"relu","rule":"exact","steps":1,"networks":2,"final":2}`:                 "0 steps between scores; the least is 1",
		`{"task":"relu","rule":"exact","steps":1,"every":1,"networks":1,"final":2}`:       "1 networks at a mark and 2 at the end; both must be 2 to 10000000",
		`{"task":"relu","rule":"nine","steps":1,"every":1,"networks":2,"final":2}`:        "nine",
		`{"task":"relu","rule":"exact","steps":0,"every":1,"networks":2,"final":2}`:       "0 steps",
		`{"task":"relu","rule":"exact","steps":1,"every":1,"networks":2,"final":2,"x":1}`: "x",
	} {
		if err := truthKind.Check([]byte(spec)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", spec, err, want)
		}
	}
}
