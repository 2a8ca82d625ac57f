package fit

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"utvi/data"
	"utvi/gauss"
	"utvi/internal/schema"
	"utvi/internal/tabular"
	"utvi/metric"
)

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*max(1, math.Abs(b)) }

// The values that a dependence is shown at: a tenth beyond the range, not below 0 where nothing is.
func TestEndsOfGrid(t *testing.T) {
	skewed := func(lo, hi float64) schema.Encoding { // knots of a column scaled by its quantiles
		mid := (lo + hi) / 2
		return schema.Encoding{Scale: &schema.Scale{X: []float64{lo, lo + (mid-lo)/100, lo + (mid-lo)/50, lo + (mid-lo)/10, hi}, Z: []float64{-3, -2, 0, 2, 4}}}
	}
	for name, c := range map[string]struct {
		c        schema.Column
		from, to float64
		log      bool
	}{
		"negative":     {schema.Column{Type: schema.Numeric, Stats: schema.Stats{Min: -10, Max: 10, SD: 1}}, -12, 12, false},
		"from 0":       {schema.Column{Type: schema.Numeric, Stats: schema.Stats{Max: 10, SD: 1}}, 0, 11, false},
		"positive":     {schema.Column{Type: schema.Numeric, Stats: schema.Stats{Min: 5, Max: 10, SD: 1}}, 4.5, 10.5, false},
		"times":        {schema.Column{Type: schema.Times, Stats: schema.Stats{Max: 10, SD: 1}}, -1, 11, false},
		"by logarithm": {schema.Column{Type: schema.Numeric, Stats: schema.Stats{Min: 1, Max: 101, SD: 1}, Encoding: skewed(1, 101)}, math.Pow(101, -0.1), math.Pow(101, 1.1), true},
		"its middle":   {schema.Column{Type: schema.Numeric, Stats: schema.Stats{Min: 1, Max: 100, SD: 1}, Encoding: skewed(1, 100)}, 1 + 0.495*0.67, 5.95 + 94.05*0.165, false},
		"names":        {schema.Column{Type: schema.Categorical, Encoding: schema.Encoding{Levels: []string{"a", "b", "c"}}}, 0, 2, false},
	} {
		v, log := grid(&c.c)
		if n := len(v) - 1; log != c.log || !near(v[0], c.from) || !near(v[n], c.to) || n != gridPoints-1 && n != 2 || !slices.IsSorted(v) {
			t.Errorf("%s: from %v to %v in %d steps, by logarithms %v; want %v to %v", name, v[0], v[n], n, log, c.from, c.to)
		}
	}
	many := schema.Column{Type: schema.Categorical, Encoding: schema.Encoding{Levels: make([]string, mostLevels+1)}}
	if v, _ := grid(&many); len(v) != mostLevels || v[mostLevels-1] != mostLevels-1 {
		t.Errorf("%d levels are shown", len(v))
	}
	x := gauss.Fixed(4, []float32{9, 9, 9, 9, 9, 9, 9, 9})
	names := &schema.Column{Type: schema.Categorical, Encoding: schema.Encoding{Levels: []string{"a", "b"}}}
	set(x, 1, schema.Span{Column: names, From: 1, To: 4}, 1)
	number := &schema.Column{Type: schema.Categorical, Encoding: schema.Encoding{Embedded: true}}
	set(x, 0, schema.Span{Column: number, From: 2, To: 3}, 5)
	if !slices.Equal(x.Mean, []float32{9, 9, 5, 9, 9, 0, 1, 0}) {
		t.Errorf("%v", x.Mean)
	}
}

