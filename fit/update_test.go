package fit

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"utvi/internal/calibrate"
	"utvi/internal/compute"
	"utvi/internal/tabular"
)

// where keeps the rows of the example whose temperature a function accepts.
func where(text string, keep func(temperature float64) bool) string {
	lines := strings.SplitAfter(text, "\n")
	out := lines[0]
	for _, l := range lines[1:] {
		t, err := strconv.ParseFloat(strings.Split(l, ",")[0], 64)
		if err == nil && keep(t) {
			out += l
		}
	}
	return out
}

func cool(t float64) bool { return t < 145 }
func hot(t float64) bool  { return t >= 145 }

func fitTo(t *testing.T, text string) *Model {
	t.Helper()
	r, err := Run(t.Context(), read(t, text), Config{Targets: []string{"strength"}, Holdout: -1, Network: quick}, Options{Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	return r.Model
}

func rmse(t *testing.T, m *Model, text string) float64 {
	t.Helper()
	pool := compute.NewPool(1)
	defer pool.Close()
	e, err := m.Evaluate(t.Context(), read(t, text).Rows(nil), pool)
	if err != nil {
		t.Fatal(err)
	}
	return e.Scores()[0].Numbers.RMSE.Value
}

func update(t *testing.T, m *Model, text string, o UpdateOptions) *Update {
	t.Helper()
	o.Workers = 2
	u, err := m.Update(t.Context(), read(t, text), o)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// A model that learned cool ovens, is stored, and then learns hot ones predicts both about as well as
// one that learned all at once. If it forgets, it predicts the hot ones only.
func TestUpdate(t *testing.T) {
	all, test := example(t, 400, 1), example(t, 400, 2)
	path := filepath.Join(t.TempDir(), "cool.utvi")
	if err := fitTo(t, where(all, cool)).Save(path); err != nil {
		t.Fatal(err)
	}
	m, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	u := update(t, m, where(all, hot), UpdateOptions{})
	once := fitTo(t, all)
	for name, rows := range map[string]string{"cool": where(test, cool), "hot": where(test, hot)} {
		if updated, want := rmse(t, u.Model, rows), rmse(t, once, rows); !(updated < 1.25*want) {
			t.Errorf("%s rows: RMSE %.3f after the update, %.3f of one fit", name, updated, want)
		}
	}
	for i, c := range u.Model.Schema.Columns {
		if was := m.Schema.Columns[i]; c.Name != was.Name || c.Role != was.Role || c.Type != was.Type {
			t.Errorf("column %s is now %s, %s, %s", was.Name, c.Name, c.Role, c.Type)
		}
	}
	if u.Model.Facts.Rows != 400 || len(u.Model.Facts.Updates) != 1 || math.Abs(u.Model.Memory.Rows-400) > 1e-3 {
		t.Errorf("after the update: %d rows, %v, remembers %v", u.Model.Facts.Rows, u.Model.Facts.Updates, u.Model.Memory.Rows)
	}
	if s := u.Surprise; len(s.Moved) == 0 || s.Moved[0].Column != "temperature" || !(s.Targets[0].Z() > 6) || s.Far < 0.5 {
		t.Errorf("the surprise was %+v", s)
	}
	lost := update(t, m, where(all, hot), UpdateOptions{Forget: 1, Holdout: -1})
	if now, was := rmse(t, lost.Model, where(test, cool)), rmse(t, m, where(test, cool)); !(now > 2*was) || lost.Model.Facts.Rows != lost.Rows {
		t.Errorf("with all forgotten, cool rows have an RMSE of %.3f; it was %.3f", now, was)
	}
}

// An update says what is not carried over, tells of the surprise before it trains, and remembers rows
// by their weights.
func TestUpdateNotes(t *testing.T) {
	var b strings.Builder
	b.WriteString("x,z,g,w,y\n")
	for i := range 120 {
		fmt.Fprintf(&b, "%d,%d,u%d,%g,%d\n", i%11, i*7%13, i%30, 1+float64(i%2), i%11+i*7%13)
	}
	r, err := Run(t.Context(), read(t, b.String()), Config{Targets: []string{"y"}, Group: "g", Weight: "w", Holdout: -1, Network: quick}, Options{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	m := r.Model
	if math.Abs(m.Memory.Rows-180) > 1e-3 {
		t.Errorf("120 rows of the weights 1 and 2 are remembered as %v", m.Memory.Rows)
	}
	c, err := m.Calibrate(t.Context(), read(t, b.String()).Rows(nil), []Method{Scale}, pool(t))
	if err != nil || c.Used != 120 {
		t.Fatalf("%+v, %v", c, err)
	}
	m.Model, err = m.WithCalibration([]calibrate.Calibration{{Scale: &calibrate.Scale{Rows: 10, Factor: 2}}})
	if err != nil {
		t.Fatal(err)
	}
	var told *Surprise
	u := update(t, m, "x,z,g,w,y\n3.5,4,v1,1,7\n5.5,4,v2,1,9\n6.5,2,v3,1,8\n", UpdateOptions{Surprised: func(s *Surprise) { told = s }})
	if told == nil || told != u.Surprise || u.Model.Calibration != nil || len(u.Notes) != 2 ||
		!strings.HasPrefix(u.Notes[0], "the calibration belonged to the networks before and is not carried over") || u.Notes[1] != "groups of g are not remembered: new rows are held out one by one" {
		t.Errorf("%+v, notes %q", told, u.Notes)
	}
	plain := update(t, fitted(t), example(t, 12, 4), UpdateOptions{})
	if len(plain.Notes) != 0 {
		t.Errorf("%q", plain.Notes)
	}
}

// Rows like the old ones are no surprise, the same update gives the same bits, and memory grows by
// what is new, without a row of the tables.
func TestUpdateAgain(t *testing.T) {
	m, more := fitted(t), example(t, 60, 3)
	var files [2][]byte
	var u *Update
	for i := range files {
		u = update(t, m, more, UpdateOptions{Forget: 0.25})
		path := filepath.Join(t.TempDir(), "m.utvi")
		if err := u.Model.Save(path); err != nil {
			t.Fatal(err)
		}
		var err error
		files[i], err = os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(files[0], files[1]) {
		t.Error("the same update gave two models")
	}
	if s := u.Surprise; len(s.Moved) > 0 || math.Abs(s.Targets[0].Z()) > 6 {
		t.Errorf("rows like the old ones surprise: %+v", s)
	}
	if u.Evaluation == nil || u.Evaluation.Rows != 6 || math.Abs(u.Model.Memory.Rows-(0.75*400+60)) > 1e-3 {
		t.Errorf("%+v held out, %v rows remembered", u.Evaluation, u.Model.Memory.Rows)
	}
	for _, given := range strings.Split(more+example(t, 400, 1), "\n")[1:] {
		cells := strings.Split(given, ",")
		if len(cells) > 4 && strings.Contains(u.Model.Memory.Cells, cells[0]+",") && strings.Contains(u.Model.Memory.Cells, ","+cells[4]+"\n") {
			for _, kept := range strings.Split(u.Model.Memory.Cells, "\n") {
				if kept == given {
					t.Errorf("the memory holds the row %s", given)
				}
			}
		}
	}
	one := update(t, u.Model, "temperature,temperature_std,minutes,resin,strength\n151,1,30,amber,44\n", UpdateOptions{})
	if math.Abs(one.Model.Memory.Rows-361) > 1e-3 || strings.Contains(one.Model.Memory.Cells, "151,1,30,amber,44\n") {
		t.Errorf("after one more row, %v rows are remembered", one.Model.Memory.Rows)
	}
}

// A new level becomes one that the model knows; classes and missing values are remembered.
func TestUpdateClasses(t *testing.T) {
	var b strings.Builder
	b.WriteString("x,kind,y\n")
	for i := range 120 {
		x := float64(i%17) - 8
		cell := strconv.FormatFloat(x, 'g', -1, 64)
		if i%10 == 3 {
			cell = ""
		}
		b.WriteString(cell + "," + []string{"a", "b"}[i%2] + "," + []string{"no", "yes"}[one((x > 0) == (i%2 == 0))] + "\n")
	}
	r, err := Run(t.Context(), read(t, b.String()), Config{Targets: []string{"y"}, Impute: true, Holdout: -1, Network: quickClasses()}, Options{Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	u := update(t, r.Model, "x,kind,y\n"+strings.Repeat("3,c,yes\n-3,c,yes\n1,c,yes\n,a,no\n", 10), UpdateOptions{Holdout: -1})
	s := u.Model.Schema
	if levels := s.Columns[1].Levels; len(levels) != 3 || s.Columns[0].Missing == 0 {
		t.Errorf("levels %v, %d missing", levels, s.Columns[0].Missing)
	}
	if rows := strings.Count(u.Model.Memory.Cells, "\n"); rows != 160 {
		t.Errorf("%d rows are remembered of 160", rows)
	}
	if len(u.Surprise.Moved) == 0 || u.Surprise.Moved[0].Column != "kind" {
		t.Errorf("moved: %+v", u.Surprise.Moved)
	}
}

func quickClasses() tabular.Config {
	c := quick
	c.Noise = ""
	return c
}

func TestUpdateRefuses(t *testing.T) {
	const head = "temperature,temperature_std,minutes,resin,strength\n"
	m := fitted(t)
	without := *m
	p := *m.Model
	p.Memory = nil
	without.Model = &p
	for says, c := range map[string]struct {
		m    *Model
		text string
		o    UpdateOptions
	}{
		"lacks the columns temperature_std, resin":        {m: m, text: "temperature,minutes,strength\n1,2,3\n"},
		"lacks the target strength, which":                {m: m, text: "temperature,temperature_std,minutes,resin\n1,1,1,amber\n"},
		"no row has a target; there is nothing to learn":  {m: m, text: head + "1,1,1,amber,\n"},
		`"hard" is text; the target is a number`:          {m: m, text: head + "1,1,1,amber,hard\n"},
		"fitted to all of these 40":                       {m: m, text: example(t, 40, 1)},
		"remembers nothing of its rows":                   {m: &without, text: head + "1,1,1,amber,3\n"},
		"the share to forget is 1.5":                      {m: m, text: head + "1,1,1,amber,3\n", o: UpdateOptions{Forget: 1.5}},
		"the share of new rows to hold out is 1; it must": {m: m, text: head + "1,1,1,amber,3\n", o: UpdateOptions{Holdout: 1}},
	} {
		if _, err := c.m.Update(t.Context(), read(t, c.text), c.o); err == nil || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v", says, err)
		}
	}
}
