package schema

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"utvi/gauss"
	"utvi/table"
)

func load(t *testing.T, text string) *table.Frame {
	t.Helper()
	r, err := table.NewReader(strings.NewReader(text), "a.csv", table.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	f, err := table.Load(r)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// chunk is the first of a frame.
func chunk(f *table.Frame) *table.Chunk {
	c, _ := f.At(0)
	return c
}

func infer(t *testing.T, text string, spec Spec) *Schema {
	t.Helper()
	s, err := Infer(load(t, text).Rows(nil), spec)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func wantError(t *testing.T, what string, err error, want string) {
	t.Helper()
	if err == nil || err.Error() != want {
		t.Errorf("%s: got\n%v, want\n%s", what, err, want)
	}
}

const mixedTable = `id,age,age_std,colour,same,w,day,y,empty
a1,10,1,red,5,1,2026-01-01,1,
a2,20,2,blue,5,2,2026-01-02,3,
a3,NA,3,red,5,0.5,2026-01-03,5,NA
a4,60,4,green,5,1,2026-01-04,7,?
`

func TestInferAndEncode(t *testing.T) {
	spec := Spec{Targets: []string{"y"}, Weight: "w", Time: "day", Ignore: []string{"", "id"}, Impute: true}
	s := infer(t, mixedTable, spec)
	want := []Column{
		{Name: "id", Role: Dropped, Note: "ignored"},
		{Name: "age", Role: Input, Type: Numeric, Stats: Stats{Missing: 1, Mean: 30, SD: s.Columns[1].SD, Min: 10, Max: 60}, Encoding: Encoding{Apart: true, Scale: &Scale{}, StdFrom: "age_std"}},
		{Name: "age_std", Role: Std, Type: Numeric, Note: "standard deviation of age", Stats: Stats{Mean: 2.5, SD: s.Columns[2].SD, Min: 1, Max: 4}},
		{Name: "colour", Role: Input, Type: Categorical, Encoding: Encoding{Levels: []string{"red", "blue", "green"}}},
		{Name: "same", Role: Dropped, Note: "constant: 5"},
		{Name: "w", Role: Weight, Type: Numeric, Stats: Stats{Mean: 1.125, SD: s.Columns[5].SD, Min: 0.5, Max: 2}, Reading: Reading{Point: "."}},
		{Name: "day", Role: Time},
		{Name: "y", Role: Target, Type: Numeric, Stats: Stats{Mean: 4, SD: math.Sqrt(5), Min: 1, Max: 7}, TargetStats: TargetStats{Whole: true}},
		{Name: "empty", Role: Dropped, Note: "only missing values", Stats: Stats{Missing: 4}},
	}
	for i, c := range s.Columns {
		if !reflect.DeepEqual(c, want[i]) {
			t.Errorf("column is\n%+v, want\n%+v", c, want[i])
		}
	}
	sd := math.Sqrt((400 + 100 + 900) / 3.)
	if math.Abs(s.Columns[1].SD-sd) > 1e-12 {
		t.Errorf("sd of age is %v, want %v", s.Columns[1].SD, sd)
	}
	if got, want := fmt.Sprint(s.Inputs()), "[age age? colour=red colour=blue colour=green colour=other]"; got != want {
		t.Errorf("inputs are %s, want %s", got, want)
	}

	// Other columns, another order, a new level, a missing one, no target.
	f := load(t, "new,colour,age_std,age\n1,violet,7,10\n1,NA,14,\n1,blue,0,100\n")
	e, err := s.Bind(f.Header())
	if err != nil {
		t.Fatal(err)
	}
	if e.HasTargets() || e.HasWeights() || !slices.Equal(e.Extra(), []string{"new"}) || e.Width() != 6 {
		t.Errorf("bound as %+v", e)
	}
	x := gauss.New[float32](3, 6)
	for i := range x.Mean {
		x.Mean[i], x.Var[i] = 9, 9 // all must be written
	}
	if err := e.Inputs(chunk(f), x); err != nil {
		t.Fatal(err)
	}
	a, b := float32(-20/sd), float32(70/sd)
	if want := []float32{a, 0, 0, 0, 0, 1, 0, 1, 0, 0, 0, 1, b, 0, 0, 1, 0, 0}; !slices.Equal(x.Mean, want) {
		t.Errorf("inputs are\n%v, want\n%v", x.Mean, want)
	}
	if v := float32(7 / sd * (7 / sd)); x.Var[0] != v || x.Var[6] != 0 || x.Var[12] != 0 || slices.Max(x.Var[1:]) != 0 {
		t.Errorf("variances are %v, want %v first", x.Var, v)
	}
	wantError(t, "no target", e.Targets(chunk(f), make([]float32, 3)), "a.csv lacks the target y; it has new, colour, age_std, age")

	set, err := s.Encode(load(t, mixedTable).Rows([]int{3, 0}))
	if err != nil {
		t.Fatal(err)
	}
	if y := float32(3 / math.Sqrt(5)); !slices.Equal(set.Y, []float32{y, -y}) || !slices.Equal(set.Weights, []float32{1, 1}) || set.X.Mean[4] != 1 || set.X.Mean[8] != 1 {
		t.Errorf("the set is %+v", set)
	}
}

func TestSchemaJSON(t *testing.T) {
	s := infer(t, mixedTable, Spec{Targets: []string{"y"}, Impute: true, Ignore: []string{"id"}, InputStd: map[string]float64{"w": 0.125}})
	data, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	back, err := Parse(data)
	if err != nil || !reflect.DeepEqual(s, back) {
		t.Errorf("came back as %+v, %v", back, err)
	}
	for _, c := range []struct{ old, new, want string }{
		{`"task":"regression"`, `"task":"guess"`, `table schema: the task "guess" is unknown`},
		{`"task":"regression"`, `"task":"classification"`, `table schema: column y: the target of a classification cannot be numeric`},
		{`"rows":4`, `"rows":4,"more":1`, `table schema: unknown field "more"; the fields are task, named, impute, rows, columns`},
		{`"name":"same"`, `"name":"y"`, `table schema: column y is listed twice`},
		{`"role":"target"`, `"role":"group"`, `table schema: no column is a target`},
		{`"std_from":"age_std"`, `"std_from":"none"`, `table schema: column age: the column none of its standard deviations is missing`},
		{`"levels":["red","blue"`, `"levels":["red","red"`, `table schema: column colour: the level "red" is listed twice`},
		{`"mean":4,"sd":`, `"mean":4,"sd":-`, `table schema: column y: the standard deviation is -2.23606797749979; it must be > 0`},
		{`"std":0.125`, `"std":-0.125`, `table schema: column w: the standard deviation of its values is -0.125; it must be ≥ 0`},
	} {
		bad := strings.Replace(string(data), c.old, c.new, 1)
		_, err := Parse([]byte(bad))
		wantError(t, c.new, err, c.want)
	}
}

func TestClassification(t *testing.T) {
	s := infer(t, "x,y\n1,10\n2,9\n3,9.0\n4,b\n5,a\n", Spec{Targets: []string{"y"}})
	if want := []string{"9", "10", "a", "b"}; s.Task != Classification || !slices.Equal(s.Classes(), want) {
		t.Errorf("%s of %q, want %q", s.Task, s.Classes(), want)
	}
	set, err := s.Encode(load(t, "y,x\n09,1\nb,1\n10,1\n").Rows(nil))
	if err != nil || !slices.Equal(set.Y, []float32{0, 3, 1}) {
		t.Errorf("classes are %v, %v", set.Y, err)
	}
	_, err = s.Encode(load(t, "y,x\nb,1\nc,1\n").Rows(nil))
	wantError(t, "new class", err, `a.csv line 3, column y: "c" is not one of the classes 9, 10, a, b`)
	s = infer(t, "x,y\n1,\"b, c\"\n2,a\n", Spec{Targets: []string{"y"}})
	_, err = s.Encode(load(t, "y,x\nb,1\n").Rows(nil))
	wantError(t, "a class with a comma", err, `a.csv line 2, column y: "b" is not one of the classes a, "b, c"`)
	if s := infer(t, "x,y\n1,0\n2,1\n3,1\n", Spec{Targets: []string{"y"}, Task: Classification}); !slices.Equal(s.Classes(), []string{"0", "1"}) {
		t.Errorf("classes %q", s.Classes())
	}
	if s := infer(t, "x,y\n1,0\n2,1\n3,1\n", Spec{Targets: []string{"y"}}); s.Task != Regression {
		t.Error("numbers are to be classified")
	}
}

func TestLevels(t *testing.T) {
	var text strings.Builder
	text.WriteString("k,id,n,y\n")
	for i := range 400 {
		fmt.Fprintf(&text, "k%d,id%d,%d,%d\n", min(i%40, i%23), i, i%3, i)
	}
	s := infer(t, text.String(), Spec{Targets: []string{"y"}, MaxLevels: 4, Categorical: []string{"n"}})
	if c := s.Columns[0]; len(c.Levels) != 23 || !c.Embedded || c.Numbers() != 25 || c.Levels[0] != "k0" {
		t.Errorf("%+v", c)
	}
	if c := s.Columns[1]; c.Role != Dropped || c.Note != "text that differs in every row" {
		t.Errorf("%+v", c)
	}
	if c := s.Columns[2]; !slices.Equal(c.Levels, []string{"0", "1", "2"}) || c.Embedded {
		t.Errorf("%+v", c)
	}
	set, err := s.Encode(load(t, "k,id,n,y\nk22,a,2.0,1\n").Rows(nil))
	if err != nil || !slices.Equal(set.X.Mean, []float32{22, 0, 0, 1, 0}) || !slices.Equal(s.Inputs(), []string{"k", "n=0", "n=1", "n=2", "n=other"}) {
		t.Errorf("%v %v %v", set.X.Mean, s.Inputs(), err)
	}
	text.WriteString(",x,1,0\n")
	s = infer(t, text.String(), Spec{Targets: []string{"y"}, MaxLevels: 4, Impute: true})
	set, err = s.Encode(load(t, "k,id,n,y\nk0,a,2,1\nnew,a,2,1\n,a,2,1\n").Rows(nil))
	if n := len(s.Inputs()); n != set.X.Width {
		t.Errorf("%d names of %d inputs", n, set.X.Width)
	}
	if err != nil || set.X.Mean[0] != 0 || set.X.Mean[3] != 23 || set.X.Mean[6] != 24 {
		t.Errorf("the first level, a new one and none become %v; want 0, 23 and 24 (%v)", set.X.Mean, err)
	}
}

// Codes that are numbers are levels as well, however many there are.
func TestManyCodes(t *testing.T) {
	var text strings.Builder
	text.WriteString("code,y\n")
	for i := range 6000 {
		fmt.Fprintf(&text, "%d,%d\n", 100+i%2000, i%7)
	}
	s := infer(t, text.String(), Spec{Targets: []string{"y"}, Categorical: []string{"code"}})
	if c := s.Columns[0]; c.Role != Input || !c.Embedded || len(c.Levels) != 2000 {
		t.Errorf("%d levels, %s, %s", len(c.Levels), c.Role, c.Note)
	}
}

func TestInferErrors(t *testing.T) {
	many := "x,y\n"
	for i := range 100 {
		many += fmt.Sprintf("%d,%d\n", i, i*i%17)
	}
	y := Spec{Targets: []string{"y"}}
	for _, c := range []struct {
		text string
		spec Spec
		want string
	}{
		{"x,y\n1,2\n", Spec{}, "no target is given; name the column to predict"},
		{"x,y\n1,2\n", Spec{Targets: []string{"z"}}, "a.csv has no column z, which is named as target; its columns are x, y"},
		{"x,y\n1,2\n", Spec{Targets: []string{"y"}, Weight: "y"}, "column y cannot be target and weight"},
		{"x,y\n1,2\n2,\n", y, "a.csv line 3, column y: the target is missing; remove the row"},
		{"x,y\n1,2\n2,\n3,?\n", y, "a.csv line 3, column y: the target is missing, as in 2 of 3 rows to train with; remove them"},
		{"1,2\n3,4\n", y, "a.csv has no column y, which is named as target; its columns are c1, c2; the file has no column names, so the columns are called c1, c2 …"},
		{"x,\"y [m, s]\"\n1,2\n", Spec{Targets: []string{"y [m", " s]"}}, `a.csv has no column y [m, which is named as target; its columns are x, "y [m, s]"; put a name with a comma in double quotes: '"y [m, s]"'`},
		{"x,y\n1,2\n2,\n", Spec{Targets: []string{"y"}, Impute: true}, "a.csv line 3, column y: the target is missing; remove the row"},
		{"x,y\n1,2\nNA,2\n", y, "a.csv line 3, column x: \"NA\" stands for a missing value; impute missing values, or ignore column x"},
		{"x,y\n1,2\n3,2\n", y, "a.csv: the target y is 2 in all 2 training rows; there is nothing to learn"},
		{"x,y\n1,2\n3,inf\n", y, "a.csv line 3, column y: +Inf is not a finite number; leave the cell empty if the value is missing"},
		{"x,y\n1,2\n-1e999,3\n", y, "a.csv line 3, column x: -Inf is not a finite number; leave the cell empty if the value is missing"},
		{"x,y\n1,2\n1,3\n", y, "a.csv: no column is left to predict from: x is constant: 1"},
		{many + "oops,1\n", y, `a.csv line 102, column x: "oops" is text in a column of numbers; correct it or leave the cell empty, set ignore to x, or set categorical to x`},
		{many + "1,oops\n", Spec{Targets: []string{"y"}, Task: Regression}, `a.csv line 102, column y: "oops" is text; the target of a regression must be a number`},
		{"x;y\n1,5;2.5\n1.5;3\n1.25;3\n" + different(12), y, `a.csv line 2, column x: "1,5" is text in a column of numbers; correct it or leave the cell empty, set ignore to x, or set categorical to x`},
		{"x,y,w\n1,2,1\n2,3,-1\n3,4,-2\n", Spec{Targets: []string{"y"}, Weight: "w"}, "a.csv line 3, column w: -1 is negative; a weight must be a number ≥ 0"},
		{"x,y,w\n1,2,a\n2,3,1\n", Spec{Targets: []string{"y"}, Weight: "w"}, `a.csv line 2, column w: "a" is text; a weight must be a number`},
		{"x,y,w\n1,2,\n2,3,1\n", Spec{Targets: []string{"y"}, Weight: "w"}, "a.csv line 2, column w: the weight is missing"},
		{"x,y,w\n1,2,0\n2,3,0\n", Spec{Targets: []string{"y"}, Weight: "w"}, "a.csv: every weight in column w is 0"},
		{"x,y\na,2\nb,3\n", Spec{Targets: []string{"y"}, InputStd: map[string]float64{"x": 1}}, "column x is categorical and cannot have the input standard deviation 1"},
		{"x,y\n1,2\n2,3\n", Spec{Targets: []string{"y"}, InputStd: map[string]float64{"x": -1}}, "the standard deviation of column x is -1; it must be finite and ≥ 0"},
		{"x,x_std,y\n1,-1,2\n2,1,3\n", y, "a.csv line 2, column x_std: -1 is negative; a standard deviation must be a number ≥ 0"},
		{"x,x_std,y\n1,1,2\n2,1,3\n", Spec{Targets: []string{"y"}, InputStd: map[string]float64{"x": 1}}, "column x has a standard deviation given and a column x_std; ignore one"},
		{"x,y\n1,2\n2,3\n", Spec{Targets: []string{"y"}, InputStd: map[string]float64{"z": 1}}, "a.csv has no column z, which is named as having a standard deviation; its columns are x, y"},
		{"x,y\n1,2\n2,3\n", Spec{Targets: []string{"y"}, InputStd: map[string]float64{"y": 1}}, "column y is not an input and cannot have an input standard deviation of 1"},
		{"x,y\n1,2\n2,3\n", Spec{Targets: []string{"y"}, InputStd: map[string]float64{"x": math.Inf(1)}}, "the standard deviation of column x is +Inf; it must be finite and ≥ 0"},
		{"x,y\n2026-01-01,2\n2026-01-02,3\n", Spec{Targets: []string{"y"}, InputStd: map[string]float64{"x": 1}}, "column x holds times and cannot have the input standard deviation 1"},
		{"x,y\n1,2\n2,3\n", Spec{Targets: []string{"y"}, Categorical: []string{"z"}}, "a.csv has no column z, which is named as categorical; its columns are x, y"},
		{"x,y\n1,2\n2,3\n", Spec{Targets: []string{"y"}, Group: "z"}, "a.csv has no column z, which is named as group; its columns are x, y"},
		{"x,y\n1.7e308,2\n-1.7e308,3\n", y, "column x spans -1.7e+308 to 1.7e+308, too wide a range for its mean and deviation"},
		{"x,y\n1,red\n", y, `a.csv: the target y is "red" in the only training row; there is nothing to learn`},
		{"x,y\n1,-\n2,-\n", Spec{Targets: []string{"y"}, Task: Regression}, `a.csv line 2, column y: "-" is text; the target of a regression must be a number`},
		{"x,y,z\n1,2,2\n2,3,3\n", Spec{Targets: []string{"y", "z"}, Task: Classification}, "a.csv: a classification has one target, not 2"},
		{"x,y,z\n1,a,2\n2,b,3\n", Spec{Targets: []string{"y", "z"}}, "a.csv: several targets must all be numbers; z holds numbers, y names"},
	} {
		_, err := Infer(load(t, c.text).Rows(nil), c.spec)
		wantError(t, fmt.Sprintf("%.40q", c.text), err, c.want)
	}
}

func TestEncodeErrors(t *testing.T) {
	s := infer(t, "x,x_std,k,y\n1,1,a,1\n2,1,b,2\n", Spec{Targets: []string{"y"}})
	for text, want := range map[string]string{
		"x,k\n1,a\n":                   "a.csv lacks the column x_std, which the model needs; it has x, k",
		"k,y\na,1\n":                   "a.csv lacks the columns x, x_std, which the model needs; it has k, y",
		"x,x_std,k,y\nred,1,a,1\n":     `a.csv line 2, column x: "red" is text; a number is needed`,
		"x,x_std,k,y\n1,1,a,1\n,1,,1":  "a.csv line 3, column x: the value is missing; only a model trained to impute missing values accepts that",
		"x,x_std,k,y\n1,1,?,1\n":       "a.csv line 2, column k: \"?\" stands for a missing value; only a model trained to impute missing values accepts that",
		"x,x_std,k,y\ninf,1,a,1\n":     "a.csv line 2, column x: +Inf is not a finite number",
		"x,x_std,k,y\n1.7e308,1,a,1\n": "a.csv line 2, column x: 1.7e+308 is too far from the training range, 1 to 2",
		"x,x_std,k,y\n1,-2,a,1\n":      "a.csv line 2, column x_std: the standard deviation is -2; a finite number ≥ 0 is needed",
		"x,x_std,k,y\n1,,a,1\n":        "a.csv line 2, column x_std: the standard deviation is missing; a finite number ≥ 0 is needed",
		"x,x_std,k,y\n1,1e30,a,1\n":    "a.csv line 2, column x: the standard deviation is 1e+30, too large compared with the standard deviation of the column, 0.5",
		"x,x_std,k,y\n1,1,a,NA\n":      "a.csv line 2, column y: \"NA\" stands for a missing target; remove the row",
		"x,x_std,k,y\n1,1,a,b\n":       `a.csv line 2, column y: "b" is text; the target is a number`,
		"1,2\n":                        "a.csv has 2 columns, to be matched by position; the model was trained with 4, or 3 without targets, in this order: x, x_std, k, y",
	} {
		_, err := s.Encode(load(t, text).Rows(nil))
		wantError(t, text, err, want)
	}
	// By position, without the target.
	f := load(t, "1.5,3,b\n2,3,c\n")
	e, err := s.Bind(f.Header())
	if err != nil {
		t.Fatal(err)
	}
	x := gauss.Fixed(4, make([]float32, 8))
	if err := e.Inputs(chunk(f), x); err != nil || !slices.Equal(x.Mean, []float32{0, 0, 1, 0, 1, 0, 0, 1}) || e.HasTargets() {
		t.Error(x.Mean, err)
	}
}

func TestSummary(t *testing.T) {
	s := infer(t, mixedTable, Spec{Targets: []string{"y"}, Weight: "w", Time: "day", Impute: true})
	var b strings.Builder
	if err := s.WriteSummary(&b); err != nil {
		t.Fatal(err)
	}
	want := `column   type         values                      missing  use
id       categorical  4: a1, a2, a3, a4                    5 inputs: its levels, other
age      numeric      10 to 60, mean 30, sd 21.6        1  input with std from age_std
age_std  numeric      1 to 4                               standard deviation of age
colour   categorical  3: red, blue, green                  4 inputs: its levels, other
same                                                       dropped: constant: 5
w        numeric      0.5 to 2                             weight
day                                                        time, for splits only
y        numeric      1 to 7, mean 4, sd 2.236             target
empty                                                   4  dropped: only missing values
regression of y from 11 inputs; 4 rows
`
	if b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
}
