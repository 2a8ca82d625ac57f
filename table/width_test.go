package table

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
