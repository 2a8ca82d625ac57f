package schema

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"utvi/internal/pixels"
)

// checkable is a valid schema with a column of every kind: the input x with its deviations, the
// names k, the times t, the images p and the target y.
func checkable() *Schema {
	low := 0.0
	return &Schema{Task: Regression, Named: true, Impute: true, Rows: 9, Columns: []Column{
		{Name: "x", Role: Input, Type: Numeric, Stats: Stats{SD: 1}, Encoding: Encoding{Std: 0.5, Apart: true, StdFrom: "s"}, Reading: Reading{Style: "1,234.5"}},
		{Name: "k", Role: Input, Type: Categorical, Encoding: Encoding{Levels: []string{"a", "b"}, Apart: true}, Reading: Reading{Codes: true, Point: ","}},
		{Name: "t", Role: Input, Type: Times, Stats: Stats{SD: 1}, Reading: Reading{Layout: "2006-01-02", Parts: []Part{OfYear, OfWeek, OfDay}, Point: "."}},
		{Name: "p", Role: Input, Type: Picture, Encoding: Encoding{Image: &pixels.Format{Height: 2, Width: 3, Channels: 1, Mean: []float64{0}, SD: []float64{1}}}},
		{Name: "s", Role: Std, Type: Numeric},
		{Name: "y", Role: Target, Type: Numeric, Stats: Stats{SD: 1}, TargetStats: TargetStats{Low: &low}},
	}}
}

// classified makes the target one of two classes.
func (s *Schema) classified() *Column {
	s.Task = Classification
	y := &s.Columns[5]
	*y = Column{Name: "y", Role: Target, Type: Categorical, Encoding: Encoding{Levels: []string{"a", "b"}}, TargetStats: TargetStats{Counts: []int{4, 0}}}
	return y
}

