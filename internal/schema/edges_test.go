package schema

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"utvi/gauss"
	"utvi/internal/advice"
	"utvi/table"
)

// repeated is n cells, in turn those given.
func repeated(n int, all ...string) string {
	out := make([]string, n)
	for i := range out {
		out[i] = all[i%len(all)]
	}
	return strings.Join(out, "|")
}

// counted is n cells of a format with a number.
func counted(n int, format string) string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf(format, i)
	}
	return strings.Join(out, "|")
}

// exactly makes a table of a column c with these cells, separated by |, and a target.
func exactly(all string) string {
	var b strings.Builder
	b.WriteString("c,z,y\n")
	for i, cell := range strings.Split(all, "|") {
		fmt.Fprintf(&b, "\"%s\",%d,%d\n", cell, i*5%7, i*3%5)
	}
	return b.String()
}

// Columns at the edge between two ways of reading them.
func TestEdges(t *testing.T) {
	dates := counted(9, "2026-02-1%d")
	for name, c := range map[string]struct {
		cells string
		want  Type // "": the column is left out
		note  string
		odd   string // how the warning begins
	}{
		"codes, each twice":          {"01|02|3|01|02|3", Categorical, "codes, not numbers: some begin with 0, such as 01", ""},
		"codes, one only once":       {"01|02|3|01|02", Numeric, "", ""},
		"a number before dates":      {"5|20260101|20260102|20260103|20260104", Numeric, "*", ""},
		"dates of three days":        {"20260101|20260102|20260103|20260104", Times, "read as dates, the year first; name the column as categorical if they are not", ""},
		"dates beside numbers":       {"2026-01-01|5|2026-01-02|5", Categorical, "", ""},
		"the day or the month first": {"01/01/2026|05/06/2026", Times, "read as month/day/year; the cells also fit day/month/year", ""},
		"ten different numbers":      {repeated(90, strings.Split(counted(10, "%d"), "|")...) + "|x", Categorical, "", "nearly all cells are numbers, but \"x\""},
		"nine of ten durations":      {repeated(9, "1h 20m", "2h 5m", "3h 10m") + "|x", Categorical, "", "the cells look like durations, such as \"1h 20m\" on line 2"},
		"eight of ten durations":     {repeated(8, "1h 20m", "2h 5m", "3h 10m") + "|x|x", Categorical, "", ""},
		"three units":                {repeated(12, "5 kg", "6 g", "7 mg", "8 kg"), Categorical, "*", "some numbers are in kg and others in g"},
		"four units":                 {repeated(12, "5 kg", "6 g", "7 mg", "8 m", "9 kg"), Categorical, "*", ""},
		"names with numbers":         {repeated(12, "1st", "2nd", "3rd"), Categorical, "*", ""},
		"countries":                  {repeated(12, "AA", "ZZ", "NA", "FR"), Categorical, "NA is read as a name", ""},
		"no countries":               {repeated(12, "AA", "Z[", "NA", "FR"), Categorical, "", ""},
		"none per cent":              {"5 %|0|7 %|0.0|6 %", Numeric, "\"7 %\" is read as 7", ""},
		"per cent and texts":         {"5 %|1,234|7 %", Categorical, "some numbers have a percent sign and others do not, so they are read as names", "some numbers have a percent sign and others do not"},
		"dates but for ten":          {strings.Repeat(dates+"|", 10) + repeated(10, "soon"), Categorical, "", "not all cells are dates (\"2026-02-10\""},
		"dates in two ways":          {"2026-01-01|2.1.2026|2026-01-03|4.1.2026", Categorical, "", "the dates are spelled in two ways (\"2026-01-01\" on line 2, \"2.1.2026\" on line 3), so they are read as names; spell all in one way"},
	} {
		s := infer(t, exactly(c.cells), Spec{Targets: []string{"y"}, Impute: true})
		got := s.Columns[0]
		if c.note == "*" {
			c.note = got.Note
		}
		if got.Type != c.want || got.Note != c.note || !strings.HasPrefix(got.Warning, c.odd) || c.odd == "" && got.Warning != "" {
			t.Errorf("%s: %s %s, note %q, warning %q; want %s, %q, %q", name, got.Role, got.Type, got.Note, got.Warning, c.want, c.note, c.odd)
		}
	}
	same := Spec{Targets: []string{"y"}, Categorical: []string{"c"}}
	_, err := Infer(load(t, exactly(counted(12, "%03d"))).Rows(nil), same)
	wantError(t, "codes that all differ", err, "a.csv: column c cannot be categorical: its 12 values all differ in the rows to learn from; ignore the column")
}

