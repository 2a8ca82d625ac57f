package schema

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"utvi/internal/advice"
	"utvi/table"
)

// A column in the first place is a column like others: weights, targets, deviations, numbers in
// another style.
func TestFirstColumns(t *testing.T) {
	s := infer(t, "w,x,y\n1,1,1\n2,3,2\n", Spec{Targets: []string{"y"}, Weight: "w"})
	set, err := s.Encode(load(t, "w,x,y\n1,1,1\n2,3,2\n").Rows(nil))
	if err != nil || !slices.Equal(set.Weights, []float32{1, 2}) {
		t.Errorf("weights in the first column: %v, %v", set.Weights, err)
	}
	e, c := boundTo(t, s, "y,x,w\n,1,1\n1,1,1\n")
	if !e.HasTargets() || e.Complete(c, 0) || !e.Complete(c, 1) {
		t.Error("a target in the first column is not looked at")
	}
	s = infer(t, "x_std,x,y\n1,1,1\n2,3,2\n", Spec{Targets: []string{"y"}})
	set, err = s.Encode(load(t, "x_std,x,y\n2,1,1\n").Rows(nil))
	if err != nil || !slices.Equal(set.X.Var, []float32{4}) {
		t.Errorf("deviations in the first column: %v, %v", set.X.Var, err)
	}
	s = infer(t, "x,y\n\"1,234.5\",1\n\"2,000.25\",2\n\"1,000\",2\n", Spec{Targets: []string{"y"}})
	want, err := s.Encode(load(t, "x,y\n\"1,234.5\",1\n").Rows(nil))
	if err != nil {
		t.Fatal(err)
	}
	set, err = s.Encode(open(t, "x;y\n1.234,5;1\n"))
	if err != nil || set.X.Mean[0] != want.X.Mean[0] {
		t.Errorf("numbers in another style: %v, %v; want %v", set, err, want.X.Mean)
	}
	s = infer(t, "k,y\nred,1\nred,2\nblue,3\n", Spec{Targets: []string{"y"}})
	if got := notes(t, s, "k,y\nRED,1\n"); len(got) != 1 || !strings.HasSuffix(got[0], `; "red" differs from it only by case or blanks`) {
		t.Errorf("%q", got)
	}
}

// Bounds of targets, at them.
func TestCornersOfBounds(t *testing.T) {
	if low, high, ok := (&Column{TargetStats: TargetStats{Most: 1}}).Bounds(); low != 0 || high != 1 || !ok {
		t.Errorf("a share lies from %g to %g, %v", low, high, ok)
	}
	share := "x,y\n1,0\n2,0.5\n3,1\n"
	s := infer(t, share, Spec{Targets: []string{"y"}, TargetRange: "0:1"})
	if y := s.Columns[1]; y.Most != 0 || *y.Low != 0 || *y.High != 1 {
		t.Errorf("a share with a range: %+v", y.TargetStats)
	}
	err := (&Spec{TargetRange: "5:5"}).CheckTargetRange()
	if err == nil {
		t.Error("the range 5:5 was accepted")
	}
	for _, c := range []struct {
		rows     int
		low, sd  float64
		smallest bool
	}{{30, 0, 1, true}, {29, 0, 1, false}, {30, 1, 1, true}, {30, 1.01, 1, false}, {30, -0.1, 1, false}} {
		c2 := Column{Stats: Stats{Min: c.low, SD: c.sd}}
		p := &profile{spread: spread{numbers: c.rows}}
		if err := (&inference{}).limit(&c2, p); err != nil || (c2.Low != nil) != c.smallest {
			t.Errorf("%+v: bound %v, %v", c, c2.Low, err)
		}
	}
}

