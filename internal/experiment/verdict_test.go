package experiment

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"utvi/internal/report"
)

// checkVerdict checks the verdict of case i. Every claim says what it needs, and
// every verdict but Holds has a reason.
func checkVerdict(t *testing.T, i int, c Claim, want report.Verdict) {
	t.Helper()
	if c.Verdict != want || c.Needs == "" || c.Title == "" || c.Shown == "" || (c.Why == "") != (want == report.Holds) || strings.HasPrefix(c.Why, "Undecided") != (want == report.Undecided) {
		t.Errorf("case %d, %s: verdict %q (%s), needs %q; want %q", i, c.ID, c.Verdict, c.Why, c.Needs, want)
	}
}

func TestAllOf(t *testing.T) {
	yes := judgement{verdict: report.Holds}
	no := judgement{report.Fails, "a."}
	maybe := judgement{report.Undecided, "b."}
	for i, c := range []struct {
		judgements []judgement
		want       judgement
	}{
		{nil, yes}, {[]judgement{yes, yes}, yes}, {[]judgement{yes, no}, no}, {[]judgement{maybe, no, yes}, no},
		{[]judgement{maybe, yes}, maybe}, {[]judgement{no, no}, judgement{report.Fails, "a. a."}},
	} {
		if got := allOf(c.judgements...); got != c.want {
			t.Errorf("case %d: %v, want %v", i, got, c.want)
		}
	}
}

func TestPositive(t *testing.T) {
	for i, c := range []struct {
		s    Stat
		want report.Verdict
	}{
		{stat(1, 1.1, 0.9), report.Holds}, {stat(-1, -1.1, -0.9), report.Fails}, {stat(1, -1), report.Undecided},
		{stat(1), report.Undecided}, {stat(), report.Undecided}, {stat(-1), report.Undecided},
	} {
		if got := c.s.positive("it"); got.verdict != c.want {
			t.Errorf("case %d: %v", i, got)
		}
	}
}

// The page, the terminal, the JSON and the Markdown show all four verdicts, and why.
func TestVerdictsAreShown(t *testing.T) {
	s := &Study{
		Size: Size{Preset: "quick", Seed: 1}, Experiments: []Experiment{{Name: "e", Title: "An experiment"}},
		Findings: []*Findings{{Claims: []Claim{
			{Title: "One", Paper: "p", Ours: "First.", Shown: "1 m", Verdict: report.Holds},
			{Title: "Two", Paper: "p", Ours: "Second.", Shown: "2 m", Verdict: report.Fails, Why: "Bars missed: height."},
			{Title: "Three", Paper: "p", Ours: "Third.", Shown: "3 m", Verdict: report.Undecided, Why: "Undecided: too few steps."},
			{Title: "Four", Paper: "p", Ours: "Fourth.", Shown: "4 m", Verdict: report.Exceeds, Why: "It is cheaper."},
			{Title: "Five", Paper: "p", Ours: "Fifth.", Shown: "5 m", Verdict: report.Holds, Own: true},
		}}},
	}
	var text, markdown, page bytes.Buffer
	if err := s.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	if err := s.WriteMarkdown(&markdown); err != nil {
		t.Fatal(err)
	}
	if err := s.page().Write(&page); err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(s.Claims())
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		got  string
		want []string
	}{
		"terminal": {text.String(), []string{"holds          One: 1 m\n", "does not hold  Two: 2 m\n", "undecided      Three: 3 m\n", "holds, by more Four: 4 m\n", "Second. Bars missed: height.", "Third. Undecided: too few steps."}},
		"Markdown": {markdown.String(), []string{"| One | 1 m | holds |", "| Two | 2 m | does not hold |", "| Three | 3 m | undecided |", "| Four | 4 m | holds, by more |", "|---|---|---|\n| Five | 5 m | holds |", "Second. Bars missed: height.", "Third. Undecided: too few steps."}},
		"page":     {page.String(), []string{"1 holds · 1 holds by more · 1 does not hold · 1 undecided", "Findings of our own <span class=\"tally\">1 holds</span>", "</b> undecided", "</b> does not hold", "</b> holds", "</b> holds, by more", `Third. <span class="why">Undecided: too few steps.</span>`, `<td class="value">2 m</td>`}},
		"JSON":     {string(data), []string{`"verdict":"holds"`, `"verdict":"does not hold","why":"Bars missed: height."`, `"verdict":"undecided","why":"Undecided: too few steps."`, `"verdict":"holds, by more"`, `"own":true`}},
	} {
		for _, want := range c.want {
			if !strings.Contains(c.got, want) {
				t.Errorf("%s lacks %q:\n%.3000s", name, want, c.got)
			}
		}
	}
}

// A run that is scaled down denies nothing that a larger run could show: whatever
// is found, claims that need more are undecided.
func TestQuickPresetDeniesOnlyWhatItCanJudge(t *testing.T) {
	quick := Size{Preset: "quick"}
	for name, c := range map[string]struct {
		have, need runSize
		enough     bool
	}{
		"fc":         {runSize{fcReplicates(quick), fcSteps(quick)}, fcNeed, true},
		"fc curves":  {runSize{fcReplicates(quick), fcSteps(quick)}, fcCurveNeed, false},
		"samples":    {runSize{samplesReplicates(quick), fcSteps(quick)}, samplesNeed, false},
		"loc scores": {runSize{locReplicates(quick), locSteps(quick)}, locScoreNeed, true},
		"loc maps":   {runSize{locReplicates(quick), locSteps(quick)}, locMapNeed, false},
		"starved":    {runSize{starvedReplicates(quick), starvedSteps(quick)}, starvedNeed, false},
	} {
		if got := c.have.against(c.need); got.met != c.enough {
			t.Errorf("%s: a quick run of %v for a need of %v is judged: %v", name, c.have, c.need, got.met)
		}
	}
	paper := Size{Preset: "paper"}
	for name, c := range map[string]struct{ have, need runSize }{
		"fc":         {runSize{fcReplicates(paper), fcSteps(paper)}, fcCurveNeed},
		"samples":    {runSize{samplesReplicates(paper), fcSteps(paper)}, samplesNeed},
		"loc maps":   {runSize{locReplicates(paper), locSteps(paper)}, locMapNeed},
		"starved":    {runSize{starvedReplicates(paper), starvedSteps(paper)}, starvedNeed},
		"loc scores": {runSize{locReplicates(paper), locSteps(paper)}, locScoreNeed},
	} {
		if !c.have.against(c.need).met {
			t.Errorf("%s: the paper's size, %v, is too small for the claim, which needs %v", name, c.have, c.need)
		}
	}
}
