package experiment

import (
	"math"
	"slices"
	"strings"
	"testing"
)

func TestLogSlope(t *testing.T) {
	n := []int{2, 8, 64}
	y := []float64{3 / math.Sqrt(2), 3 / math.Sqrt(8), 3 / math.Sqrt(64)}
	if got := logSlope(n, y); math.Abs(got+0.5) > 1e-12 {
		t.Errorf("1/√n has slope %v", got)
	}
}

func stat(x ...float64) (s Stat) {
	for _, v := range x {
		s.add(v)
	}
	return s
}

// The crossing is the first interval with zero inside, not the first small mean.
func TestMCCrossing(t *testing.T) {
	n := SamplesNumbers{
		Samples: []int{2, 4, 8, 16},
		Difference: []Stat{
			stat(0.1, 0.11, 0.12), stat(0.001, 0.0011, 0.0012), stat(-0.01, 0.02, 0.01), stat(0, 0, 0),
		},
		Seconds: map[string]float64{"ut(2)": 2, "exact": 3, "mc(8)": 14, "mc(128)": 40},
	}
	if i, ok := n.crossing(); !ok || n.Samples[i] != 8 {
		t.Errorf("the crossing is at %d (%v), want 8", n.Samples[i], ok)
	}
	c := n.claims()
	if strings.Contains(c[0].Ours, "larger") {
		t.Errorf("16 samples cannot be told from UT: %s", c[0].Ours)
	}
	wide := n
	wide.Difference = slices.Clone(n.Difference)
	wide.Difference[3] = stat(0.001, 0.0011, 0.0012)
	if got := wide.claims()[0]; got.Value != 8 || !strings.HasSuffix(got.Ours, "can be: 16.") {
		t.Errorf("%v: %s", got.Value, got.Ours)
	}
	if c[0].Value != 8 || c[0].Holds || c[1].Value != 7 || !c[1].Holds || math.Abs(c[2].Value-2.0/3) > 1e-15 || !c[2].Holds {
		t.Errorf("%+v", c)
	}
	n.Difference = n.Difference[:2]
	n.Samples = n.Samples[:2]
	n.Seconds["mc(4)"] = 20
	if c := n.claims(); c[0].Value != 0 || c[0].Holds || !strings.HasPrefix(c[0].Ours, "None") || c[1].Holds {
		t.Errorf("there is a crossing where no interval holds zero: %+v", c[:2])
	}
}

func TestSamplesSpecsRefuse(t *testing.T) {
	for spec, want := range map[string]string{
		`{"rules":["ut(2)"],"rows":0,"rounds":1}`:        "1 rounds of 0 rows",
		`{"rules":["ut(2)","mx"],"rows":9,"rounds":1}`:   "mx",
		`{"rules":["ut(2)"],"rows":9,"rounds":1,"a":""}`: "unknown",
	} {
		if err := fcTimingKind.Check([]byte(spec)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", spec, err)
		}
	}
	if err := fcErrorKind.Check([]byte(`{"rule":"ut(2)","steps":9,"samples":[1],"repeats":9}`)); err == nil || !strings.Contains(err.Error(), "[1] samples") {
		t.Errorf("%v", err)
	}
}
