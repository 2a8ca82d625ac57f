package schema

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"utvi/rng"
)

// column is a table of a column x, and an input and a target beside it.
func column(n int, x func(i int) float64) string {
	var b strings.Builder
	b.WriteString("x,u,y\n")
	for i := range n {
		fmt.Fprintf(&b, "%.17g,%d,%d\n", x(i), i%13, i%7)
	}
	return b.String()
}

func normalOf(i int) float64 { return rng.Normal(rng.New(3), uint64(i)) }

// A lognormal column becomes nearly its logarithm, at any place.
func TestSkewedInput(t *testing.T) {
	s := infer(t, column(2000, func(i int) float64 { return math.Exp(2 * normalOf(i)) }), Spec{Targets: []string{"y"}})
	c := &s.Columns[0]
	for _, z := range []float64{-2, -1, 0, 0.5, 1.5, 2.5} {
		if got := c.Encode(math.Exp(2 * z)); math.Abs(got-z) > 0.15 {
			t.Errorf("exp(2·%v) becomes %v, want %v", z, got, z)
		}
	}
	if c.Note != "" {
		t.Errorf("the column is noted: %s", c.Note)
	}
	if m := c.Middle(); math.Abs(math.Log(m)) > 0.2 || math.Abs(c.Encode(m)) > 1e-9 {
		t.Errorf("the middle is %v, want the median, about 1", m)
	}
	if lo, hi := c.Body(); lo != c.Min || hi != c.Max {
		t.Errorf("the values span %v to %v, want all of %v to %v", lo, hi, c.Min, c.Max)
	}
	if c := &s.Columns[1]; len(c.Scale.X) != 0 {
		t.Errorf("an even column has the scale %+v", c.Scale)
	}
}

// A mark for missing values does not set the scale of the others, and is noted.
func TestSentinel(t *testing.T) {
	s := infer(t, column(1000, func(i int) float64 {
		if i%50 == 7 {
			return -999999
		}
		return 10 + 2*normalOf(i)
	}), Spec{Targets: []string{"y"}})
	c := &s.Columns[0]
	for _, z := range []float64{-2, 0, 1, 2.5} {
		if got := c.Encode(10 + 2*z); math.Abs(got-z) > 0.15 {
			t.Errorf("10 + 2·%v becomes %v, want %v", z, got, z)
		}
	}
	if lowest, mark := c.Encode(3), c.Encode(-999999); !(mark < lowest && mark > -6) {
		t.Errorf("the mark becomes %v, the lowest value %v", mark, lowest)
	}
	if lo, hi := c.Body(); lo < 0 || hi != c.Max {
		t.Errorf("without the mark the values span %v to %v", lo, hi)
	}
	if m := c.Middle(); math.Abs(m-10) > 0.5 {
		t.Errorf("the middle is %v, want about 10", m)
	}
	typical := []float32{9}
	if c.Typical(typical); math.Abs(float64(typical[0])) > 1e-6 { // the mean, −20,000, is far from all values
		t.Errorf("a typical value becomes %v, want 0", typical[0])
	}
	both := infer(t, column(1000, func(i int) float64 {
		switch i % 50 {
		case 7:
			return -1e6
		case 9:
			return 1e5
		}
		return math.Exp(2 * normalOf(i))
	}), Spec{Targets: []string{"y"}}).Columns[0]
	if lo, hi := both.Body(); lo < 0 || hi > 1e4 {
		t.Errorf("without two marks the values span %v to %v", lo, hi)
	}
	if want := "2 % of the values are -999999, far from all others"; !strings.Contains(c.Note, want) {
		t.Errorf("the note is %q, want …%s…", c.Note, want)
	}
	if s := infer(t, column(1000, normalOf), Spec{Targets: []string{"y"}}); s.Columns[0].Note != "" {
		t.Errorf("a Normal column is noted: %s", s.Columns[0].Note)
	}
}

