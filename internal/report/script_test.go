package report

import (
	"bytes"
	"math"
	"strings"
	"testing"
)

// TestCanWrite finds names that the font lacks; as SVG they are kept, and measured.
func TestCanWrite(t *testing.T) {
	figure := func(name string) Figure {
		return Forest{X: Axis{Label: "x"}, Rows: []ForestRow{{Name: name, Value: 1}, {Name: "b", Value: 2}}}
	}
	for name, want := range map[string]bool{"Größe, θ, Вес": true, "気温": false, "القاهرة": false} {
		if got := CanWrite(figure(name)); got != want {
			t.Errorf("%q can be written: %v", name, got)
		}
	}
	var b bytes.Buffer
	if err := encode(&b, figure("気温"), ".svg"); err != nil || !strings.Contains(b.String(), "気温") {
		t.Errorf("the name is not in the SVG: %v", err)
	}
	style := textStyle(10, ink)
	if w := style.Width("気温"); math.Abs(float64(w-20)) > 0.1 {
		t.Errorf("two wide characters of 10 points take %v", w)
	}
	if style.Width("ab") != style.Width("a")+style.Width("b") || style.Width("") != 0 {
		t.Error("plain text is measured otherwise than its letters")
	}
}

// TestSkewedScatter draws values of seven orders of magnitude on logarithmic axes.
func TestSkewedScatter(t *testing.T) {
	var actual, mean, sd []float64
	for i := range 200 {
		v := math.Pow(10, 7*float64(i)/199)
		actual = append(actual, v)
		mean = append(mean, 1.1*v)
		sd = append(sd, v)
	}
	c := PredictedActual(actual, mean, sd, "price")
	if c.X.Scale != Log10 || c.Y.Scale != Log10 || c.X.Min > 1 || c.X.Max < 1.1e7 {
		t.Errorf("the axes are %+v and %+v", c.X, c.Y)
	}
	mean[100] = -5
	if PredictedActual(actual, mean, sd, "price").X.Scale != Log10 {
		t.Error("one negative prediction changes the axes")
	}
	for i := range actual {
		actual[i] = float64(i)
	}
	if PredictedActual(actual, mean, sd, "y").X.Scale != Linear {
		t.Error("even values are on a logarithmic axis")
	}
}

// TestLongClasses names all classes of a matrix, and keeps the names inside the figure.
func TestLongClasses(t *testing.T) {
	f := Confusion{Counts: make([][]int, 5)}
	for i, name := range []string{"Agree", "Disagree", "Neutral", "Strongly agree", "Strongly disagree"} {
		f.Classes, f.Counts[i] = append(f.Classes, name), make([]int, 5)
	}
	checkTexts(t, "five answers", f)
	checkTexts(t, "five answers, narrow", f.Narrow())
	for _, name := range f.Classes {
		if n := strings.Count(svgOf(t, "five answers", f), ">"+name); n != 2 {
			t.Errorf("%s is written %d times", name, n)
		}
	}
}

// TestManyNames sets names on end that have no room side by side, none over another.
func TestManyNames(t *testing.T) {
	var names []string
	var x, y []float64
	for i := range 10 {
		names = append(names, strings.Repeat("long ", 3)+string(rune('a'+i)))
		x, y = append(x, float64(i)), append(y, float64(i))
	}
	p := Chart{X: Axis{Names: names}, Traces: []Trace{{Style: Marks, X: x, Y: y}}}.plot(110, 80)
	if len(p.X.Tick.Marker.Ticks(0, 9)) != 10 || p.X.Tick.Label.Rotation != math.Pi/2 {
		t.Errorf("the axis is %+v, turned by %v", p.X.Tick.Marker, p.X.Tick.Label.Rotation)
	}
}
