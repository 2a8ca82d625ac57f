package schema

import (
	"strings"
	"testing"
)

// The columns of a summary stand below each other in any script.
func TestSummaryOfScripts(t *testing.T) {
	s := infer(t, "城市,درجة,e\u0301,y\n北京,1,3,2\n上海,2,5,4\n北京,4,4,9\n", Spec{Targets: []string{"y"}})
	var b strings.Builder
	if err := s.WriteSummary(&b); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(b.String(), "\n")
	for i, kind := range []string{"type", "categorical", "numeric", "numeric", "numeric"} {
		if before, _, ok := strings.Cut(lines[i], kind); !ok || places(before) != 8 {
			t.Errorf("%q: %s begins at %d, want 8", lines[i], kind, places(before))
		}
	}
	for _, c := range []struct {
		text, want string
		room       int
	}{{"abcdef", "abcdef", 6}, {"abcdefg", "abcde…", 6}, {"北京上海", "北京…", 6}, {"北京上海", "北京上海", 8}, {"a北京上海", "a北京…", 7}} {
		if got := shortened(c.text, c.room); got != c.want {
			t.Errorf("%s in %d places is %s, want %s", c.text, c.room, got, c.want)
		}
	}
}

// Times are summarised as what they are: months, clocks, names of months.
func TestSummaryOfTimes(t *testing.T) {
	for text, want := range map[string]string{
		"t,u,y\n2024-01,1,2\n2024-02,2,4\n2024-01,4,9\n":            "2024-01-01 to 2024-02-01 1 input: the time",
		"t,u,y\n07:00,1,2\n23:30,2,4\n12:10,4,9\n":                  "07:00:00 to 23:30:00 3 inputs: the time, the place in the day",
		"t,u,y\nJan 01 2024,1,2\nFeb 3 2024,2,4\nMar 1 2024,4,9\n":  "2024-01-01 to 2024-03-01 3 inputs: the time, the place in the week",
		"t,u,y\nMarch 1 2024,1,2\nMay 3 2024,2,4\nMay 9 2024,4,9\n": "2024-03-01 to 2024-05-09 3 inputs: the time, the place in the week",
	} {
		var b strings.Builder
		if err := infer(t, text, Spec{Targets: []string{"y"}}).WriteSummary(&b); err != nil || !strings.Contains(strings.Join(strings.Fields(b.String()), " "), want) {
			t.Errorf("%q gives\n%swant …%s", text, b.String(), want)
		}
	}
}
