package enginetest

import (
	"slices"
	"testing"

	"utvi/engine"
	"utvi/internal/redtest"
)

// An engine with all abilities passes, and every mistake is found by the check that is about it.
func TestSuite(t *testing.T) {
	Run(t, func() engine.Engine[float32] { return newPlanted(none) })
	found := map[string]bool{}
	for _, c := range []struct {
		mistake
		by string // the check
	}{
		{nameless, "name"},
		{meanOff, "predictions"},
		{varianceOff, "predictions"},
		{lastRow, "predictions"},
		{refusesDense, "predictions"},
		{sharedScratch, "predictors together"},
		{deafToChanges, "changed parameters"},
		{predictAllocs, "predictions allocate nothing"},
		{rateOff, "steps"},
		{noClip, "steps"},
		{noKL, "steps"},
		{noPriors, "steps"},
		{scoreOff, "steps"},
		{staleState, "steps"},
		{otherSeed, "same bits"},
		{forgetsMoments, "continued"},
		{oneDraw, "drawn networks"},
		{stepAllocs, "steps allocate nothing"},
		{alwaysFinite, "scores that are not finite"},
		{explainsBadly, "scores that are not finite"},
		{updatesAnyway, "gradients that are not finite"},
		{explainsBadly, "gradients that are not finite"},
		{explainsBadly, "layers that overflow"},
		{refusesBadly, "refusals"},
		{takesAll, "refusals"},
		{runsOn, "pipeline"},
		{otherSteps, "pipeline"},
		{swaps, "ensembles"},
		{anyProgram, "ensembles"},
		{tooWide, "intervals"},
		{neighbours, "trainings side by side"},
	} {
		i := slices.IndexFunc(suite, func(s check) bool { return s.name == c.by })
		said := redtest.Run(t, func(t testing.TB) { suite[i].run(t, newPlanted(c.mistake)) })
		if len(said) == 0 {
			t.Errorf("an engine passes, though it %s, the check of %s", c.mistake, c.by)
			continue
		}
		found[c.by] = true
		t.Logf("%s: %s", c.mistake, said[0])
	}
	for _, c := range suite {
		if !found[c.name] {
			t.Errorf("no planted mistake is found by the check of %s", c.name)
		}
	}
}