// How far columns have moved, and how unlikely that is, by hand.
func TestMovesByHand(t *testing.T) {
	seq := func(from, to int) (all []float64) {
		for i := from; i < to; i++ {
			all = append(all, float64(i))
		}
		return all
	}
	ones := slices.Repeat([]float64{1}, 20)
	c := &told{Column: &schema.Column{Type: schema.Numeric}, value: seq(0, 10)}
	var m Move
	m.numbers(c, ones, seq(5, 15))
	l := (math.Sqrt(5) + 0.12 + 0.11/math.Sqrt(5)) / 2
	if m.Distance != 0.5 || m.From != "4" || m.To != "9" || !near(m.Unlikely, 2*math.Exp(-2*l*l)) {
		t.Errorf("%+v", m)
	}
	m = Move{}
	m.numbers(c, []float64{3, 0, 0, 0, 0, 0, 0, 0, 0, 1}, []float64{0, 9, math.NaN()})
	if m.Distance != 0.25 || m.From != "0" || m.To != "0" || m.Unlikely != 1 {
		t.Errorf("by weights: %+v", m)
	}
	m = Move{}
	m.levels([]string{"a", "a", "b", "b"}, ones, []string{"a", "b", "b", "b"})
	chi2 := 4 * 0.25 * 0.25 / (0.5 * 2) * 2
	z := (math.Cbrt(chi2) - (1 - 2/9.)) / math.Sqrt(2/9.)
	if m.Distance != 0.25 || m.From != "b 50 %" || m.To != "75 %" || !near(m.Unlikely, 0.5*math.Erfc(z/math.Sqrt2)) {
		t.Errorf("%+v, want %g", m, 0.5*math.Erfc(z/math.Sqrt2))
	}
	m = Move{}
	m.levels([]string{"a", "b"}, []float64{3, 1}, []string{"a", "c"})
	chi2 = 2*0.0625/(0.75*1.5) + 2*0.0625/(0.25*1.5) + 2*0.25/(0.125*1.5)
	z = (math.Cbrt(chi2/2) - (1 - 1/9.)) / math.Sqrt(1/9.)
	if m.Distance != 0.5 || m.From != "c 0 %" || m.To != "50 %" || !near(m.Unlikely, 0.5*math.Erfc(z/math.Sqrt2)) {
		t.Errorf("a new level: %+v, want %g", m, 0.5*math.Erfc(z/math.Sqrt2))
	}
	times := &told{Column: &schema.Column{Type: schema.Times, Reading: schema.Reading{Layout: "2006-01-02"}}}
	if got := short(times, 86400) + " " + short(c, 1.23456); got != "1970-01-02 1.235" {
		t.Error(got)
	}
}

