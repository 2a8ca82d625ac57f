package fitpage

import (
	"fmt"
	"testing"

	"utvi/fit"
	"utvi/internal/report"
	"utvi/internal/schema"
)

// Every target has one figure of how it depends on the columns, in the order of the
// targets, with a chart for each column.
func TestDependenceFigures(t *testing.T) {
	numbers := func(names ...string) (c []fit.Curve) {
		for _, n := range names {
			c = append(c, fit.Curve{Name: n, Mean: []float64{1, 2}, Lo: []float64{0, 1}, Hi: []float64{2, 3}})
		}
		return c
	}
	x := func(name string, targets, classes []fit.Curve) fit.Dependence {
		return fit.Dependence{Column: schema.Column{Name: name}, Values: []float64{0, 1}, Targets: targets, Classes: classes}
	}
	importance := []fit.Importance{{Column: "a", Loss: 2}, {Column: "b", Loss: 1}}
	for want, in := range map[string]*fit.Insight{
		"[]": {},
		"[importance 0 dependence 2]": {Importance: importance,
			Dependence: []fit.Dependence{x("a", numbers("y"), nil), x("b", numbers("y"), nil)}},
		"[dependence-y 2 dependence-z 2]": {
			Dependence: []fit.Dependence{x("a", numbers("y", "z"), nil), x("b", numbers("y", "z"), nil)}},
		"[dependence 3]": {
			Dependence: []fit.Dependence{x("a", nil, numbers("p", "q")), x("b", nil, numbers("p", "q")), x("c", nil, numbers("p", "q"))}},
	} {
		found := []any{}
		for _, f := range insightFigures(in) {
			n := 0
			if g, ok := f.Figure.(report.Grid); ok {
				n = len(g.Charts)
			}
			found = append(found, f.name, n)
		}
		if got := fmt.Sprint(found); got != want {
			t.Errorf("figures %s, want %s", got, want)
		}
	}
}

// TestManyLevels shows the most frequent levels of a column, and times as days.
func TestManyLevels(t *testing.T) {
	d := fit.Dependence{Column: schema.Column{Name: "town", Type: schema.Categorical}}
	c := fit.Curve{Name: "y"}
	for i := range 30 {
		d.Column.Levels = append(d.Column.Levels, fmt.Sprint("town ", i))
		d.Values = append(d.Values, float64(i))
		c.Mean = append(c.Mean, 1)
		c.Lo = append(c.Lo, 0)
		c.Hi = append(c.Hi, 2)
	}
	d.Targets = []fit.Curve{c}
	day := fit.Dependence{Column: schema.Column{Name: "when", Type: schema.Times, Stats: schema.Stats{Min: 1767225600 + 50, Max: 1767225600 + 86400*9}},
		Values: []float64{1767225600, 1767225600 + 86400*5}, Targets: []fit.Curve{{Name: "y", Mean: []float64{1, 2}, Lo: []float64{0, 1}, Hi: []float64{2, 3}}}}
	charts := insightFigures(&fit.Insight{Dependence: []fit.Dependence{d, day}})[0].Figure.(report.Grid).Charts
	if x := charts[0].X; len(x.Names) != 10 || x.Label != "town (the 10 most frequent of 30)" || len(charts[0].Traces[0].Y) != 10 {
		t.Errorf("the axis is %+v", x)
	}
	if x := charts[1].X; x.Label != "when" || x.Scale != report.Dates || charts[1].Traces[0].X[1] != 1767225600+86400*5 {
		t.Errorf("the axis is %+v, values %v", x, charts[1].Traces[0].X)
	}
}

// TestSkewedDependence draws skewed columns and targets by their logarithms, and the classes
// that change most.
func TestSkewedDependence(t *testing.T) {
	d := fit.Dependence{Column: schema.Column{Name: "x"}, Values: []float64{1, 1000}, Log: true,
		Targets: []fit.Curve{{Name: "y", Log: true, Mean: []float64{1, 9}, Lo: []float64{0.5, 4}, Hi: []float64{2, 16}}}}
	c := insightFigures(&fit.Insight{Dependence: []fit.Dependence{d}})[0].Figure.(report.Grid).Charts[0]
	if c.X.Scale != report.Log10 || c.Y.Scale != report.Log10 || !(c.Y.Min > 0 && c.Y.Min < 0.5 && c.Y.Max > 16) {
		t.Errorf("the axes are %+v and %+v", c.X, c.Y)
	}
	d = fit.Dependence{Column: schema.Column{Name: "x"}, Values: []float64{1, 2}}
	for i := range 20 {
		d.Classes = append(d.Classes, fit.Curve{Name: fmt.Sprint(i), Mean: []float64{0, float64(i%7) / 10}})
	}
	names := ""
	for _, x := range insightFigures(&fit.Insight{Dependence: []fit.Dependence{d}})[0].Figure.(report.Grid).Charts[0].Traces {
		names += x.Name + " "
	}
	if names != "4 5 6 12 13 19 " {
		t.Errorf("the classes %s are drawn", names)
	}
}

// The points of columns without importance do not touch the names.
func TestForestRoom(t *testing.T) {
	for _, losses := range [][]float64{{7, 0.1, -0.05}, {7, 0}, {-1, -7}} {
		var all []fit.Importance
		for _, x := range losses {
			all = append(all, fit.Importance{Column: "c", Loss: x})
		}
		f := forest(all)
		room := 0.04 * (f.X.Max - f.X.Min)
		for _, x := range append(losses, 0) {
			if x-f.X.Min < room || f.X.Max-x < room {
				t.Errorf("%v: %g lies at an end of the axis from %g to %g", losses, x, f.X.Min, f.X.Max)
			}
		}
	}
}