// Columns of dates that some cells contradict say which.
func TestCornersOfDates(t *testing.T) {
	dates := "2026-02-10|2026-02-11|2026-02-12|2026-02-13|2026-02-14|2026-02-15|2026-02-16|2026-02-17|2026-02-18|2026-02-19"
	for cells, want := range map[string]string{
		dates + "|soon|2026-02-20":                              `not all cells are dates ("2026-02-10" on line 2, "soon" on line 12), so they are read as names; correct such cells, or leave them empty`,
		"2026-02-10|2.1.2026|soon|later|" + dates + "|" + dates: `not all cells are dates ("2026-02-10" on line 2, "soon" on line 4), so they are read as names; correct such cells, or leave them empty`,
		"2026-02-10|2.1.2026|5|2026-02-10|2.1.2026":             "",
		"2026-02-10|soon|soon|2026-02-10":                       "",
	} {
		if got := infer(t, exactly(cells), Spec{Targets: []string{"y"}, MaxLevels: 5}).Columns[0].Warning; got != want && !strings.HasPrefix(got, strings.TrimSuffix(want, "they are read as names; correct such cells, or leave them empty")+"the column is left out") {
			t.Errorf("%s: %q, want %q", cells, got, want)
		}
	}
	if c := infer(t, exactly("19000101|19000102|19000103"), Spec{Targets: []string{"y"}}).Columns[0]; c.Type != Times || !(c.Min < c.Mean && c.Mean < c.Max) {
		t.Errorf("days of 1900 are %+v", c)
	}
	if c := infer(t, exactly("18991231|19000102|19000103"), Spec{Targets: []string{"y"}}).Columns[0]; c.Type != Numeric {
		t.Errorf("a number before 1900 is %+v", c)
	}
	s := infer(t, exactly("2026-02-10|2026-02-12"), Spec{Targets: []string{"y"}})
	set, err := s.Encode(load(t, exactly("2026-02-12|2026-02-13")).Rows(nil))
	if err != nil || set.X.Mean[0] != 1 || set.X.Mean[set.X.Width] != 2 {
		t.Errorf("the trend of times is %v, %v", set.X.Mean, err)
	}
	b := Column{Type: Numeric, Stats: Stats{SD: 1, Max: 9}, Encoding: Encoding{Scale: &Scale{X: []float64{2, 4}, Z: []float64{1, 3}}}}
	dst := []float32{9, 9}
	b.Typical(dst)
	if !slices.Equal(dst, []float32{1, 0}) {
		t.Errorf("without 0 among what it becomes, a typical number is %v", dst)
	}
	dst = []float32{9, 9}
	b.Place(4, dst)
	if !slices.Equal(dst, []float32{3, 0}) {
		t.Errorf("a number becomes %v", dst)
	}
}

