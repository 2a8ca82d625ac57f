package fit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"utvi/internal/schema"
	"utvi/model"
	"utvi/nn"
	"utvi/table"
)

func TestThin(t *testing.T) {
	k := thin[int]{most: 10}
	for i := range 1000 {
		if k.next() {
			k.keep(i)
		}
	}
	if len(k.items) < 5 || len(k.items) > 10 || k.items[1]-k.items[0] != k.every {
		t.Errorf("kept %v", k.items)
	}
}

func TestSettings(t *testing.T) {
	c := Config{Targets: []string{"a, b", "c"}, Ignore: []string{"id"}, InputStd: map[string]float64{"x": 0.1}, Seed: 7, Network: quick}.complete()
	path := filepath.Join(t.TempDir(), "fit.yaml")
	var b bytes.Buffer
	if err := c.WriteYAML(&b, nil); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	back, err := LoadConfig(path)
	if err != nil {
		t.Fatalf("%v\n%s", err, b.String())
	}
	x, _ := json.Marshal(c)
	if y, _ := json.Marshal(back.complete()); !bytes.Equal(x, y) {
		t.Errorf("\n%s\nis not\n%s", y, x)
	}
	for text, says := range map[string]string{
		"targets: [y]\nwidht: 3":             `unknown field "widht"`,
		"targets: [y]\nnetwork: {wdth: 3}":   `unknown field "wdth"`,
		"targets: y":                         "targets",
		"targets: [y":                        "line 1",
		"targets: [y]\nnetwork: {width: x1}": "width",
	} {
		os.WriteFile(path, []byte(text), 0o666)
		if _, err := LoadConfig(path); err == nil || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestChecks(t *testing.T) {
	for says, c := range map[string]Config{
		"no target":       {},
		"named twice":     {Targets: []string{"y", "y"}},
		`task is "x"`:     {Targets: []string{"y"}, Task: "x"},
		"between 0 and 1": {Targets: []string{"y"}, Holdout: 1},
		"not by both; ":   {Targets: []string{"y"}, Group: "g", Time: "t"},
		"at least 1":      {Targets: []string{"y"}, MaxLevels: -1},
	} {
		if err := c.Check(); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// Rows that belong together are known to the network's own trials.
func TestData(t *testing.T) {
	f := read(t, "when,who,x,y\n2026-03-01,a,1,2\n2026-01-01,b,2,1\n2026-02-01,a,3,5\n2025-12-31,1,4,4\n2026-01-15,1.0,5,3\n")
	if got := groups(f, []int{0, 1, 2, 3, 4}, "who"); !slices.Equal(got, []int32{0, 1, 0, 2, 2}) {
		t.Errorf("groups %v", got)
	}
}

func TestNotATable(t *testing.T) {
	m, err := model.New(model.Config{Input: nn.Vec(2), Layers: nn.Chain{nn.Dense{Out: 1}}})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "m.utvi")
	if err := m.Save(path); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(path); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("a network without a table was loaded: %v", err)
	}
	os.WriteFile(path, []byte("x,y\n1,2\n"), 0o666)
	if _, err := Load(path); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("a table was loaded as a model: %v", err)
	}
}

// A class that occurs only among the rows held out is learned all the same.
func TestRareClass(t *testing.T) {
	rareClass(t, "k", "rare")
	rareClass(t, "0", "07") // 00 and 01 are codes
}

func rareClass(t *testing.T, prefix, rare string) {
	t.Helper()
	var b strings.Builder
	b.WriteString("x,kind\n")
	for i := range 40 {
		fmt.Fprintf(&b, "%d,%s%d\n", i, prefix, i/20)
	}
	f := read(t, b.String()+"99,"+rare+"\n")
	c := Config{Targets: []string{"kind"}}
	p := parted{frame: f, heldOut: []int{1, 40}}
	for i := range 40 {
		if i != 1 {
			p.train = append(p.train, i)
		}
	}
	var err error
	p.columns, err = schema.Infer(f.Rows(nil), c.columns())
	if err != nil {
		t.Fatal(err)
	}
	p, s, err := p.learnColumns(c.columns())
	if err != nil || len(p.train) != 40 || !slices.Equal(p.heldOut, []int{1}) || !slices.Contains(s.Classes(), rare) {
		t.Errorf("%d rows to train with, held out %v, %v", len(p.train), p.heldOut, err)
	}
}

// A target that is the same in all rows to train with gets a row that differs, beside another
// target that needs none.
func TestConstantBesideOthers(t *testing.T) {
	var b strings.Builder
	b.WriteString("x,y,z\n")
	for i := range 41 {
		fmt.Fprintf(&b, "%d,%d,%d\n", i, i*i%17, i/40)
	}
	c := Config{Targets: []string{"y", "z"}}
	f := read(t, b.String())
	p := parted{frame: f, heldOut: []int{0, 1, 40}}
	for i := range 38 {
		p.train = append(p.train, i+2)
	}
	var err error
	p.columns, err = schema.Infer(f.Rows(nil), c.columns())
	if err != nil {
		t.Fatal(err)
	}
	p, _, err = p.learnColumns(c.columns())
	if err != nil || !slices.Contains(p.train, 40) || !slices.Equal(p.heldOut, []int{0, 1}) {
		t.Errorf("held out are %v, %v", p.heldOut, err)
	}
}

func TestTooLarge(t *testing.T) {
	rows := &bounded{Source: read(t, example(t, 50, 1)).Rows(nil), left: 5 * 49}
	if _, err := table.Load(rows); err == nil || !strings.Contains(err.Error(), "does not fit into memory") {
		t.Errorf("50 rows where there is room for 49: %v", err)
	}
	rows = &bounded{Source: read(t, example(t, 50, 1)).Rows(nil), left: 5 * 50}
	if f, err := table.Load(rows); err != nil || f.Len() != 50 {
		t.Errorf("50 rows where there is room for 50: %v", err)
	}
}

// A class without scored rows is named.
func TestUnscoredClasses(t *testing.T) {
	if got := unscored([]string{"a", "b", "c"}, [][]int{{1, 0, 0}, {0, 0, 0}, {0, 0, 0}}); got != `no scored row is of class "b", "c": the scores say nothing about it` {
		t.Error(got)
	}
	if got := unscored([]string{"a", "b"}, [][]int{{0, 1}, {1, 0}}); got != "" {
		t.Error(got)
	}
}