// A sketch is of the smallest hashes; those beyond it are not in the sample.
func TestSketches(t *testing.T) {
	s := newSketch([]uint64{5, 1, 9, 3})
	if !slices.Equal(s, sketch{1, 3, 5, 9}) || len(newSketch(make([]uint64, sketchSize+1))) != sketchSize {
		t.Errorf("%v", s)
	}
	for _, c := range []struct {
		hash          uint64
		all           int
		sample, known bool
	}{{3, 4, true, true}, {4, 4, true, false}, {10, 4, true, false}, {10, 5, false, false}, {9, 5, true, true}, {8, 5, true, false}} {
		if sample, known := s.samples(c.hash, c.all); sample != c.sample || known != c.known {
			t.Errorf("%+v: %v, %v", c, sample, known)
		}
	}
	if sample, known := (sketch{}).samples(1, 0); sample || known {
		t.Error("an empty sketch knows rows")
	}
	for _, c := range []struct {
		repeated       float64
		sampled, known int
		want           bool
	}{{0, 100, 3, true}, {0, 100, 2, false}, {0, 150, 3, false}, {0, 149, 3, true}, {0.5, 100, 52, false}, {0.5, 100, 53, true}} {
		if got := (&Facts{Repeated: c.repeated}).seen(c.sampled, c.known); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
	minus := float32(math.Copysign(0, -1))
	a, b := hashRow([]float32{0, 1}, []float32{2}), hashRow([]float32{minus, 1}, []float32{2})
	c := hashRow([]float32{1, 0}, []float32{2})
	if a != b || a == c || a >= 1<<53 || a != hashRow([]float32{0}, []float32{1, 2}) {
		t.Errorf("%d, %d, %d", a, b, c)
	}
	if n := shared([]uint64{1, 2, 2, 3}, []uint64{2, 3, 4}); n != 3 {
		t.Errorf("%d rows are shared", n)
	}
}

// Intervals that cover too little or too much are named, the worst of them.
func TestEdgesOfMisfit(t *testing.T) {
	at := func(rows int, groups int, c ...float64) metric.RegressionScores {
		s := metric.RegressionScores{Rows: rows}
		for i, level := range []float64{0.5, 0.9, 0.95}[:len(c)] {
			s.Intervals = append(s.Intervals, metric.CoverageScore{Level: level, Coverage: c[i], Groups: groups})
		}
		return s
	}
	for _, c := range []struct {
		s      metric.RegressionScores
		counts bool
		want   string
	}{
		{at(29, 0, 0), false, ""}, {at(30, 0, 0), false, "the 50 % intervals of y cover 0.0 %"},
		{at(100, 0, 0.674), false, ""}, {at(100, 0, 0.676), false, "the 50 % intervals of y cover 67.6 %"}, {at(100, 0, 0.676), true, ""}, {at(100, 0, 0.324), true, "the 50 % intervals of y cover 32.4 %"},
		{at(1e6, 0, 0.549), false, ""}, {at(1e6, 0, 0.551), false, "the 50 % intervals of y cover 55.1 %"},
		{at(100, 0, 0.3, 0.5, 0.9), false, "the 90 % intervals of y cover 50.0 %"},
	} {
		if got := misfit("y", c.s, c.counts); !strings.HasPrefix(got, c.want) || (got == "") != (c.want == "") {
			t.Errorf("%+v: %q, want %q", c.s, got, c.want)
		}
	}
	if got := unscored([]string{"a", "b", "c"}, [][]int{{1, 0, 0}, {0, 0, 0}, {0, 0, 0}}); got != `no scored row is of class "b", "c": the scores say nothing about it` {
		t.Error(got)
	}
}

// With few held-out rows no column is said to matter.
func TestRowsForImportance(t *testing.T) {
	m := fitted(t)
	for n, want := range map[int]string{minImportanceRows: "", minImportanceRows - 1: "19 rows have been held out, at least 20 are needed"} {
		set, err := m.Schema.Encode(read(t, example(t, n, 6)).Rows(nil))
		if err != nil {
			t.Fatal(err)
		}
		in, err := m.insight(set, 1, false)
		if err != nil || in.Skipped != want || (len(in.Importance) > 0) != (want == "") || in.Columns != 0 || len(in.Dependence) != 3 {
			t.Errorf("%d rows: %+v, %v", n, in, err)
		}
	}
}

// failing is a writer that has no room.
type failing struct{}

var errFull = errors.New("no room")

func (failing) Write([]byte) (int, error) { return 0, errFull }

// What cannot be written is an error.
func TestNoRoom(t *testing.T) {
	err := Config{Targets: []string{"y"}}.WriteYAML(failing{}, nil)
	if err == nil || !strings.Contains(fmt.Sprint(err), "no room") {
		t.Errorf("settings: %v", err)
	}
	s := Scores{Classes: &metric.ClassificationScores{Classes: make([]metric.ClassScores, 1)}, Names: []string{"a"}}
	if err := s.WriteTable(failing{}); !errors.Is(err, errFull) {
		t.Errorf("scores of classes: %v", err)
	}
	if err := (Scores{Numbers: &metric.RegressionScores{}}).WriteTable(failing{}); !errors.Is(err, errFull) {
		t.Errorf("scores of numbers: %v", err)
	}
}

// Copies are found of each of several targets.
func TestCopiesOfTargets(t *testing.T) {
	d := &tabular.Data{Set: data.Set{X: gauss.Batch[float32]{Rows: 40, Width: 2}, Targets: 2}}
	for i := range 40 {
		x := float32(i * 7 % 40)
		d.X.Mean = append(d.X.Mean, x, float32(i*i%17))
		d.Y = append(d.Y, float32(i*i%13), x*x*x)
	}
	if monotone(d, 0, 0) || !monotone(d, 0, 1) || monotone(d, 1, 0) || monotone(d, 1, 1) {
		t.Error("the second target rises with the first input, and nothing else does")
	}
	if r := correlation(d, 0, 1); !(r > 0.8 && r < 1) || !near(correlation(&tabular.Data{Set: data.Set{X: d.X, Targets: 2, Y: slices.Concat(d.X.Mean)}}, 0, 0), 1) {
		t.Errorf("the correlation is %g", r)
	}
}
