package demo

import (
	"bytes"
	"strings"
	"testing"
)

func TestMeasure(t *testing.T) {
	const rows = "minutes,resin,why,temperature\n30,birch,no,142\n60,amber,\"a, b\",110\n"
	var first, again bytes.Buffer
	for _, w := range []*bytes.Buffer{&first, &again} {
		if err := Measure(w, strings.NewReader(rows), 1); err != nil {
			t.Fatal(err)
		}
	}
	lines := strings.Split(first.String(), "\n")
	if lines[0] != "temperature,temperature_std,minutes,resin,strength" || !strings.HasPrefix(lines[1], "142,1,30,birch,") || !strings.HasPrefix(lines[2], "110,1,60,amber,") || len(lines) != 4 {
		t.Errorf("%q", lines)
	}
	if first.String() != again.String() {
		t.Error("the same seed gives other samples")
	}
	for text, want := range map[string]string{
		"":                             "the table of rows to measure has no header",
		"temperature,resin\n1,amber\n": "the table of rows to measure has no column minutes; it needs temperature, minutes and resin",
		"temperature,minutes,resin\n140,x,amber\n":    `row 1: the value of minutes is "x"; it must be a number`,
		"temperature,minutes,resin\n140,5,dogwood\n":  `row 1: the resin is "dogwood"; the oven has amber, birch and cedar`,
		"temperature,minutes,resin\n140,5,amber\n1\n": "record on line 3: wrong number of fields",
	} {
		err := Measure(&bytes.Buffer{}, strings.NewReader(text), 1)
		if err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}
