package tablebench

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"utvi/fit"
	"utvi/table"
)

// Splits leave every class its share, take as many rows as are asked for and never change.
func TestSplits(t *testing.T) {
	path := filepath.Join(t.TempDir(), "few.csv")
	var b bytes.Buffer
	b.WriteString("x,y\n")
	for i := range 50 {
		fmt.Fprintf(&b, "%d,%c\n", i, "ab"[i%5/4])
	}
	if err := os.WriteFile(path, b.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	f, err := fit.ReadTable(path, table.Options{})
	if err != nil {
		t.Fatal(err)
	}
	tab := Table{Name: "few", File: path, Target: "y", Task: classification}
	train, test, err := tab.split(f, 0)
	if err != nil || len(train) != 40 || len(test) != 10 {
		t.Fatal(train, test, err)
	}
	rare := 0
	for _, row := range test {
		if row%5 == 4 {
			rare++
		}
	}
	_, other, _ := tab.split(f, 1)
	if rare != 2 || slices.Equal(test, other) {
		t.Errorf("%d of 10 rows are of a class that a fifth has; split 0 %v, split 1 %v", rare, test, other)
	}
	tab.Train = 12
	if train, _, err := tab.split(f, 0); err != nil || len(train) != 12 {
		t.Errorf("%d rows to learn from, %v", len(train), err)
	}
	tab.Train = 50
	if _, _, err := tab.split(f, 0); err == nil || !strings.Contains(err.Error(), "has 50 rows") {
		t.Error(err)
	}
	files := [2]string{filepath.Join(t.TempDir(), "a"), filepath.Join(t.TempDir(), "b")}
	if err := copyRows(path, 50, files, [2][]int{{0, 49}, {4}}); err != nil {
		t.Fatal(err)
	}
	one, _ := os.ReadFile(files[0])
	two, _ := os.ReadFile(files[1])
	if string(one) != "x,y\n0,a\n49,b\n" || string(two) != "x,y\n4,b\n" {
		t.Errorf("%q, %q", one, two)
	}
}

// The best peer is the one that makes rows most likely; of counts, probabilities are compared.
func TestAverage(t *testing.T) {
	mass := -1.0
	ours := []Result{{Rows: 9, Methods: map[string]Scores{utvi: {LL: -1}}}, {Rows: 9, Counts: true, Methods: map[string]Scores{utvi: {LL: -2}}}}
	peers := []Result{{Methods: map[string]Scores{"ridge": {LL: -2}, "GP": {LL: -3}}}, {Methods: map[string]Scores{"ridge": {LL: -9, Mass: &mass}, "GP": {LL: -1.5}}}}
	s := Average(Table{Name: "a", Task: regression}, ours, peers)
	if s.Best != "ridge" || math.Abs(s.Gain) > 1e-12 || math.Abs(s.SE-1) > 1e-12 || !s.Level() {
		t.Errorf("%+v", s)
	}
	ours[0].Methods[utvi] = Scores{LL: -1.1}
	if s := Average(Table{Task: regression}, ours, peers); s.Level() {
		t.Errorf("0.05 nats behind count as level: %+v", s)
	}
	var b strings.Builder
	if err := WriteScores(&b, []Score{s}); err != nil || !strings.Contains(b.String(), "under 200 rows 1 of 1") {
		t.Error(b.String(), err)
	}
}

// What is not there is named.
func TestFind(t *testing.T) {
	if _, err := Find([]string{t.TempDir()}, nil); err == nil || !strings.Contains(err.Error(), "prostate.csv") {
		t.Error(err)
	}
	if _, err := Find([]string{"."}, []string{"nothing"}); err == nil || !strings.Contains(err.Error(), `no table "nothing"`) {
		t.Error(err)
	}
}