// How many levels become inputs, are embedded, or are too many to tell something.
func TestEdgesOfLevels(t *testing.T) {
	for _, c := range []struct {
		cells    string
		most     int
		role     Role
		embedded bool
	}{
		{repeated(6, "a", "b", "c"), 3, Input, false},
		{repeated(6, "a", "b", "c"), 2, Input, true},
		{repeated(5, "a", "b", "c"), 2, Dropped, false},
		{repeated(5, "a", "b", "c"), 3, Input, false},
		{repeated(10, "a", "b", "c", "d", "e", "f", "g", "h", "i", "j"), 50, Input, false},
		{repeated(11, "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k"), 50, Dropped, false},
	} {
		got := infer(t, exactly(c.cells), Spec{Targets: []string{"y"}, MaxLevels: c.most}).Columns[0]
		if got.Role != c.role || got.Embedded != c.embedded {
			t.Errorf("%s with %d inputs at most: %s, embedded %v", c.cells, c.most, got.Role, got.Embedded)
		}
	}
	many := strings.Split(counted(2*maxTexts+1, "%d"), "|")
	for n, want := range map[int]bool{2 * maxTexts: true, 2*maxTexts + 1: false} {
		s := checkable()
		k := &s.Columns[1]
		k.Embedded, k.Apart = true, false
		k.Levels = many[:n]
		if err := s.check(); (err == nil) != want {
			t.Errorf("%d levels: %v", n, err)
		}
	}
	levels := append(strings.Split(counted(98, "x%d"), "|"), "a", "A")
	if warnCase(levels, "names") == "" || warnCase(append(levels, "z"), "names") != "" {
		t.Error("levels that differ by case are remarked on up to 100 of them")
	}
	s := checkable()
	s.Columns[5].Levels = []string{"a"}
	if s.Classes() != nil {
		t.Error("a regression has classes")
	}
}

// Which targets are classes, numbers or neither.
func TestEdgesOfTargets(t *testing.T) {
	numbers := func(n, different int) string {
		out := ""
		for i := range n {
			out += fmt.Sprintf("%d,%d\n", i*7%11, i%different)
		}
		return out
	}
	for text, want := range map[string]Task{
		"x,y\n" + numbers(10, 2): Classification,
		"x,y\n" + numbers(9, 2):  Regression,
		"x,y\n" + numbers(12, 3): Regression,
		"x,y\n1,5 h\n2,6 h\n3,7 h\n4,8 h\n5,9 h\n6,5 h\n7,6 h\n8,7 h\n9,8 h\n9,4 h\n": Regression,
	} {
		if s := infer(t, text, Spec{Targets: []string{"y"}}); s.Task != want {
			t.Errorf("%q is a %s", text, s.Task)
		}
	}
	both := "x,y,z\n"
	for i := range 20 {
		both += fmt.Sprintf("%d,%d,%d\n", i*7%11, i%2, i/3%2)
	}
	if s := infer(t, both, Spec{Targets: []string{"y", "z"}}); s.Task != Regression {
		t.Errorf("two targets of two numbers are a %s", s.Task)
	}
	_, err := Infer(load(t, "x,w,y\n1,1 kg,2\n2,2 kg,3\n").Rows(nil), Spec{Targets: []string{"y"}, Weight: "w"})
	wantError(t, "weights with a unit", err, `a.csv line 2, column w: "1 kg" is text; a weight must be a number`)
	_, err = Infer(load(t, "x_std,x,y\n1,1,2\n1,2,3\n").Rows(nil), Spec{Targets: []string{"y"}, InputStd: map[string]float64{"x": 1}})
	wantError(t, "deviations twice", err, "column x has a standard deviation given and a column x_std; ignore one")
	f := load(t, "x,y\n1,DE\n2,NA\n3,US\n4,\n5,FR\n6,NA\n")
	if kept, missing := WithTargets(f, nil, []string{"y"}); missing != 1 || !slices.Equal(kept, []int{0, 1, 2, 4, 5}) {
		t.Errorf("countries as targets: %v, %d missing", kept, missing)
	}
	for name, want := range map[string]bool{"%": true, "a%": true, "pct": true, "x percent": true, "percentage": true, "in_Prozent": true, "prozente": false, "part": false} {
		if got := (&Column{Name: name}).perCent(); got != want {
			t.Errorf("%q is per cent: %v", name, got)
		}
	}
	for _, c := range []struct{ low, high, want float64 }{{2, 100, 100}, {2, 95, 100}, {2, 94.9, 0}, {2, 100.1, 0}, {0.05, 1, 1}, {0.051, 1, 0}, {0, 0.95, 1}, {0, 0.949, 0}, {-1, 100, 0}} {
		if got := (&Column{Name: "pct", Stats: Stats{Min: c.low, Max: c.high}}).share(); got != c.want {
			t.Errorf("per cent from %g to %g have the whole %g", c.low, c.high, got)
		}
	}
}

