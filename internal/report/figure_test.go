package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"html"
	"io"
	"math"
	"strings"
	"testing"
)

// wellFormed reads a document to its end.
func wellFormed(b []byte) error {
	d := xml.NewDecoder(bytes.NewReader(b))
	d.Entity = xml.HTMLEntity
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// svgOf draws a figure, which must be sound XML without a number that is none.
func svgOf(t *testing.T, name string, f Figure) string {
	t.Helper()
	var b bytes.Buffer
	if err := encode(&b, f, ".svg"); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if err := wellFormed(b.Bytes()); err != nil {
		t.Errorf("%s: %v", name, err)
	}
	for _, bad := range []string{"NaN", "Inf", "%!"} {
		if strings.Contains(b.String(), bad) {
			i := strings.Index(b.String(), bad)
			t.Errorf("%s has %s in it: %s", name, bad, b.String()[max(0, i-200):min(i+100, b.Len())])
		}
	}
	return b.String()
}

func TestFigures(t *testing.T) {
	wants := map[string][]string{
		"fig1": {"epoch", "(d)  validation score", "predicted ±σ", "0.01"}, "fig2": {"number of samples n", "like 1/√n", "256", "relative time"},
		"fig3": {"x (px)", "variance of the position (px²)"}, "figS3": {"8192", "physics-informed"}, "forest": {"Gauss–Hermite, 9 points", "0.010"},
		"fit": {"600 of 3000 rows", "observed coverage", "400 rows"}, "pdp": {"coarse", "fine", "column 7"}, "confusion": {"versicolor", ">46<"},
	}
	for name, f := range gallery() {
		s := html.UnescapeString(svgOf(t, name, f))
		svgOf(t, name+", narrow", f.(Narrower).Narrow())
		for _, w := range wants[name] {
			if !strings.Contains(s, w) {
				t.Errorf("%s lacks %q", name, w)
			}
		}
	}
}

// Whatever the numbers, something is drawn.
func TestDegenerateFigures(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for i, v := range [][]float64{nil, {nan}, {inf}, {-inf, inf}, {0}, {5, 5}, {1e16, 1e16 + 2}, {-1, 0}, {1e308, -1e308}, {5e-324, 1e-310}, {nan, 1, nan, 2}} {
		x := make([]float64, len(v))
		for k := range x {
			x[k] = float64(k)
		}
		for _, scale := range []Scale{Linear, Log2, Log10} {
			name := fmt.Sprintf("case %d, scale %d", i, scale)
			var charts []Chart
			for style := Line; style <= Bars; style++ {
				for _, tr := range []Trace{{X: x, Y: v, SD: v, Lo: v, Hi: v}, {X: v, Y: v}}[:1+int(style)%2] {
					tr.Style, tr.Name = style, "t"
					charts = append(charts, Chart{X: Axis{Scale: scale}, Y: Axis{Scale: scale}, Traces: []Trace{tr}, Diagonal: style%2 == 0})
				}
			}
			for _, y := range v {
				charts[0].Levels = append(charts[0].Levels, Level{Y: y, SD: y})
				charts[0].Shades = append(charts[0].Shades, Shade{From: y, To: inf})
			}
			svgOf(t, name, Grid{Charts: charts})
			svgOf(t, name+", same y", Grid{Charts: SameY(charts[:2])}.Narrow())
			f := Forest{X: Axis{Scale: scale}}
			for _, y := range v {
				f.Rows = append(f.Rows, ForestRow{"row", y, y, 0})
				f.LineName, f.Line = "line", y
			}
			svgOf(t, name+", forest", f)
		}
		m := Map{Width: max(1, len(v)), Values: v, Marks: [][2]float64{{nan, inf}}}
		for _, log := range []bool{false, true} {
			svgOf(t, fmt.Sprint("maps ", i), Maps{Maps: []Map{m, m}, Log: log, Shared: log, Label: "l"})
		}
		one := make([]int, len(v))
		svgOf(t, fmt.Sprint("fit ", i), Grid{Charts: []Chart{PredictedActual(v, v, v, "y"), PIT(v), Calibration(v, v, len(v)), Reliability(v, v, one),
			Training("NLL", v, v, v, 5), Training("NLL", v, v, nil, -1), Dependence(Axis{}, Axis{Label: "y"}, v, v, v, v), Dependence(Axis{Scale: Log10}, Axis{Scale: Log10}, v, v, v, v)}})
		svgOf(t, fmt.Sprint("sweep ", i), Sweep{N: v, NLL: v, NLLSD: v, Time: v, SE: v, RootLaw: v}.Figure())
		svgOf(t, fmt.Sprint("regression ", i), Regression{X: x, DataX: v, DataY: v, Border: 0.5, Panels: []RegressionPanel{{Mean: v, SD: v, Truth: v}},
			Curves: []Curve{{X: x, Mean: v, Lo: v, Hi: v}}})
	}
	svgOf(t, "no charts", Grid{})
	svgOf(t, "no maps", Maps{})
	svgOf(t, "no classes", Confusion{})
	svgOf(t, "one class", Confusion{Classes: []string{"a"}, Counts: [][]int{{0}}})
	if s := svgOf(t, "nothing", Grid{Charts: []Chart{{}}}); !strings.Contains(s, "no finite values") {
		t.Error("an empty chart does not say that it is empty")
	}
}

func TestMisuse(t *testing.T) {
	for name, f := range map[string]func(){
		"trace":     func() { Grid{Charts: []Chart{{Traces: []Trace{{X: []float64{1}, Y: nil}}}}}.Size() },
		"map":       func() { Maps{Maps: []Map{{Width: 2, Values: []float64{1, 2, 3}}}}.Size() },
		"predicted": func() { PredictedActual([]float64{1}, nil, nil, "y") },
	} {
		func() {
			defer func() {
				if s, ok := recover().(string); !ok || !strings.HasPrefix(s, "report: ") {
					t.Errorf("%s: misuse gives %v", name, s)
				}
			}()
			f()
		}()
	}
}

// The bands' quantiles against sums done by hand.
func TestBinomial95(t *testing.T) {
	for _, c := range []struct {
		n      int
		p      float64
		lo, hi float64
	}{{10, 0.5, 2, 8}, {30, 0.5, 10, 20}, {100, 0.1, 5, 16}, {1, 0.5, 0, 1}, {0, 0.5, 0, 0}, {7, 1, 7, 7}, {20, 0.05, 0, 3}, {1_000_000, 0.5, 499_020, 500_980}} {
		if lo, hi := binomial95(c.n, c.p); lo != c.lo || hi != c.hi {
			t.Errorf("binomial(%d, %g): %g to %g, want %g to %g", c.n, c.p, lo, hi, c.lo, c.hi)
		}
	}
}

// The map of colours rises in lightness.
func TestHeat(t *testing.T) {
	before := -1.0
	for i := range 101 {
		c := heat(float64(i) / 100)
		light := 0.2126*float64(c.R) + 0.7152*float64(c.G) + 0.0722*float64(c.B)
		if light <= before {
			t.Errorf("at %d %% the colour is no lighter", i)
		}
		before = light
	}
	if heat(-1) != viridis[0] || heat(2) != viridis[8] || heat(math.NaN()) == viridis[0] {
		t.Error("shares outside of 0 to 1 are coloured wrongly")
	}
}