// Roles that the user gives leave the other columns out; groups may be missing.
func TestCornersOfRoles(t *testing.T) {
	s := infer(t, "a,b,g,y\n1,2,,1\n2,1,u,2\n", Spec{Targets: []string{"y"}, Inputs: []string{"b"}, Group: "g", InputStd: map[string]float64{"b": 0}})
	for i, want := range []Role{Dropped, Input, Group, Target} {
		if got := s.Columns[i].Role; got != want {
			t.Errorf("column %s is %s, want %s", s.Columns[i].Name, got, want)
		}
	}
	r, err := table.NewReader(strings.NewReader("x,y\n1,2\n1\n"), "a.csv", table.Options{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = Infer(r, Spec{Targets: []string{"y"}})
	wantError(t, "a row that is too short", err, "a.csv line 3: 1 fields where 2 are expected")
	rising := "x,z,y\n"
	for i := range 20 {
		rising += fmt.Sprintf("%d,%d,%d\n", i, i*7%20, i)
	}
	s = infer(t, rising, Spec{Targets: []string{"y"}})
	if s.Columns[0].Note == "" || s.Columns[2].Note != "" {
		t.Errorf("rising are the input, %q, and the target, %q", s.Columns[0].Note, s.Columns[2].Note)
	}
	all, err := s.Histograms(load(t, "x,z\n1,2\n3,4\n").Rows(nil))
	if err != nil || len(all) != 2 {
		t.Errorf("without the target there are %d histograms, %v", len(all), err)
	}
}

// What decides between names and numbers, at the edge.
func TestCornersOfNames(t *testing.T) {
	for s, want := range map[string]bool{"DE": true, "AZ": true, "ZA": true, "dE": false, "De": false, "D[": false, "[E": false, "@E": false, "D@": false, "DEU": false, "D": false, "": false} {
		if isCountryCode(s) != want {
			t.Errorf("%q is a code of a country: %v", s, !want)
		}
	}
	spec := Spec{Targets: []string{"y"}, Impute: true}
	if c := infer(t, exactly("DE|US|FR|NA|5|DE|US|FR"), spec).Columns[0]; c.NA || c.Missing != 1 {
		t.Errorf("codes beside a number are %+v", c)
	}
	chosen := Spec{Targets: []string{"y"}, Categorical: []string{"c"}}
	if c := infer(t, exactly("01|02|3|4|5"), chosen).Columns[0]; !c.Codes || !slices.Contains(c.Levels, "01") {
		t.Errorf("codes that the user names are %+v", c)
	}
	if c := infer(t, exactly("0|1|2|3|4|5|6|7|8|9"), chosen).Columns[0]; len(c.Levels) != 10 {
		t.Errorf("ten names that differ are %+v", c)
	}
	if c := infer(t, exactly("1.5|2.5|1.5|2.5"), chosen).Columns[0]; c.Point != "." {
		t.Errorf("names with fractions are %+v", c)
	}
	mixed := strings.Repeat(counted(11, "%d")+"|", 9) + repeated(11, "x")
	_, err := Infer(load(t, exactly(mixed)).Rows(nil), Spec{Targets: []string{"y"}})
	wantError(t, "nine of ten are numbers", err, `a.csv line 101, column c: "x" is text in a column of numbers; correct it or leave the cell empty, set ignore to c, or set categorical to c`)
	s := infer(t, "x,y\n1,1\n2,01\n3,b\n4,1\n5,2\n6,b\n", Spec{Targets: []string{"y"}})
	y := s.Columns[1]
	if !slices.Equal(y.Levels, []string{"1", "2", "b"}) || !slices.Equal(y.Counts, []int{3, 1, 2}) {
		t.Errorf("the classes are %q, %d of them; %s", y.Levels, y.Counts, y.Note)
	}
	y = infer(t, "x,y\n1,a\n2,None\n3,a\n4,None\n5,b\n6,b\n", Spec{Targets: []string{"y"}}).Columns[1]
	if !slices.Equal(y.Levels, []string{"None", "a", "b"}) || y.Note != "None is read as a name" {
		t.Errorf("the classes are %q; %s", y.Levels, y.Note)
	}
	s = infer(t, "x,y\n1,01\n2,02\n3,3\n1,01\n2,02\n3,3\n", Spec{Targets: []string{"y"}, Task: Classification})
	if y := s.Columns[1]; !slices.Equal(y.Levels, []string{"01", "02", "3"}) || !slices.Equal(y.Counts, []int{2, 2, 2}) {
		t.Errorf("codes as classes are %q, %d", y.Levels, y.Counts)
	}
	if got := infer(t, "c;y\n12,50;1\n2,25;2\n3,5;3\n", Spec{Targets: []string{"y"}}).Columns[0].Note; got != `"12,50" is read as 12.5` {
		t.Error(got)
	}
}

// What all rows settle holds for few of them: the task, deviations, bounds, what is odd.
func TestCornersOfSettled(t *testing.T) {
	var b strings.Builder
	b.WriteString("x,k,v,y\n")
	for i := range 40 {
		fmt.Fprintf(&b, "%d,%s,%g,%d\n", i*7%40, []string{"red", "blue", "Red", "Blue"}[i%4], float64(i)/8, i%2)
	}
	f := load(t, b.String())
	few := []int{0, 1, 8, 9, 16, 17} // without Red and Blue
	spec := Spec{Targets: []string{"y"}, Impute: true, InputStd: map[string]float64{"x": 0.5}}
	whole, err := Infer(f.Rows(nil), spec)
	if err != nil {
		t.Fatal(err)
	}
	s, err := InferAs(whole, f.Rows(few[:4]), spec)
	if err != nil || s.Task != Classification || !slices.Equal(s.Classes(), []string{"0", "1"}) {
		t.Fatalf("%+v, %v", s, err)
	}
	if x := s.Columns[0]; x.Std != 0.5 || !x.Apart {
		t.Errorf("%+v", x)
	}
	if k := s.Columns[1]; k.Warning != whole.Columns[1].Warning || k.Advice().String() != k.Warning || !strings.Contains(k.Warning, "differ only by case") {
		t.Errorf("the warning is %q, of all rows %q", k.Warning, whole.Columns[1].Warning)
	}
	spec = Spec{Targets: []string{"v"}}
	whole, err = Infer(f.Rows(nil), spec)
	if err != nil {
		t.Fatal(err)
	}
	s, err = InferAs(whole, f.Rows([]int{0, 8, 16}), spec)
	if err != nil {
		t.Fatal(err)
	}
	if v, was := s.Columns[2], whole.Columns[2]; v.Whole || was.Low == nil || v.Low != was.Low || v.High != was.High {
		t.Errorf("%+v, of all rows %+v", v, was)
	}
}

// Marks, knots and the body of a column.
func TestCornersOfScales(t *testing.T) {
	same := append(slices.Repeat([]float64{0}, 12), 5, 5, 5)
	if s, _ := findSentinel(same, false); s != nil {
		t.Errorf("beside one number, 5 is %+v", s)
	}
	var heavy []float64
	for i := range 40 {
		heavy = append(heavy, float64(i%10)+1000*float64(i/38))
	}
	s, _ := newScale(heavy)
	if n := len(s.X); n < 3 || s.X[n-1] != 1009 || s.X[0] != 0 {
		t.Errorf("the knots are %v", s.X)
	}
	column := func(z []float64, x ...float64) *Column { // marks are 1 from their neighbours
		scale := &Scale{X: x, Z: z}
		return &Column{Stats: Stats{Min: x[0], Max: x[len(x)-1]}, Encoding: Encoding{Scale: scale}}
	}
	for _, c := range []struct {
		c      *Column
		lo, hi float64
		skewed bool
	}{
		{&Column{Stats: Stats{Min: 1, Max: 2}}, 1, 2, false},
		{&Column{Stats: Stats{Min: 1, Max: 2}, Encoding: Encoding{Scale: &Scale{}}}, 1, 2, false},
		{column([]float64{0, 1}, 0, 9), 0, 9, false}, {column([]float64{0, 1, 3}, -30, 0, 10), 0, 10, false}, {column([]float64{0, 1, 3}, -29, 0, 10), -29, 10, false},
		{column([]float64{0, 2, 3}, 0, 10, 40), 0, 10, false}, {column([]float64{0, 2, 3}, 0, 10, 39), 0, 39, false},
		{column([]float64{0, 1, 3, 4}, -300, 0, 10, 99), 0, 10, false}, {column([]float64{0, 2, 4, 6, 8}, 0, 1, 2, 3, 4), 0, 4, true},
	} {
		if lo, hi := c.c.Body(); lo != c.lo || hi != c.hi || c.c.Skewed() != c.skewed {
			t.Errorf("%+v: from %g to %g, skewed %v", c.c.Scale, lo, hi, c.c.Skewed())
		}
	}
	far := column([]float64{-2, 1, 3}, -30, 0, 10) // not where newScale puts marks
	if lo, _ := far.Body(); lo != -30 {
		t.Errorf("the body begins at %g", lo)
	}
	c := Column{}
	c.advise(advice.New("do it, or %v", advice.Set("Decimal", "comma")))
	if got := c.Advice().In(func(s advice.Setting) string { return "--" + s.Field }); got != "do it, or --Decimal" {
		t.Error(got)
	}
	if v := (&Column{Type: Numeric}).Encode(1); !math.IsInf(v, 1) {
		t.Errorf("without a deviation a number becomes %g", v)
	}
}
