package schema

import (
	"testing"

	"utvi/table"
)

// A message about a missing value shows what was taken for one, and the place of the first that
// counts.
func TestMissingCells(t *testing.T) {
	for text, want := range map[string]string{
		"x,y\n1,2\nNone,3\n4,5\n":                             `a.csv line 3, column x: "None" stands for a missing value; impute missing values, or ignore column x`,
		"x,y\n1,2\n ,3\nNA,5\n":                               "a.csv line 3, column x: the value is missing; impute missing values, or ignore column x",
		"x,y\na,2\n?,3\nNA,5\nb,6\n":                          `a.csv line 3, column x: "?" stands for a missing value; impute missing values, or ignore column x`,
		"x,y\na,2\nNA,3\n?,5\nb,6\n":                          `a.csv line 3, column x: "NA" stands for a missing value; impute missing values, or ignore column x`,
		"x,y\nNone,2\nMild,3\n?,5\nMild,6\n":                  `a.csv line 4, column x: "?" stands for a missing value; impute missing values, or ignore column x`,
		"x,y\n1,2\n2,n/a\n":                                   `a.csv line 3, column y: "n/a" stands for a missing target; remove the row`,
		"x,w,y\n1,2,1\n2,NULL,2\n":                            `a.csv line 3, column w: "NULL" stands for a missing weight`,
		"x,y\nDE,2\nNA,3\nUS,5\nFR,7\nNA,6\n,3\nDE,3\nUS,1\n": "a.csv line 7, column x: the value is missing; impute missing values, or ignore column x",
	} {
		spec := Spec{Targets: []string{"y"}}
		if text[:4] == "x,w," {
			spec.Weight = "w"
		}
		_, err := Infer(load(t, text).Rows(nil), spec)
		wantError(t, text, err, want)
	}
}

// A model of names with None reads it in files, frames and rows of a request; one that was
// trained before that does not.
func TestNoneOfAModel(t *testing.T) {
	const text = "c,y\nNone,1\nMild,2\nNone,3\nSevere,4\nMild,5\n"
	s := infer(t, text, Spec{Targets: []string{"y"}, Impute: true})
	b := table.NewBuilder(&table.Header{Columns: []string{"c", "y"}, Named: true})
	b.Parse("None")
	b.Number(1)
	c, err := b.Chunk()
	if err != nil {
		t.Fatal(err)
	}
	for name, source := range map[string]table.Source{"frame": load(t, text).Rows([]int{0}), "file": open(t, text), "request": &once{chunk: c}} {
		set, err := s.Encode(source)
		if err != nil || set.X.Mean[1] != 1 || s.Columns[0].Levels[1] != "None" {
			t.Errorf("%s: None is not a level: %v, %v", name, set.X.Mean, err)
		}
	}
	s.Columns[0].None = false
	if set, err := s.Encode(open(t, text)); err != nil || set.X.Mean[3] != 1 {
		t.Errorf("an older model reads None as %v, %v", set.X.Mean[:4], err)
	}
}