// What is far away stays finite, in order, and of a size that networks can square.
func TestFarInputs(t *testing.T) {
	for name, x := range map[string]func(i int) float64{
		"normal": normalOf, "skewed": func(i int) float64 { return math.Exp(2 * normalOf(i)) },
	} {
		c := &infer(t, column(500, x), Spec{Targets: []string{"y"}}).Columns[0]
		last := math.Inf(-1)
		for _, v := range []float64{-1e300, -1e22, -1e6, -100, -3, -1, 0, 1, 3, 100, 1e6, 1e22, 1e300} {
			z := c.Encode(v)
			if !(z > last) || math.Abs(z) > 1000 {
				t.Errorf("%s: %v becomes %v, the value before %v", name, v, z, last)
			}
			last = z
		}
		if in, beyond := c.Encode(c.Max), c.Encode(c.Max+(c.Max-c.Min)*1e-3); !(beyond > in) {
			t.Errorf("%s: the largest value becomes %v, one beyond %v", name, in, beyond)
		}
	}
}

// An uncertain value keeps its uncertainty where the scale bends.
func TestScaledVariance(t *testing.T) {
	s := infer(t, column(2000, func(i int) float64 { return math.Exp(2 * normalOf(i)) }), Spec{Targets: []string{"y"}, InputStd: map[string]float64{"x": 0.1}})
	set, err := s.Encode(load(t, "x,u,y\n1,1,1\n20,1,1\n").Rows(nil))
	if err != nil {
		t.Fatal(err)
	}
	for row, x := range []float64{1, 20} { // dz/dx = 1/2x
		if got, want := math.Sqrt(float64(set.X.Var[2*row])), 0.1/(2*x); math.Abs(got/want-1) > 0.3 {
			t.Errorf("the standard deviation of %v is %v, want about %v", x, got, want)
		}
	}
}

func TestTwoValuesAreClasses(t *testing.T) {
	var b strings.Builder
	b.WriteString("x,y\n")
	for i := range 40 {
		fmt.Fprintf(&b, "%d,%d\n", i, i%2)
	}
	if s := infer(t, b.String(), Spec{Targets: []string{"y"}}); s.Task != Classification || fmt.Sprint(s.Classes()) != "[0 1]" {
		t.Errorf("0 and 1 are a %s of %v", s.Task, s.Classes())
	}
	few := strings.Join(strings.SplitAfter(b.String(), "\n")[:13], "")
	if s := infer(t, few, Spec{Targets: []string{"y"}}); s.Task != Classification {
		t.Errorf("in 12 rows, 0 and 1 are a %s", s.Task)
	}
	if s := infer(t, b.String(), Spec{Targets: []string{"y"}, Task: Regression}); s.Task != Regression {
		t.Error("a regression that was asked for became a classification")
	}
	b.Reset()
	b.WriteString("x,y\n")
	for i := range 40 {
		fmt.Fprintf(&b, "%d,person %d\n", i, i*5/8)
	}
	_, err := Infer(load(t, b.String()).Rows(nil), Spec{Targets: []string{"y"}})
	wantError(t, "persons", err, "a.csv: the target y has 25 classes in 40 training rows; classes must repeat to be learned")
}

func TestScaleIsChecked(t *testing.T) {
	for _, bad := range []string{`{"x":[1]}`, `{"x":[1],"z":[2]}`, `{"x":[1,1],"z":[1,2]}`, `{"x":[1,2],"z":[1,0]}`} {
		text := `{"task":"regression","named":true,"rows":2,"columns":[{"name":"x","role":"input","type":"numeric","mean":0,"sd":1,"min":0,"max":1,"scale":` + bad + `},{"name":"y","role":"target","type":"numeric","mean":0,"sd":1,"min":0,"max":1}]}`
		if _, err := Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), "scale") {
			t.Errorf("the scale %s: %v", bad, err)
		}
	}
}