// A column that all rows settle stays what it is: dates as text, classes that are codes, and no share
// of a whole because few rows look like one.
func TestSettledEdges(t *testing.T) {
	var b strings.Builder
	b.WriteString("day,kg,odd,c,y\n")
	for i := range 40 {
		fmt.Fprintf(&b, "2026-%02d-%02d,%d kg,%s,0%d,%g\n", 1+i%12, 1+i%28, i*3, []string{"7", "8", "-", "x"}[i%4], 1+i%2, float64(i)/20)
	}
	f := load(t, b.String())
	spec := Spec{Targets: []string{"y"}, Impute: true}
	few := []int{0, 2, 4, 6, 20} // y from 0 to 1
	whole, err := Infer(f.Rows(nil), spec)
	if err != nil {
		t.Fatal(err)
	}
	s, err := InferAs(whole, f.Rows(few), spec)
	if err != nil {
		t.Fatal(err)
	}
	if c := s.Columns[0]; c.Type != Times || c.Layout != "2006-01-02" || !(c.SD > 0) {
		t.Errorf("dates are %+v", c)
	}
	if c := s.Columns[1]; c.Type != Numeric || c.Unit != "kg" || c.Max != 60 || c.Scale == nil {
		t.Errorf("weights are %+v", c)
	}
	if alone := infer(t, "x,y\n1,0\n2,0.1\n3,0.2\n4,0.3\n5,1\n", Spec{Targets: []string{"y"}}); alone.Columns[1].Most != 1 || s.Columns[4].Most != 0 {
		t.Errorf("the target is bounded by %g; alone %g", s.Columns[4].Most, alone.Columns[1].Most)
	}
	spec = Spec{Targets: []string{"c"}, Ignore: []string{"odd"}}
	whole, err = Infer(f.Rows(nil), spec)
	if err != nil {
		t.Fatal(err)
	}
	s, err = InferAs(whole, f.Rows([]int{0, 1}), spec)
	if err != nil || !slices.Equal(s.Classes(), []string{"01", "02"}) {
		t.Errorf("the classes are %q, %v", s.Classes(), err)
	}
}

// Columns without names have no deviations beside them, and are matched by their place.
func TestColumnsWithoutNames(t *testing.T) {
	b := table.NewBuilder(&table.Header{Columns: []string{"x", "x_std", "y"}})
	for i := range 5 {
		b.Number(float64(i))
		b.Number(float64(i * i))
		b.Number(float64(i))
	}
	c, err := b.Chunk()
	if err != nil {
		t.Fatal(err)
	}
	s, err := Infer(&once{chunk: c}, Spec{Targets: []string{"y"}})
	if err != nil || s.Columns[1].Role != Input {
		t.Errorf("x_std is %s, %v", s.Columns[1].Role, err)
	}
	named := infer(t, "x,z,y\n1,2,3\n2,1,4\n", Spec{Targets: []string{"y"}})
	for _, c := range []struct {
		s    *Schema
		head string
		want bool
	}{{named, "x,z,y\n1,2,3\n", false}, {named, "1,2,3\n", true}, {s, "x,x_std,y\n1,2,3\n", true}, {s, "1,2,3\n", true}} {
		e, err := c.s.Bind(load(t, c.head).Header())
		if err != nil || e.ByPosition() != c.want {
			t.Errorf("%q is matched by position: %v, %v", c.head, e.ByPosition(), err)
		}
	}
}

