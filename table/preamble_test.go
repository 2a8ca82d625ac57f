package table

import (
	"fmt"
	"strings"
	"testing"
)

// What instruments and spreadsheets write before a table is passed over, and lines keep
// their numbers.
func TestPreamble(t *testing.T) {
	for text, want := range map[string]string{
		"sep=;\r\na;b\r\n1;2\r\n":                     "a b/3: 1 2",
		"SEP=|\na|b\n1|2\n":                           "a b/3: 1 2",
		"sep=|\na;b|c\n1;5|2\n3;5|2\n":                "a;b c/3: 1;5 2",
		"# made by an instrument\n# m, s\na,b\n1,2\n": "a b/4: 1 2",
		"#a,b\n1,2\n":                                 "#a b/2: 1 2",
		"# from a program\n# a;b\n1;2\n":              "# a b/3: 1 2",
		"# only\n# words":                             "# only/2: # words",
		"separate,b\n1,2\n":                           "separate b/2: 1 2",
		"#tag,n\n#one,1\n#two,2\n":                    "#tag n/2: #one 1",
	} {
		r, err := NewReader(strings.NewReader(text), "a.csv", Options{})
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		c, err := r.Next()
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		got := fmt.Sprintf("%s/%d:", strings.Join(r.Header().Columns, " "), c.Line(0))
		for i := range r.Header().Columns {
			got += " " + c.Text(0, i)
		}
		if got != want {
			t.Errorf("%q is read as %s, want %s", text, got, want)
		}
		r.Close()
	}
	_, err := NewReader(strings.NewReader("a,b\r1,2\r"), "a.csv", Options{})
	wantError(t, "a Macintosh", err, "a.csv: lines end with carriage returns only; save the file with line feeds")
	_, err = NewReader(strings.NewReader("sep=;\na;\"b\"c\n"), "a.csv", Options{})
	if err == nil || !strings.Contains(err.Error(), "a.csv line 2") {
		t.Errorf("a fault in the header: %v", err)
	}
}
