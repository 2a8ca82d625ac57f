package experiment

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"utvi/gauss"
	"utvi/internal/report"
	"utvi/rng"
)

// All networks of a replicate see the same training set: one for all replicates, as in the
// paper, or one of its own.
func TestStarvedSets(t *testing.T) {
	images := map[[2]int][]float32{} // by pairs and replicate
	for _, trial := range starvedExperiment.Plan(Size{Preset: "tiny", Seed: 1, Replicates: 3}) {
		var s LocalizationSpec
		if err := json.Unmarshal(trial.Spec, &s); err != nil {
			t.Fatal(err)
		}
		source, err := s.source(rng.New(s.Seed))
		if err != nil {
			t.Fatal(err)
		}
		source.Begin(rng.New(1), 1, s.Pairs)
		x := gauss.Fixed(emitterPixels, make([]float32, s.Pairs*emitterPixels))
		source.Fill(0, s.Pairs, x, make([]float32, s.Pairs*emitterTargets))
		at := [2]int{s.Pairs, s.TrainingSet}
		if images[at] == nil {
			for other, seen := range images {
				if other[0] == at[0] && slices.Equal(seen, x.Mean) {
					t.Errorf("sets %d and %d of %d pairs are the same", other[1], at[1], at[0])
				}
			}
			images[at] = x.Mean
		}
		if !slices.Equal(images[at], x.Mean) {
			t.Errorf("%s sees other pairs than the other networks of its set", trial.Name)
		}
		if shared := strings.Contains(trial.Name, "shared"); shared && s.TrainingSet != 0 || !shared && s.TrainingSet != s.Replicate {
			t.Errorf("%s sees set %d", trial.Name, s.TrainingSet)
		}
	}
	if len(images) != 6 {
		t.Errorf("%d training sets, want 2 sizes for 3 replicates", len(images))
	}
}

// The claim has each of the three verdicts. The best score of a training set is
// planted as a multiple of its number, so that only pairs show the difference.
func TestPhysicsHelps(t *testing.T) {
	claim := func(run runSize, change func(pairs, set int, outputs string) float64) Claim {
		var cells []StarvedCell
		for _, n := range []int{32, 64, 128, 256, 512, 1024} {
			for _, outputs := range []string{locPhysics, locPlain, locScaled} {
				cell := newStarvedCell(starvedSetting{pairs: n, outputs: outputs, kl: "paper", shared: true, steps: run.steps})
				for set := range run.replicates {
					nll := 10*float64(set) + change(n, set, outputs)
					trial := LocalizationTrial{History: History{Marks: []Mark{{Step: 1, Scores: []float64{5, nll, nll, nll}}}}}
					if math.IsInf(nll, 0) {
						trial = LocalizationTrial{History: History{Diverged: &Divergence{Step: 1}}}
					}
					cell.add(trial)
				}
				cells = append(cells, cell)
			}
		}
		return physicsHelps(run, starvedGains(cells))
	}
	helps := func(pairs, set int, outputs string) float64 {
		if outputs == locPhysics {
			return 0.1*float64(set%2) - 1
		}
		return 0
	}
	at := func(pairs int, f func(set int) float64) func(pairs, set int, outputs string) float64 {
		return func(n, set int, outputs string) float64 {
			if n == pairs && outputs == locPhysics {
				return f(set)
			}
			return helps(n, set, outputs)
		}
	}
	worse := func(set int) float64 { return 0.5 + 0.1*float64(set%2) }
	mixed := func(set int) float64 { return float64(set%2) - 0.5 }
	lost := func(set int) float64 { return map[bool]float64{true: math.Inf(1), false: -1}[set == 3] }
	full := runSize{10, 3000}
	few := runSize{2, 3000}
	short := runSize{10, 600}
	for i, c := range []struct {
		claim Claim
		want  report.Verdict
	}{
		{claim(full, helps), report.Holds},
		{claim(full, at(1024, worse)), report.Holds}, // beyond 2⁹ it need not help
		{claim(full, at(512, worse)), report.Fails},
		{claim(full, at(64, mixed)), report.Undecided},
		{claim(full, at(64, lost)), report.Undecided},
		{claim(few, at(512, worse)), report.Undecided},
		{claim(short, at(512, worse)), report.Undecided},
		{claim(short, helps), report.Undecided},
	} {
		checkVerdict(t, i, c.claim, c.want)
	}
	// Three targets of 0.95 each; positions are not what is judged.
	if c := claim(full, helps); math.Abs(c.Value-3*0.95) > 1e-9 || c.Shown != "better at 5, worse at 0 of 5 sizes up to 2⁹" {
		t.Errorf("value %v: %s", c.Value, c.Ours)
	}
	threeSizes := slices.DeleteFunc(claim(full, helps).Evidence["gains"].([]StarvedGain), func(g StarvedGain) bool { return g.Pairs == 64 || g.Pairs == 256 })
	checkVerdict(t, -2, physicsHelps(full, threeSizes), report.Undecided)
	nothing := claim(full, func(int, int, string) float64 { return math.Inf(1) })
	if checkVerdict(t, -1, nothing, report.Undecided); nothing.Value != 0 {
		t.Errorf("without a score the value is %v", nothing.Value)
	}
}