// Rows of a request have no remarks: new levels and numbers without a percent sign are as good.
func TestNoRemarksWithoutFile(t *testing.T) {
	s := infer(t, "p,k,y\n5 %,a,1\n6 %,b,2\n7 %,a,3\n", Spec{Targets: []string{"y"}})
	b := table.NewBuilder(&table.Header{Columns: []string{"p", "k"}, Named: true})
	b.Number(6)
	b.Text("new")
	c, err := b.Chunk()
	if err != nil {
		t.Fatal(err)
	}
	e, err := s.Bind(c.Header())
	if err != nil {
		t.Fatal(err)
	}
	x := gauss.Fixed(4, make([]float32, 4))
	if err := e.Inputs(c, x); err != nil || !slices.Equal(x.Mean, []float32{0, 0, 0, 1}) || len(e.Notes()) != 0 {
		t.Errorf("%v, %v, notes %q", x.Mean, err, e.Notes())
	}
}

// Times: their parts, their days and what they become.
func TestEdgesOfTimes(t *testing.T) {
	for _, c := range []struct {
		days   float64
		layout string
		clock  bool
		want   string
	}{
		{90, "2006-01-02", false, "[year week]"}, {89.9, "2006-01-02", false, "[week]"}, {14, "2006-01-02", false, "[week]"},
		{13.9, "2006-01-02", false, "[]"}, {400, "2006-01", false, "[year]"}, {400, "15:04", true, "[day]"}, {1, "2006-01-02 15:04", true, "[day]"},
	} {
		x := times{spread: spread{max: c.days * day}, layout: c.layout, clock: c.clock}
		if got := fmt.Sprint(x.parts()); got != c.want {
			t.Errorf("%+v has the parts %s", c, got)
		}
	}
	for text, want := range map[string]int{"7:05": 1, "7:0": 0, "": 0, strings.Repeat("1", 41): 0} {
		if got := len(timesLike(text)); got != want {
			t.Errorf("%q fits %d layouts", text, got)
		}
	}
	at := float64(time.Date(2026, 3, 1, 6, 0, 0, 0, time.UTC).Unix())
	c := Column{Type: Times, Stats: Stats{Min: at - 2*day, Max: at, Mean: at, SD: day}, Reading: Reading{Layout: "2006-01-02 15:04", Parts: []Part{OfDay, OfWeek}}}
	if got := c.Range(); got != "2026-02-27 to 2026-03-01" {
		t.Errorf("two days: %s", got)
	}
	c.Min += 1
	if got := c.Range(); got != "2026-02-27 06:00:01 to 2026-03-01 06:00:00" {
		t.Errorf("less than two days: %s", got)
	}
	dst := []float32{9, 9, 9, 9, 9}
	c.Place(at+day, dst)
	sin, cos := math.Sincos(2 * math.Pi * 1.25 / 7)
	if want := []float32{1, 1, 0, float32(sin), float32(cos)}; dst[0] != 1 || dst[1] != 1 || math.Abs(float64(dst[2])) > 1e-6 || dst[3] != want[3] || dst[4] != want[4] {
		t.Errorf("a Monday at six is %v, want %v", dst, want)
	}
	c.Typical(dst)
	if !slices.Equal(dst, make([]float32, 5)) || c.WriteTime(at+0.5) != "2026-03-01 06:00" {
		t.Errorf("a typical time is %v, and %s", dst, c.WriteTime(at+0.5))
	}
	c = Column{Type: Numeric, Stats: Stats{Mean: 1, SD: 2, Max: 9}, Encoding: Encoding{Scale: &Scale{X: []float64{0, 4}, Z: []float64{-1, 3}}}}
	c.Place(2, dst[:2])
	if !slices.Equal(dst[:2], []float32{1, 0}) {
		t.Errorf("a number becomes %v", dst[:2])
	}
	for _, c := range []struct {
		c    Column
		want []float32
	}{
		{Column{Type: Categorical, Encoding: Encoding{Levels: []string{"a", "b"}}}, []float32{1, 0}},
		{Column{Type: Categorical, Encoding: Encoding{Levels: []string{"a", "b"}, Embedded: true}}, []float32{0, 0}},
		{c, []float32{0, 0}},
	} {
		dst := []float32{9, 9}
		c.c.Typical(dst)
		if !slices.Equal(dst, c.want) {
			t.Errorf("a typical %s is %v", c.c.Type, dst)
		}
	}
	s := infer(t, "d,y\n2026-01-01,1\n2026-01-02,2\n", Spec{Targets: []string{"y"}})
	s.Columns[0].SD = 1e-40 // as only a damaged file has it
	_, err := s.Encode(load(t, "d,y\n2026-02-01,1\n").Rows(nil))
	wantError(t, "a time beyond float32", err, `a.csv line 2, column d: "2026-02-01" is too far from the training range`)
}

