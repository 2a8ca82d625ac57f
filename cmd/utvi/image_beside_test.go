package main

import (
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Columns beside the image are inputs, too: here only both together tell the classes apart. Every road
// takes such a model.
func TestImageBeside(t *testing.T) {
	dir := t.TempDir()
	var list strings.Builder
	list.WriteString("sense,picture,kind,weight,note\n")
	rows := 240
	truth := make([]string, rows)
	for i := range rows {
		down := i%2 == 1
		turned := i/2%2 == 1
		truth[i] = map[bool]string{true: "yes", false: "no"}[down != turned]
		name := fmt.Sprintf("p/%d.png", i)
		if err := writeImage(filepath.Join(dir, name), barImage(i, down)); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&list, "%s,%s,%s,%d.5,note %d\n", map[bool]string{true: "back", false: "front"}[turned], name, truth[i], i*7%11, i)
	}
	file := filepath.Join(dir, "list.csv")
	if err := os.WriteFile(file, []byte(list.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	model := filepath.Join(dir, "kind.utvi")
	code, out, notes := utvi(t, "fit", file, "--image", "picture", "--target", "kind", "--steps", "250", "--ensemble", "1", "--width", "4", "--augment", "none", "--out", model)
	words := strings.Join(strings.Fields(out), " ")
	if code != 0 || !strings.Contains(words, "sense categorical 2: front, back 3 inputs") || !strings.Contains(words, "Column importance") {
		t.Fatalf("%d: %s%s", code, out, notes)
	}
	at := strings.Index(words, "Column importance")
	if in := strings.Fields(words[at:]); !slices.Contains(in, "sense") || !slices.Contains(in, "picture") {
		t.Errorf("%s", words[at:])
	}
	code, out, notes = utvi(t, "predict", model, file)
	all, err := csv.NewReader(strings.NewReader(out)).ReadAll()
	if code != 0 || err != nil || len(all) != rows+1 {
		t.Fatalf("%d, %d rows, %v: %s", code, len(all), err, notes)
	}
	right := 0
	column := slices.Index(all[0], "kind")
	for i, row := range all[1:] {
		if row[column] == truth[i] {
			right++
		}
	}
	if right < 220 {
		t.Errorf("%d of %d are told apart; neither the image nor the column suffices", right, rows)
	}
	for _, x := range []struct {
		args []string
		want string
	}{
		{[]string{"eval", model, file}, "rows                 240"},
		{[]string{"calibrate", model, file}, "temperature"},
		{[]string{"export", model, "-o", filepath.Join(dir, "kind.onnx")}, "operators"},
		{[]string{"inspect", model}, "12 × 14 pixels of 1"},
		{[]string{"verify", model, "--data", file, "--networks", "20", "--rows", "4"}, "Standard deviation due to the weights"},
	} {
		code, out, notes := utvi(t, x.args...)
		if code != 0 || !strings.Contains(out+notes, x.want) {
			t.Errorf("%v: %d, want %s: %s%s", x.args[0], code, x.want, out, notes)
		}
	}
	code, _, notes = utvi(t, "predict", model, filepath.Join(dir, "p"))
	if code == 0 || !strings.Contains(notes, "lacks") || !strings.Contains(notes, "sense") {
		t.Errorf("a folder has no further columns: %d %s", code, notes)
	}
	code, out, notes = utvi(t, "fit", file, "--image", "picture", "--target", "kind", "--input", "picture", "--steps", "10", "--ensemble", "1", "--width", "2", "--augment", "none", "--out", filepath.Join(dir, "alone.utvi"), "--report", "none")
	if words := strings.Join(strings.Fields(out), " "); code != 0 || strings.Contains(words, "sense categorical 2: front, back 3 inputs") {
		t.Errorf("--input picture leaves the others: %d %s%s", code, out, notes)
	}
	code, _, notes = utvi(t, "fit", file, "--image", "picture", "--target", "kind", "--weight", "weight", "--steps", "10", "--out", filepath.Join(dir, "w.utvi"))
	if code == 0 || !strings.Contains(notes, "networks of images take no weights, such as column weight") {
		t.Errorf("weights: %d %s", code, notes)
	}
}
