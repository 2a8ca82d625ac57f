package main

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Suggestions are a table: rows of a list that have no target yet, or drawn ones within limits.
func TestSuggest(t *testing.T) {
	dir := inResin(t)
	m, list := filepath.Join(dir, "strength.utvi"), filepath.Join(dir, "list.csv")
	text := "temperature,temperature_std,minutes,resin,strength,price\n" + strings.Repeat("140,1,60,birch,,5\n180,1,10,cedar,,2\n120,1,30,amber,30,1\n", 4)
	if err := os.WriteFile(list, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	code, stdout, errs := utvi(t, "suggest", m, list, "--goal", "max", "--count", "2", "--cost", "price", "--draws", "32")
	rows, err := csv.NewReader(strings.NewReader(stdout)).ReadAll()
	if code != 0 || err != nil || len(rows) != 3 || rows[0][6] != "strength_mean" || rows[0][10] != "cost" || !strings.Contains(errs, "4 of 12 rows have a value of the target already") {
		t.Errorf("exit %d, %v, %s%s", code, err, stdout, errs)
	}
	code, stdout, errs = utvi(t, "suggest", m, "--range", "temperature=150:160", "--levels", `resin=amber,"cedar"`, "--limit", "minutes=:20", "--draws", "32", "--goal", "target=30")
	rows, err = csv.NewReader(strings.NewReader(stdout)).ReadAll()
	if code != 0 || err != nil || len(rows) != 2 || !strings.HasPrefix(rows[1][0], "15") || rows[1][3] == "birch" || len(rows[1][2]) > 2 {
		t.Errorf("exit %d, %v, %s%s", code, err, stdout, errs)
	}
}

func TestSuggestMisuse(t *testing.T) {
	dir := inResin(t)
	m, rows := filepath.Join(dir, "strength.utvi"), filepath.Join(dir, "resin.csv")
	for says, args := range map[string][]string{
		"resin.csv is exhausted: all of its 300 rows have":  {rows},
		"--goal is \"best\"; choose learn":                  {"--goal", "best"},
		"target=x: the target is not a number":              {"--goal", "target=x"},
		"write column=from:to":                              {"--range", "temperature=5"},
		"5 is larger than 4":                                {"--limit", "temperature=5:4"},
		"leaves nothing of the range":                       {"--limit", "temperature=300:400"},
		"the price must be a number above 0":                {"--cost", "minutes=-1"},
		"the model knows [amber birch cedar]":               {"--levels", `resin="amber,cedar"`},
		"a level that has a comma in quotes":                {"--levels", `resin="amber`},
		"the candidates have no column of numbers price":    {"--cost", "price"},
		"holds candidates; give only one of them":           {rows, "--range", "temperature=1:2"},
		"write 'column>number'":                             {"--require", "strength"},
		"no candidate meets the requirements with a probab": {"--require", "strength>1000", "--sure", "0.5", "--draws", "32"},
		"-1 rows are asked for":                             {"--count", "-1"},
	} {
		code, stdout, errs := utvi(t, append([]string{"suggest", m}, args...)...)
		if code == 0 || stdout != "" || !strings.Contains(errs, says) || strings.Count(errs, "\n") > 2 {
			t.Errorf("%v: exit %d, %s%s, want %q", args, code, stdout, errs, says)
		}
	}
}