// A model's file can hold any schema: whatever encoding relies on is checked, each of it alone.
func TestSchemaIsChecked(t *testing.T) {
	for name, c := range map[string]struct {
		change func(s *Schema, x, k, day, p, y *Column)
		want   string
	}{
		"nothing":             {func(s *Schema, x, k, day, p, y *Column) {}, ""},
		"classes":             {func(s *Schema, x, k, day, p, y *Column) { s.classified() }, ""},
		"a share of one":      {func(s *Schema, x, k, day, p, y *Column) { y.Low, y.Most = nil, 1 }, ""},
		"a share of hundred":  {func(s *Schema, x, k, day, p, y *Column) { y.Low, y.Most = nil, 100 }, ""},
		"no deviation of y_s": {func(s *Schema, x, k, day, p, y *Column) { s.Columns[4].SD = -1 }, ""},
		"a comma style":       {func(s *Schema, x, k, day, p, y *Column) { x.Style = "1.234,5" }, ""},
		"embedded names":      {func(s *Schema, x, k, day, p, y *Column) { k.Embedded, k.Apart = true, false }, ""},
		"names of no mean":    {func(s *Schema, x, k, day, p, y *Column) { k.SD = 0 }, ""},

		"role":            {func(s *Schema, x, k, day, p, y *Column) { x.Role = "guest" }, `column x: the role "guest" is unknown`},
		"point":           {func(s *Schema, x, k, day, p, y *Column) { s.Columns[4].Point = ";" }, `column s: what stands before fractions is ";"; it must be a point or a comma`},
		"infinite":        {func(s *Schema, x, k, day, p, y *Column) { x.Max = math.Inf(1) }, "column x: a number is not finite"},
		"infinite below":  {func(s *Schema, x, k, day, p, y *Column) { x.Min = math.Inf(-1) }, "column x: a number is not finite"},
		"no number":       {func(s *Schema, x, k, day, p, y *Column) { x.Std = math.NaN() }, "column x: a number is not finite"},
		"no mean":         {func(s *Schema, x, k, day, p, y *Column) { y.Mean = math.NaN() }, "column y: a number is not finite"},
		"infinite SD":     {func(s *Schema, x, k, day, p, y *Column) { y.SD = math.Inf(1) }, "column y: a number is not finite"},
		"type":            {func(s *Schema, x, k, day, p, y *Column) { x.Type = "thing" }, `column x: the type "thing" is unknown`},
		"SD 0":            {func(s *Schema, x, k, day, p, y *Column) { day.SD = 0 }, "column t: the standard deviation is 0; it must be > 0"},
		"scale":           {func(s *Schema, x, k, day, p, y *Column) { x.Scale = &Scale{X: []float64{1, 1}, Z: []float64{1, 2}} }, "column x: the knots of its scale must be finite and rise"},
		"no format":       {func(s *Schema, x, k, day, p, y *Column) { p.Image = nil; x.Image = &pixels.Format{} }, "column x: images need a format, and nothing else has one"},
		"format":          {func(s *Schema, x, k, day, p, y *Column) { p.Image.Channels = 2 }, "column p: images of 2 channels; there must be 1, grey, or 3, colours"},
		"image target":    {func(s *Schema, x, k, day, p, y *Column) { p.Role = Target }, "column p: a target cannot be an image"},
		"image levels":    {func(s *Schema, x, k, day, p, y *Column) { p.Levels = []string{"a"} }, "column p: a input cannot be an image"},
		"task":            {func(s *Schema, x, k, day, p, y *Column) { s.classified().Type = Numeric; s.Columns[5].SD = 1 }, "column y: the target of a classification cannot be numeric"},
		"one class":       {func(s *Schema, x, k, day, p, y *Column) { s.classified().Levels = []string{"a"} }, "column y: there are 1 classes"},
		"two of classes":  {func(s *Schema, x, k, day, p, y *Column) { s.classified(); k.Role, k.Apart = Target, false }, "a classification has one target, not 2"},
		"embedded target": {func(s *Schema, x, k, day, p, y *Column) { s.classified().Embedded = true }, "column y: 2 levels of a categorical target cannot be embedded"},
		"embedded number": {func(s *Schema, x, k, day, p, y *Column) { x.Embedded = true }, "column x: 0 levels of a numeric input cannot be embedded"},
		"embedded rarer":  {func(s *Schema, x, k, day, p, y *Column) { k.Embedded, k.Apart = true, false; k.Rarer = 1 }, "column k: 2 levels of a categorical input cannot be embedded"},
		"embedded apart":  {func(s *Schema, x, k, day, p, y *Column) { k.Embedded = true }, "column k: missing values of a categorical input cannot have an input"},
		"apart target":    {func(s *Schema, x, k, day, p, y *Column) { y.Apart = true }, "column y: missing values of a numeric target cannot have an input"},
		"not imputed":     {func(s *Schema, x, k, day, p, y *Column) { s.Impute = false }, "column x: missing values of a numeric input cannot have an input"},
		"std of a time":   {func(s *Schema, x, k, day, p, y *Column) { day.Std = 1 }, "column t: a time column cannot have a standard deviation"},
		"std of names":    {func(s *Schema, x, k, day, p, y *Column) { k.StdFrom = "s" }, "column k: a categorical column cannot have a standard deviation"},
		"no deviations":   {func(s *Schema, x, k, day, p, y *Column) { x.StdFrom = "y" }, "column x: the column y of its standard deviations is missing"},
		"style":           {func(s *Schema, x, k, day, p, y *Column) { x.Style = "1 234.5" }, `column x: the style of numbers "1 234.5" is unknown`},
		"style of names":  {func(s *Schema, x, k, day, p, y *Column) { k.Style = "1,234.5" }, "column k: a categorical column cannot have a style of numbers"},
		"codes":           {func(s *Schema, x, k, day, p, y *Column) { x.Codes = true }, "column x: a numeric column cannot hold codes"},
		"no layout":       {func(s *Schema, x, k, day, p, y *Column) { day.Layout = "" }, "column t: times need a layout, and nothing else has one"},
		"layout":          {func(s *Schema, x, k, day, p, y *Column) { k.Layout = "2006" }, "column k: times need a layout, and nothing else has one"},
		"a time's part":   {func(s *Schema, x, k, day, p, y *Column) { day.Parts = []Part{OfDay, "hour"} }, `column t: the part of a time "hour" is unknown`},
		"parts of names":  {func(s *Schema, x, k, day, p, y *Column) { k.Parts = []Part{OfDay} }, "column k: 1 parts of a time in a categorical column"},
		"four parts":      {func(s *Schema, x, k, day, p, y *Column) { day.Parts = append(day.Parts, OfDay) }, "column t: 4 parts of a time in a time column"},
		"share of two":    {func(s *Schema, x, k, day, p, y *Column) { y.Most = 2 }, "column y: a numeric target cannot have the upper bound 2"},
		"share of input":  {func(s *Schema, x, k, day, p, y *Column) { x.Most = 1 }, "column x: a numeric input cannot have the upper bound 1"},
		"share of names":  {func(s *Schema, x, k, day, p, y *Column) { s.classified().Most = 1 }, "column y: a categorical target cannot have the upper bound 1"},
		"bounds of input": {func(s *Schema, x, k, day, p, y *Column) { x.Low = y.Low }, "column x: a numeric input cannot have bounds"},
		"high of input":   {func(s *Schema, x, k, day, p, y *Column) { x.High = y.Low }, "column x: a numeric input cannot have bounds"},
		"bounds of names": {func(s *Schema, x, k, day, p, y *Column) { low := y.Low; s.classified().Low = low }, "column y: a categorical target cannot have bounds"},
		"counts":          {func(s *Schema, x, k, day, p, y *Column) { s.classified().Counts = []int{1} }, "column y: 1 counts of 2 classes"},
		"negative count":  {func(s *Schema, x, k, day, p, y *Column) { s.classified().Counts[1] = -1 }, "column y: a class has -1 rows"},
		"no target":       {func(s *Schema, x, k, day, p, y *Column) { y.Role, y.Low = Dropped, nil }, "no column is a target"},
		"no input": {func(s *Schema, x, k, day, p, y *Column) {
			x.Role, k.Role = Dropped, Group
			day.Role, p.Role = Time, Dropped
		}, "no column is an input"},
	} {
		s := checkable()
		c.change(s, &s.Columns[0], &s.Columns[1], &s.Columns[2], &s.Columns[3], &s.Columns[5])
		got := ""
		if err := s.check(); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	s := checkable()
	s.Columns[0].Role = "guest"
	data, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	if s, err := Parse(data); s != nil || err == nil || !strings.HasPrefix(err.Error(), "table schema: column x: ") {
		t.Errorf("the reader of a file returns %v, %v", s, err)
	}
}

// A target is a time, or images, only by mistake.
func TestTargetsAreNoTimes(t *testing.T) {
	s := checkable()
	s.Columns[2].Role = Target
	s.Columns[5].Role = Dropped
	wantError(t, "a time as the target", s.check(), "column t: a target cannot be a time")
	for _, s := range []*Scale{{X: []float64{1}, Z: []float64{1}}, {X: []float64{1, 2}, Z: []float64{1}}} {
		wantError(t, "knots", s.check(), "its scale needs as many knots before as after, none or at least 2")
	}
	for _, s := range []*Scale{{X: []float64{1, math.Inf(1)}, Z: []float64{1, 2}}, {X: []float64{1, 2}, Z: []float64{2, 2}}} {
		wantError(t, "knots", s.check(), "the knots of its scale must be finite and rise")
	}
}

// The inputs of every kind of column, by name and by place, and what stands for a column that a
// row lacks.
func TestInputsOfEveryKind(t *testing.T) {
	s := checkable()
	want := "x x? k=a k=b k=other k? t t: sine of the year t: cosine of the year t: sine of the week t: cosine of the week t: sine of the day t: cosine of the day p[0] p[1] p[2] p[3] p[4] p[5]"
	if got := strings.Join(s.Inputs(), " "); got != want {
		t.Errorf("inputs\n%s, want\n%s", got, want)
	}
	spans := s.Spans()
	for i, to := range []int{2, 6, 13, 19} {
		from := 0
		if i > 0 {
			from = spans[i-1].To
		}
		if spans[i].From != from || spans[i].To != to || spans[i].Column != &s.Columns[i] {
			t.Errorf("span %d is %+v, want %d to %d", i, spans[i], from, to)
		}
	}
	if len(spans) != 4 || s.Picture() != 3 || !s.Pictures() || !s.Uncertain() {
		t.Errorf("%d spans, images in column %d, uncertain %v", len(spans), s.Picture(), s.Uncertain())
	}
	s.Columns[3].Role = Dropped
	s.Columns[0].StdFrom = ""
	if s.Picture() != -1 || s.Pictures() || !s.Uncertain() {
		t.Error("a column of images that is left out is one of the inputs")
	}
	s.Columns[0].Std = 0
	if s.Uncertain() {
		t.Error("inputs without deviations are uncertain")
	}
	s.Columns[1].Embedded, s.Columns[1].Apart = true, false
	s.Columns[2].Missing = 1
	want = "x x? k t t: sine of the year t: cosine of the year t: sine of the week t: cosine of the week t: sine of the day t: cosine of the day t?"
	if got := strings.Join(s.Inputs(), " "); got != want || s.Columns[1].Numbers() != 4 || s.Columns[0].Numbers() != 0 {
		t.Errorf("inputs\n%s, want\n%s", got, want)
	}
}