// A sample keeps evenly spaced numbers, and drops every other one when it is full.
func TestSampleIsEven(t *testing.T) {
	s := sample{room: 8}
	for i := range 100 {
		s.add(float64(i))
	}
	if want := []float64{0, 16, 32, 48, 64, 80, 96}; !slices.Equal(s.numbers, want) {
		t.Errorf("%v, want %v", s.numbers, want)
	}
	s = sample{}
	s.add(1)
	if s.numbers != nil {
		t.Error("a sample without room keeps numbers")
	}
}

// What numbers become, and what becomes of it.
func TestScalesDecode(t *testing.T) {
	knots := &Scale{X: []float64{0, 1, 10}, Z: []float64{-1, 0, 1}}
	for _, scale := range []*Scale{nil, {}, knots} {
		c := Column{Type: Numeric, Stats: Stats{Mean: 2, SD: 3, Min: 0, Max: 10}, Encoding: Encoding{Scale: scale}}
		for _, v := range []float64{0, 0.5, 1, 4, 10} {
			if got := c.Decode(c.Encode(v)); math.Abs(got-v) > 1e-12 {
				t.Errorf("%+v: %g comes back as %g", scale, v, got)
			}
		}
		if lo, hi := c.Decode(-9), c.Decode(9); lo != 0 || hi != 10 {
			t.Errorf("%+v: far away lie %g and %g", scale, lo, hi)
		}
	}
	c := NumericInput("x", []float64{3, 1, 2, 4})
	if c.Mean != 2.5 || c.SD != math.Sqrt(1.25) || c.Min != 1 || c.Max != 4 || c.Name != "x" || c.Role != Input || c.Type != Numeric || len(c.Scale.X) != 0 {
		t.Errorf("%+v", c)
	}
	heavy := func(n int) (all []float64) { // most of them near 0, some far away
		for i := range n {
			all = append(all, float64(i%10)+1000*float64(i/(n-2)))
		}
		return all
	}
	for n, want := range map[int]bool{29: false, 30: true} {
		if s, _ := newScale(heavy(n)); (len(s.X) > 0) != want {
			t.Errorf("%d numbers are scaled by %v", n, s.X)
		}
	}
	wide := []float64{1.7e308, 1.7e308, 1.7e308}
	for i := range 12 {
		wide = append(wide, 1e306*float64(i))
	}
	if s, odd := newScale(wide); len(s.X) != 0 || len(odd) != 1 {
		t.Errorf("numbers whose squares overflow are scaled by %v", s.X)
	}
}

// A mark stands far away, often enough, beside numbers that are not themselves few and common.
func TestEdgesOfMarks(t *testing.T) {
	some := func(n int) (all []float64) {
		for i := range n {
			all = append(all, float64(i%37)/37)
		}
		return all
	}
	for _, c := range []struct {
		name  string
		rest  []float64
		value float64
		times int
		want  bool
	}{
		{"three of a thousand", some(997), -50, 3, true},
		{"two", some(98), -50, 2, false},
		{"three of more", some(998), -50, 3, false},
		{"half of all", some(10), -50, 10, true},
		{"more than half", some(10), -50, 11, false},
		{"beside ten", some(10), 50, 3, true},
		{"beside nine", some(9), 50, 3, false},
		{"at three ranges", []float64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, 40, 3, true},
		{"nearer", []float64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, 39.9, 3, false},
	} {
		all := slices.Clone(c.rest)
		for range c.times {
			all = append(all, c.value)
		}
		slices.Sort(all)
		found, rest := findSentinel(all, c.value < 0)
		if (found != nil) != c.want || found != nil && (found.value != c.value || found.low != (c.value < 0) || len(rest) != len(c.rest)) {
			t.Errorf("%s: %+v beside %d numbers", c.name, found, len(rest))
		}
	}
	if s, rest := findSentinel(nil, true); s != nil || len(rest) != 0 {
		t.Error("there is a mark among no numbers")
	}
	few := func(each, different int) (all []float64) {
		for i := range different * each {
			all = append(all, float64(i/each))
		}
		return all
	}
	for _, c := range []struct {
		count int
		rest  []float64
		want  bool
	}{{10, few(10, 10), true}, {10, few(10, 11), false}, {5, few(10, 4), true}, {4, few(10, 4), false}, {20, few(10, 4), true}, {21, few(10, 4), false}} {
		if got := common(c.count, c.rest); got != c.want {
			t.Errorf("%d beside %d numbers are common: %v", c.count, len(c.rest), got)
		}
	}
	all := append(few(5, 4), 99, 99, 99, 99, 99)
	if s, _ := findSentinel(all, false); s == nil || s.common {
		t.Errorf("99, which people write for a missing value, is %+v", s)
	}
	all = append(few(5, 4), 70, 70, 70, 70, 70)
	if s, _ := findSentinel(all, false); s == nil || !s.common {
		t.Errorf("70 beside 0 to 3 is %+v", s)
	}
}

