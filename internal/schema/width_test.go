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

// Characters of East Asian scripts, and pictures, take two places, those that stand on others none.
func TestPlaces(t *testing.T) {
	for r, want := range map[rune]int{
		'a': 1, '\u0301': 0, '\u20dd': 0, 0x10ff: 1, 0x1100: 2, 0x1101: 2, 0x115f: 2, 0x1160: 1, 0x2e7f: 1, 0x2e80: 2, 0x2e81: 2, 0x303e: 2, 0x303f: 1, 0x3041: 2, 0x3042: 2, 0xa4cf: 2, 0xa4d0: 1,
		0xa960: 2, 0xa961: 2, 0xa97f: 2, 0xabff: 1, 0xac00: 2, 0xac01: 2, 0xd7a3: 2, 0xd7a4: 1, 0xf900: 2, 0xf901: 2, 0xfaff: 2, 0xfb00: 1, 0xfe30: 2, 0xfe31: 2, 0xfe6f: 2, 0xfe70: 1,
		0xff00: 2, 0xff01: 2, 0xff60: 2, 0xff61: 1, 0xffdf: 1, 0xffe0: 2, 0xffe1: 2, 0xffe6: 2, 0xffe7: 1, 0x1f2ff: 1, 0x1f300: 2, 0x1f301: 2, 0x1f64f: 2, 0x1f650: 1,
		0x1f680: 2, 0x1f681: 2, 0x1f6ff: 2, 0x1f700: 1, 0x1f900: 2, 0x1f901: 2, 0x1f9ff: 2, 0x1fa00: 1, 0x20000: 2, 0x20001: 2, 0x3fffd: 2, 0x3fffe: 1,
	} {
		if got := placesOf(r); got != want {
			t.Errorf("%U takes %d places, want %d", r, got, want)
		}
	}
}
