package experiment

import (
	"math"
	"strings"
	"testing"

	"utvi/internal/report"
	"utvi/rng"
)

func TestFCSettings(t *testing.T) {
	for _, c := range []struct{ x, sd float64 }{{0, 0.3}, {0.25, 0.1}, {0.5, 0.3}, {-0.125, 0.2}} {
		if got := fcNoise(c.x); math.Abs(got-c.sd) > 1e-15 {
			t.Errorf("the noise at %g is %g, want %g", c.x, got, c.sd)
		}
	}
	// The best possible score is −0.25984 nats; 65,536 rows carry ±0.003.
	s := newFCSample(rng.New(9), 1<<16)
	if got := s.truth(); math.Abs(got+0.25984) > 0.01 {
		t.Errorf("the true model scores %g, want −0.2598 ± 0.01", got)
	}
	// The noise knows its place, and no more of x.
	var square [2]float64
	for i, x := range s.x.Mean {
		z := float64(s.y[i]-x) / fcNoise(float64(x))
		if x > 0 {
			square[0] += z * z / (1 << 15)
		} else {
			square[1] += z * z / (1 << 15)
		}
	}
	if math.Abs(square[0]-1) > 0.04 || math.Abs(square[1]-1) > 0.04 {
		t.Errorf("the standardised noise has variances %g and %g right and left of 0, want 1", square[0], square[1])
	}
	lo, hi := s.x.Mean[0], s.x.Mean[0]
	for _, x := range s.x.Mean {
		lo, hi = min(lo, x), max(hi, x)
	}
	if lo < -0.5 || lo > -0.499 || hi > 0.5 || hi < 0.499 {
		t.Errorf("the inputs span [%g, %g], want [−0.5, 0.5]", lo, hi)
	}
}

func TestFCSpecRefuses(t *testing.T) {
	for spec, want := range map[string]string{
		`{"rule":"ut(2)","steps":0}`:                "0 steps",
		`{"rule":"ut(2)","steps":5,"replicate":-1}`: "replicate is negative",
		`{"rule":"ut","steps":5}`:                   "takes 1 parameters",
		`{"rule":"mc(1)","steps":5}`:                "",
		`{"rule":"ut(2)","steps":5,"draws":-1}`:     "-1 draws",
		`{"rule":"ut(2)","steps":5,"widht":3}`:      "widht",
	} {
		if err := fcKind.Check([]byte(spec)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", spec, err, want)
		}
	}
}

// A network trained by drawing weights is scored like the others, and learns.
func TestFCByDrawing(t *testing.T) {
	s := FCSpec{Seed: 3, Rule: "ut(2)", Steps: 3 * fcEpochSteps, Draws: 1}
	var r FCTrial
	if err := runTrial(t, t.Context(), t.TempDir(), s.trial("drawn")).Decode(&r); err != nil {
		t.Fatal(err)
	}
	if first, last := r.Marks[0].Scores[0], r.final()+r.TrueNLL; !(last < first) || !(r.SD[100] > 0) {
		t.Errorf("the score went from %v to %v, and σ(0) is %v", first, last, r.SD[100])
	}
}

// Every claim has each of the three verdicts, depending on the numbers and on the
// size of the run.
func TestFCClaims(t *testing.T) {
	flat := func(nll ...float64) (m FCMethod) {
		for _, x := range nll {
			m.add(FCTrial{History: History{Marks: []Mark{{Step: 80, Scores: []float64{x}}}}, Mean: []float64{0, x, 0, x}})
		}
		return m
	}
	full := runSize{10, 8000}
	short := runSize{10, 1000}
	few := runSize{2, 8000}
	smp := flat(0.001, 0.002, 0.003)
	near := flat(0.0015, 0.0016, 0.0017)
	far := flat(0.02, 0.03, 0.04)
	mixed := flat(0.0005, 0.0015, 0.01)
	rough := flat(0.001, 0.002, 0.003) // by seed as good as smp, but a rougher curve
	rough.Roughness = stat(9)
	ahead := flat(0.0001, 0.0012, 0.0021)
	for i, c := range []struct {
		claim Claim
		want  report.Verdict
	}{
		{utMatchesSMP(full, &smp, &near), report.Holds},
		{utMatchesSMP(fcNeed, &smp, &near), report.Holds},
		{utMatchesSMP(full, &smp, &far), report.Fails},
		{utMatchesSMP(full, &far, &far), report.Fails},
		{utMatchesSMP(short, &smp, &near), report.Undecided},
		{utMatchesSMP(short, &smp, &far), report.Undecided},
		{utMatchesSMP(few, &smp, &far), report.Undecided},
		{utBeatsMC3(full, &far, &near), report.Holds},
		{utBeatsMC3(full, &near, &far), report.Fails},
		{utBeatsMC3(full, &far, &rough), report.Fails},
		{utBeatsMC3(full, &mixed, &near), report.Undecided},
		{utBeatsMC3(short, &near, &far), report.Undecided},
		{utTrainsBetter(full, &smp, &ahead), report.Holds},
		{utTrainsBetter(full, &ahead, &smp), report.Fails},
		{utTrainsBetter(full, &smp, &near), report.Undecided}, // the interval contains 0
		{utTrainsBetter(fcNeed, &ahead, &smp), report.Undecided},
	} {
		checkVerdict(t, i, c.claim, c.want)
	}
}
