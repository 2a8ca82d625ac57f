package experiment

import (
	"encoding/json"
	"html"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"utvi/internal/sweep"
)

// The smallest run of everything, end to end: the numbers must make sense, and
// what is written must hold them.
func TestTinyStudy(t *testing.T) {
	size := Size{Preset: "tiny", Seed: 1}
	var chosen []Experiment
	var trials []sweep.Trial
	for _, e := range All() {
		if !e.Extra {
			chosen = append(chosen, e)
			trials = append(trials, e.Plan(size)...)
		}
	}
	plan, err := sweep.NewPlan("tiny", trials...)
	if err != nil {
		t.Fatal(err)
	}
	found, err := sweep.Runner{Kinds: Kinds(), Dir: t.TempDir()}.Run(t.Context(), plan)
	if err != nil {
		t.Fatal(err)
	}
	s, err := NewStudy(size, chosen, plan, found)
	if err != nil {
		t.Fatal(err)
	}
	checkTinyNumbers(t, s)

	dir := t.TempDir()
	if _, err := s.Save(dir); err != nil {
		t.Fatal(err)
	}
	var saved struct {
		Claims      []Claim
		Experiments map[string]json.RawMessage
	}
	b, err := os.ReadFile(filepath.Join(dir, "results.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &saved); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(dir, "report.html"))
	if err != nil {
		t.Fatal(err)
	}
	ids := map[string]bool{}
	for _, c := range saved.Claims {
		ids[c.ID] = true
		if !strings.Contains(string(page), html.EscapeString(c.Title)) || c.Paper == "" || c.Ours == "" {
			t.Errorf("%s is not told", c.ID)
		}
	}
	for _, id := range []string{"ut-matches-smp", "ut-trains-better", "ut-beats-mc3", "mc-crossing", "mc-cost-ratio", "ut-costs-like-smp", "mc3-fails", "mc3-explodes", "variance-follows-crb-trend", "variance-follows-crb-level", "physics-helps",
		"ut-hides-variance", "no-blind-spot", "correlations-carried", "localisation-carried"} {
		if !ids[id] {
			t.Errorf("results.json lacks the claim %s", id)
		}
	}
	if len(saved.Experiments) != len(chosen) {
		t.Errorf("results.json has %d experiments of %d", len(saved.Experiments), len(chosen))
	}
	for _, name := range []string{"fig1", "figS1", "fig2", "fig3", "figS2", "figS3", "beyond", "truth", "truth-nll"} {
		for _, ext := range []string{".svg", ".png"} {
			if f, err := os.Stat(filepath.Join(dir, "figures", name+ext)); err != nil || f.Size() < 2000 {
				t.Errorf("the figure %s%s: %v", name, ext, err)
			}
		}
	}
	checkNoHalf(t, s, plan, found)
}

// checkTinyNumbers knows what even a hundred steps must show.
func checkTinyNumbers(t *testing.T, s *Study) {
	numbers := map[string]any{}
	for i, e := range s.Experiments {
		numbers[e.Name] = s.Findings[i].Numbers
	}
	fc := numbers["fc"].(map[string]any)["methods"].([]FCMethod)
	smp := fc[0]
	mc3 := fc[1]
	ut := fc[2]
	// The best homoscedastic model is 0.128 nats above the true one.
	if d := ut.Best.Mean - smp.Best.Mean; d > 0.005 || d < -0.005 || ut.Best.Mean > 0.15 || ut.Best.Mean < 0.1 {
		t.Errorf("UT is at %v, SMP at %v nats above the true model", ut.Best.Mean, smp.Best.Mean)
	}
	if !(mc3.Best.Mean > ut.Best.Mean+0.01) || !(mc3.Roughness.Mean > 100*ut.Roughness.Mean) {
		t.Errorf("three samples: %v nats and roughness %v, UT %v and %v", mc3.Best.Mean, mc3.Roughness.Mean, ut.Best.Mean, ut.Roughness.Mean)
	}
	samples := numbers["samples"].(SamplesNumbers)
	if mc2, mc4 := samples.Methods[2].Best.Mean, samples.Methods[3].Best.Mean; !(mc2 > mc4+0.01) {
		t.Errorf("two samples reach %v, four %v", mc2, mc4)
	}
	if samples.Slope > -0.3 || samples.Slope < -0.7 {
		t.Errorf("the standard error falls like n^%v", samples.Slope)
	}
	if r := samples.relative("mc(256)"); r < 10 {
		t.Errorf("256 samples take %v times UT's time", r)
	}
	loc := numbers["localization"].(map[string]any)["methods"].([]LocalizationMethod)
	locUT, locMC10 := loc[0].Best.Mean, loc[1].Best.Mean
	locMC3 := loc[2].Best.Mean
	if !(locUT+0.2 < locMC10) || !(locMC10+5 < locMC3) {
		t.Errorf("position NLLs of UT, MC10 and MC3: %v, %v, %v", locUT, locMC10, locMC3)
	}
	for _, r := range numbers["beyond"].(map[string]any)["methods"].([]BeyondRow) {
		if r.Name == "linear" || r.FC == nil || r.FC.Trials[0].Sampled == nil {
			continue
		}
		if a := r.FC.Trials[0].Sampled; a.SDMedian > 0.15 || a.MeanMedian > 0.25 {
			t.Errorf("%s is off drawn networks by %v σ, and its σ by %v", r.Name, a.MeanMedian, a.SDMedian)
		}
	}
}

// checkNoHalf: a study with a result missing is refused, by the trial's name.
func checkNoHalf(t *testing.T, s *Study, plan *sweep.Plan, found []*sweep.Result) {
	found[1] = nil
	if _, err := NewStudy(s.Size, s.Experiments, plan, found); err == nil || !strings.Contains(err.Error(), plan.Trials[1].Name) {
		t.Errorf("without the result of %s: %v", plan.Trials[1].Name, err)
	}
}
