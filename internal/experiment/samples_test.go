package experiment

import (
	"math"
	"slices"
	"strings"
	"testing"

	"utvi/engine"
	"utvi/internal/report"
	"utvi/internal/sweep"
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

// spreadOfUT is a method whose trainings differ by 0.01 (sd).
func spreadOfUT() []FCMethod { return []FCMethod{{Best: stat(0.09, 0.1, 0.11)}} }

// The crossing is where Monte Carlo comes as near to UT as its trainings are to each other,
// and stays there.
func TestMCCrossing(t *testing.T) {
	n := SamplesNumbers{
		Methods: spreadOfUT(), Samples: []int{2, 4, 8, 16},
		Difference: []Stat{stat(0.1, 0.11, 0.12), stat(0.011, 0.0111, 0.0112), stat(-0.01, 0.02, 0.01), stat(0, 0, 0)},
	}
	if i, ok := n.crossing(); !ok || n.Samples[i] != 8 {
		t.Errorf("the crossing is at %d (%v), want 8", n.Samples[i], ok)
	}
	twice := n // the criterion does not depend on the number of replicates
	twice.Difference = nil
	for _, d := range n.Difference {
		twice.Difference = append(twice.Difference, stat(slices.Repeat(d.Values, 20)...))
	}
	if i, _ := twice.crossing(); n.Samples[i] != 8 {
		t.Errorf("with twenty times as many replicates the crossing is at %d, want 8", n.Samples[i])
	}
	back := n
	back.Difference = slices.Clone(n.Difference)
	back.Difference[1] = stat(0, 0, 0)
	back.Difference[2] = stat(0.02, 0.02, 0.02) // it is worse again
	if i, _ := back.crossing(); n.Samples[i] != 16 {
		t.Errorf("the crossing is at %d, want 16", n.Samples[i])
	}
	n.Difference, n.Samples = n.Difference[:2], n.Samples[:2]
	if c := n.crossingClaim(runSize{10, fcEpochs * fcEpochSteps}.against(samplesNeed)); c.Value != 0 || !strings.HasPrefix(c.Ours, "No n up to 4") {
		t.Errorf("there is a crossing where no n is near UT: %+v", c)
	}
}

// The three claims about samples, with a crossing planted at every place.
func TestSamplesClaims(t *testing.T) {
	samples := func(crossing int, mc, exact float64) *SamplesNumbers {
		n := &SamplesNumbers{Methods: spreadOfUT(), Samples: powersOfTwo(8), Seconds: map[string]float64{"ut(2)": 1, "exact": exact, "mc(128)": mc}}
		for _, k := range n.Samples {
			d := stat(0.1, 0.11, 0.12)
			if k >= crossing {
				d = stat(-0.01, 0.02, 0.01)
			}
			n.Difference = append(n.Difference, d)
		}
		return n
	}
	small := runSize{2, 3200}
	const none = 1000
	for i, c := range []struct {
		claims []Claim
		want   [3]report.Verdict
	}{
		{samples(128, 10, 1.5).claims(samplesNeed, 30), [3]report.Verdict{report.Holds, report.Holds, report.Holds}},
		{samples(64, 72, 2.5).claims(samplesNeed, 30), [3]report.Verdict{report.Holds, report.Exceeds, report.Exceeds}},
		{samples(32, 4, 0.4).claims(samplesNeed, 30), [3]report.Verdict{report.Fails, report.Fails, report.Fails}},
		{samples(none, 10, 0.6).claims(samplesNeed, 30), [3]report.Verdict{report.Fails, report.Holds, report.Holds}},
		{samples(32, 72, 1.5).claims(small, 1), [3]report.Verdict{report.Undecided, report.Undecided, report.Undecided}},
	} {
		for k, claim := range c.claims {
			checkVerdict(t, i, claim, c.want[k])
		}
	}
	six := samples(2, 10, 1)
	six.Samples, six.Difference = six.Samples[:6], six.Difference[:6]
	checkVerdict(t, -1, six.claims(samplesNeed, 30)[0], report.Undecided)
	card := samples(128, 10, 1)
	card.CardSeconds = map[string]float64{"ut(2)": 2, "exact": 3, "mc(128)": 14}
	if c := card.claims(samplesNeed, 30); !strings.Contains(c[1].Ours, "On the card n = 128 takes 7.0 times as long.") || !strings.Contains(c[2].Ours, "takes 1.50 times as long as UT.") {
		t.Errorf("%s\n%s", c[1].Ours, c[2].Ours)
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

// Where no card is at work, no time is said to be a card's.
func TestTimesOfCards(t *testing.T) {
	spec := FCTimingSpec{Rules: []string{"ut(2)"}, Rows: 4, Rounds: 1}
	for _, e := range []engine.Engine[float32]{nil, engine.CPU[float32](), carded{engine.CPU[float32]()}} {
		out, err := spec.run(t.Context(), sweep.Job{Engine: e, Tell: func(int, int, float64) {}})
		if err != nil {
			t.Fatal(err)
		}
		_, onCard := e.(carded)
		if got := len(out.Data.(FCTiming).Card); (got > 0) != onCard {
			t.Errorf("on %T: %d times of a card", e, got)
		}
	}
}

// carded is an engine that says it is on a card.
type carded struct{ engine.Engine[float32] }

func (carded) Abilities() engine.Abilities[float32] {
	return engine.Abilities[float32]{Card: "a card"}
}
