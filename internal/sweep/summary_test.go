package sweep_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"utvi/internal/sweep"
)

func TestRanges(t *testing.T) {
	for want, x := range map[string][]int{"": nil, "7": {7}, "0,1": {0, 1}, "0-2,4,6,7,9-12": {0, 1, 2, 4, 6, 7, 9, 10, 11, 12}} {
		if got := sweep.Ranges(x); got != want {
			t.Errorf("%v is written %q, not %q", x, got, want)
		}
		if want == "" {
			continue
		}
		if back, err := sweep.ParseRanges(want, 13); err != nil || sweep.Ranges(back) != want {
			t.Errorf("%q is read as %v, %v", want, back, err)
		}
	}
	if x, err := sweep.ParseRanges("3,1-2,2", 4); err != nil || sweep.Ranges(x) != "1-3" {
		t.Errorf("%v, %v", x, err)
	}
	for _, s := range []string{"", "4", "-1", "2-1", "1,", "a", "0-99999999999999999999", "1-2-3", " 1"} {
		if x, err := sweep.ParseRanges(s, 4); err == nil || !strings.Contains(err.Error(), "0 to 3") {
			t.Errorf("%q is read as %v, %v", s, x, err)
		}
	}
}

// A plan with trials in every state but running.
func TestSummary(t *testing.T) {
	var ran atomic.Int64
	r := sweep.Runner{Kinds: []sweep.Kind{square(&ran)}, Dir: t.TempDir(), Jobs: 1}
	p := squares(t, 1, 2, -3, 5, 6)
	p.Trials[4].Group = "a|b\x1b[2J\n"
	part := &sweep.Plan{Format: 1, Name: "part", Trials: p.Trials[:4]}
	if _, err := r.Run(t.Context(), part); err == nil {
		t.Fatal("a square root of −3 was found")
	}
	if err := os.WriteFile(sweep.ResultPath(r.Dir, p.Trials[3]), []byte(`{"format":1`), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(r.Dir, p.Trials[4].ID()+".checkpoint"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	all := sweep.Status(r.Dir, p)
	for i, want := range []sweep.State{sweep.Done, sweep.Done, sweep.Failed, sweep.Missing, sweep.Missing} {
		if all[i].State != want || all[i].Begun != (i == 4) {
			t.Errorf("trial %d is %s, begun %v; want %s", i, all[i].State, all[i].Begun, want)
		}
	}
	if all[2].Why != "it is negative" || !strings.Contains(all[3].Why, sweep.ResultPath(r.Dir, p.Trials[3])) {
		t.Errorf("why: %q, %q", all[2].Why, all[3].Why)
	}
	s := sweep.Summarize(p, all)
	if want := "PARTIAL: 2 of 5 trials are done; failed: 2; missing: 3,4."; s.State() != want {
		t.Errorf("%s\nwant %s", s.State(), want)
	}
	var md, groups, trials strings.Builder
	if err := s.WriteMarkdown(&md); err != nil {
		t.Fatal(err)
	}
	// Of 1 and 4: mean 2.5, sd 1.5·√2, se 1.5.
	for _, want := range []string{"\n| all | 2 of 4 | square | 2.5 ± 1.5 | 2.1 |\n| a\\|b�[2J� | 0 of 1 | | | |\n", "Trial 2, xm3, is failed: it is negative.\n", "Trial 3, x5, is missing: "} {
		if !strings.Contains(md.String(), want) {
			t.Errorf("%s\nlacks %q", md.String(), want)
		}
	}
	if err := s.WriteCSV(&groups); err != nil {
		t.Fatal(err)
	}
	if want := "group,trials,done,metric,n,mean,sd,se\nall,4,2,square,2,2.5,2.1213203435596424,1.4999999999999998\n"; groups.String() != want {
		t.Errorf("%s\nwant %s", groups.String(), want)
	}
	if err := s.WriteTrials(&trials); err != nil {
		t.Fatal(err)
	}
	if want := "index,trial,group,state,square\n0,x1,all,done,1\n1,x2,all,done,4\n2,xm3,all,failed,\n3,x5,all,missing,\n4,x6,\"a|b\x1b[2J\n\",missing,\n"; trials.String() != want {
		t.Errorf("%s\nwant %s", trials.String(), want)
	}
}
