package schema

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"utvi/gauss"
)

// Missing names and names that training did not show are told apart, if training showed
// both names and missing cells; numbers and times that are missing at prediction only are
// marked. Models of older files put the former together, and mark nothing.
func TestApart(t *testing.T) {
	const text = "colour,shape,day,y\nred,round,2026-01-01,1\nblue,long,2026-02-01,2\n,round,2026-05-01,3\nred,long,2026-06-01,4\n"
	s := infer(t, text, Spec{Targets: []string{"y"}, Impute: true})
	if got := strings.Join(s.Inputs(), " "); got != "colour=red colour=blue colour=other colour? shape=long shape=round shape=other day day: sine of the year day: cosine of the year day: sine of the week day: cosine of the week day?" {
		t.Errorf("the inputs are %s", got)
	}
	if use := s.use(&s.Columns[0]); use != "4 inputs: its levels, other, missing" {
		t.Errorf("the column becomes %q", use)
	}
	encode := func(s *Schema) []float32 {
		f := load(t, "colour,shape,day\nviolet,,\n,round,\nblue,long,\n")
		e, err := s.Bind(f.Header())
		if err != nil {
			t.Fatal(err)
		}
		x := gauss.Batch[float32]{Rows: 3, Width: e.Width(), Mean: make([]float32, 3*e.Width())}
		if err := e.Inputs(chunk(f), x); err != nil {
			t.Fatal(err)
		}
		return x.Mean
	}
	if got, want := encode(s), []float32{0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1}; !slices.Equal(got, want) {
		t.Errorf("the inputs are\n%v, want\n%v", got, want)
	}
	file, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	old, err := Parse([]byte(strings.Replace(string(file), `,"apart":true`, "", -1)))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := encode(old), []float32{0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0}; !slices.Equal(got, want) {
		t.Errorf("the inputs of an older model are\n%v, want\n%v", got, want)
	}
	_, err = Parse([]byte(strings.Replace(string(file), `"impute":true,`, "", 1)))
	wantError(t, "apart without imputing", err, "table schema: column colour: missing values of a categorical input cannot have an input")
}