// What histograms count, and which of them no table has.
func TestEdgesOfHistograms(t *testing.T) {
	s, all := histograms(t, "x,x_std,k,y\n1,2,a,1\n2,4,b,2\n", Spec{Targets: []string{"y"}})
	var names []string
	for _, h := range all {
		names = append(names, h.Column)
	}
	if got := strings.Join(names, " "); got != "x x_std k y" {
		t.Errorf("there are histograms of %s", got)
	}
	inf := math.Inf(1)
	for name, h := range map[string]Histogram{
		"infinite below": {Column: "x", Counts: []int{1}, From: -inf, To: 1}, "infinite": {Column: "x", Counts: []int{1}, From: 0, To: inf},
		"no number": {Column: "x", Counts: []int{1}, From: math.NaN(), To: 1}, "too many": {Column: "x", Counts: make([]int, 1001), To: 1},
		"levels": {Column: "k", Counts: []int{1, 2}},
	} {
		if h.Check(s) == nil {
			t.Errorf("%s: %+v was accepted", name, h)
		}
	}
	for name, h := range map[string]Histogram{"a thousand": {Column: "x", Counts: make([]int, 1000), To: 1}, "one place": {Column: "x", Counts: []int{1}}, "levels": {Column: "k", Counts: []int{1, 2, 0}}} {
		if err := h.Check(s); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for n, want := range map[int]bool{maxNumbers: true, maxNumbers + 1: false} {
		var b strings.Builder
		b.WriteString("x,y\n")
		for i := range n {
			fmt.Fprintf(&b, "%d,%d\n", i, i%7)
		}
		if _, all := histograms(t, b.String(), Spec{Targets: []string{"y"}}); all[0].Whole != want {
			t.Errorf("%d whole numbers are bins of whole numbers: %v", n, all[0].Whole)
		}
	}
}

// Which columns a summary lists of many.
func TestShownColumns(t *testing.T) {
	for _, c := range []struct{ plain, special, shown, more int }{{60, 0, 60, 0}, {61, 0, 60, 1}, {100, 10, 60, 50}, {30, 50, 70, 10}, {10, 130, 120, 20}} {
		s := &Schema{}
		for range c.plain {
			s.Columns = append(s.Columns, Column{Role: Input})
		}
		for range c.special {
			s.Columns = append(s.Columns, Column{Role: Target})
		}
		if shown, more := s.Shown(); len(shown) != c.shown || more != c.more {
			t.Errorf("of %+v %d are shown, %d more", c, len(shown), more)
		}
	}
}

// A warning that proposes a setting spells it as its reader does.
func TestAdviceIsSpelt(t *testing.T) {
	c := Column{}
	c.warn("odd")
	c.advise(advice.New("write it otherwise, or %v", advice.Set("Decimal", "comma")))
	c.warn("very odd")
	spell := func(s advice.Setting) string { return "--" + s.Field }
	if got := c.Advice().In(spell); got != "odd; write it otherwise, or --Decimal; very odd" {
		t.Errorf("%q", got)
	}
	read := Column{Warning: c.Warning} // from a file, which keeps the words only
	if got := read.Advice().In(spell); got != c.Warning || got != "odd; write it otherwise, or set decimal to comma; very odd" {
		t.Errorf("%q", got)
	}
}

// Texts that people read as numbers.
func TestLikeNumbers(t *testing.T) {
	for text, want := range map[string]lookalike{
		"5:10": durations, "1h 20m": durations, "PT5M": durations, "3×10^5": powers, "5±1": errorBars, "<5": bounds, "≥ 2.5": bounds, "10+": bounds,
		"'5": signs, "5-": signs, "٥": scripts, "१.५": scripts, "9.9.9": "", "9-9": "", "abc": "", "±": "", "": "", strings.Repeat("5:10", 11): "", "<" + strings.Repeat("5", 39): bounds, "<" + strings.Repeat("5", 40): "",
	} {
		if got := likeNumber(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}
