package predictions

import (
	"strings"
	"testing"
)

func TestSpreadsheet(t *testing.T) {
	texts := []string{"=cmd|' /C calc'!A0", "+1+2", "-2+3", "@SUM(1)", "\t=1", "＝1", "plain", "-5.5", "+1e3", "", "a=b", "it's"}
	want := `'=cmd|' /C calc'!A0;'+1+2;'-2+3;'@SUM(1);'	=1;'＝1;plain;-5.5;+1e3;;a=b;it's`
	for _, c := range []struct {
		o    Output
		want string
	}{{Output{Spreadsheet: true}, want}, {Output{}, strings.Join(texts, ";")}} {
		var b strings.Builder
		l := c.o.newLines(nil)
		for _, s := range texts {
			l.Text(s)
		}
		l.End()
		if err := l.Flush(&b); err != nil {
			t.Fatal(err)
		}
		got := strings.NewReplacer(",", ";", "\n", "", `"`, "").Replace(b.String()) // quotes are CSV's own
		if got != c.want {
			t.Errorf("got  %q\nwant %q", got, c.want)
		}
	}
	if err := (Output{Format: JSON, Spreadsheet: true}).Check(); err == nil {
		t.Error("JSON for a spreadsheet is not refused")
	}
}
