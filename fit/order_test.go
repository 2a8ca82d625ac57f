package fit

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// Rows in the order of their dates, and targets that are far from all others, are named.
func TestOrderAndOutliers(t *testing.T) {
	rows := func(value func(i int) string, day func(i int) int) string {
		text := "a,day,y\n"
		for i := range 400 {
			text += fmt.Sprintf("%d,2025-%02d-%02d,%s\n", i*i%97, 1+day(i)/28, 1+day(i)%28, value(i))
		}
		return text
	}
	plain := func(i int) string { return fmt.Sprint(10 + i*13%89) }
	wrong := func(i int) string { // in thousandths
		if i%150 == 7 {
			return fmt.Sprint(1000 * (10 + i*13%89))
		}
		return plain(i)
	}
	skewed := func(i int) string { return fmt.Sprintf("%.4f", float64(uint64(1)<<(i*13%40))) }
	mixed, sorted := func(i int) int { return i * 101 % 336 }, func(i int) int { return i * 336 / 400 }
	for name, x := range map[string]struct {
		text string
		want string // "": no warning
	}{
		"plain":    {rows(plain, mixed), ""},
		"in order": {rows(plain, sorted), "the rows are in the order of day: "},
		"outliers": {rows(wrong, mixed), "target y: "},
		"skewed":   {rows(skewed, mixed), ""},
	} {
		got := warned(t, x.text)
		if x.want == "" && len(got) > 0 || x.want != "" && (len(got) != 1 || !strings.HasPrefix(got[0], x.want)) {
			t.Errorf("%s: %q, want %q", name, got, x.want)
		}
	}
	if got := warned(t, rows(wrong, mixed)); !slices.ContainsFunc(got, func(s string) bool { return strings.Contains(s, "values are far from all others, such as ") }) {
		t.Errorf("%q", got)
	}
}
