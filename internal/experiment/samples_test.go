package experiment

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"utvi/internal/report"
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
	c := n.claims(samplesNeed, timingNeed)
	if strings.Contains(c[0].Ours, "larger") {
		t.Errorf("16 samples do not differ from UT: %s", c[0].Ours)
	}
	wide := n
	wide.Difference = slices.Clone(n.Difference)
	wide.Difference[3] = stat(0.001, 0.0011, 0.0012)
	if got := wide.claims(samplesNeed, timingNeed)[0]; got.Value != 8 || !strings.HasSuffix(got.Ours, "larger n differ: 16.") {
		t.Errorf("%v: %s", got.Value, got.Ours)
	}
	if c[0].Value != 8 || c[1].Value != 7 || math.Abs(c[2].Value-2.0/3) > 1e-15 {
		t.Errorf("%+v", c)
	}
	n.Difference, n.Samples = n.Difference[:2], n.Samples[:2]
	n.Seconds["mc(4)"] = 20
	if c := n.claims(samplesNeed, timingNeed); c[0].Value != 0 || !strings.HasPrefix(c[0].Ours, "No n up to 4") {
		t.Errorf("there is a crossing where no interval contains 0: %+v", c[:2])
	}
}

// The three claims about samples, with a crossing planted at every place.
func TestSamplesClaims(t *testing.T) {
	samples := func(crossing int, seconds float64) *SamplesNumbers {
		n := &SamplesNumbers{Samples: powersOfTwo(8), Seconds: map[string]float64{"ut(2)": 1, "exact": 1.5, "mc(128)": 9}}
		for _, k := range n.Samples {
			d := stat(0.1, 0.11, 0.12)
			if k >= crossing {
				d = stat(-0.01, 0.02, 0.01)
			}
			n.Difference = append(n.Difference, d)
			n.Seconds[fmt.Sprintf("mc(%d)", k)] = seconds
		}
		return n
	}
	small := runSize{2, 3200}
	slow := samples(128, 10)
	slow.Seconds["exact"] = 0.4
	const none = 1000
	for i, c := range []struct {
		claims []Claim
		want   [3]report.Verdict
	}{
		{samples(128, 10).claims(samplesNeed, 30), [3]report.Verdict{report.Holds, report.Holds, report.Holds}},
		{samples(128, 72).claims(samplesNeed, 30), [3]report.Verdict{report.Holds, report.Fails, report.Holds}},
		{samples(32, 10).claims(samplesNeed, 30), [3]report.Verdict{report.Fails, report.Holds, report.Holds}},
		{samples(none, 10).claims(samplesNeed, 30), [3]report.Verdict{report.Fails, report.Undecided, report.Holds}},
		{samples(32, 72).claims(small, 1), [3]report.Verdict{report.Undecided, report.Undecided, report.Undecided}},
		{slow.claims(small, 30), [3]report.Verdict{report.Undecided, report.Undecided, report.Fails}},
	} {
		for k, claim := range c.claims {
			checkVerdict(t, i, claim, c.want[k])
		}
	}
	six := samples(2, 10)
	six.Samples, six.Difference = six.Samples[:6], six.Difference[:6]
	checkVerdict(t, -1, six.claims(samplesNeed, 30)[0], report.Undecided)
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
