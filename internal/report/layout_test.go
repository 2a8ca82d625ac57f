package report

import (
	"math"
	"strings"
	"testing"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/recorder"
)

// textCanvas notes where texts go.
type textCanvas struct {
	recorder.Canvas
	w, h  vg.Length
	at    [6]float64 // x' = at0·x + at2·y + at4, y' = at1·x + at3·y + at5
	stack [][6]float64
	boxes []textBox
}

type textBox struct {
	text           string
	x0, y0, x1, y1 float64
	askew          bool // its box says too much
}

func (c *textCanvas) Size() (w, h vg.Length) { return c.w, c.h }
func (c *textCanvas) Push()                  { c.stack = append(c.stack, c.at) }
func (c *textCanvas) Pop()                   { c.at, c.stack = c.stack[len(c.stack)-1], c.stack[:len(c.stack)-1] }

func (c *textCanvas) Translate(p vg.Point) {
	x, y := float64(p.X), float64(p.Y)
	c.at[4], c.at[5] = c.at[0]*x+c.at[2]*y+c.at[4], c.at[1]*x+c.at[3]*y+c.at[5]
}

func (c *textCanvas) Rotate(a float64) {
	s, k := math.Sincos(a)
	m := c.at
	c.at[0] = m[0]*k + m[2]*s
	c.at[1] = m[1]*k + m[3]*s
	c.at[2] = m[2]*k - m[0]*s
	c.at[3] = m[3]*k - m[1]*s
}

func (c *textCanvas) FillString(f font.Face, p vg.Point, s string) {
	b := textBox{s, math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1), c.at[0] != 0 && c.at[0] != 1 && math.Abs(c.at[0]) > 1e-9}
	// Letters rarely fill their line: compare what they do fill.
	top, w := float64(f.Extents().Ascent)*0.75, float64(f.Width(s))
	for _, q := range [][2]float64{{0, 0}, {w, 0}, {0, top}, {w, top}} {
		x, y := float64(p.X)+q[0], float64(p.Y)+q[1]
		x, y = c.at[0]*x+c.at[2]*y+c.at[4], c.at[1]*x+c.at[3]*y+c.at[5]
		b.x0 = min(b.x0, x)
		b.y0 = min(b.y0, y)
		b.x1 = max(b.x1, x)
		b.y1 = max(b.y1, y)
	}
	if s != " " {
		c.boxes = append(c.boxes, b)
	}
}

// checkTexts holds that texts stay on the figure and off each other.
func checkTexts(t *testing.T, name string, f Figure) {
	t.Helper()
	w, h := f.Size()
	c := &textCanvas{w: w, h: h, at: [6]float64{1, 0, 0, 1, 0, 0}}
	if err := f.Draw(draw.New(c)); err != nil {
		t.Fatal(err)
	}
	if len(c.boxes) == 0 && !strings.HasPrefix(name, "examples") {
		t.Errorf("%s has no text at all", name)
	}
	var cells []vg.Rectangle
	if g, ok := f.(Grid); ok {
		cells = g.layout().cells
	}
	for i, a := range c.boxes {
		for _, d := range cells {
			if a.x0 < float64(d.Max.X)-1 && float64(d.Min.X)+1 < a.x1 && a.y0 < float64(d.Max.Y)-1 && float64(d.Min.Y)+1 < a.y1 {
				t.Errorf("%s: %q lies over the data", name, a.text)
			}
		}
		if a.x0 < -0.5 || a.y0 < -0.5 || a.x1 > float64(w)+0.5 || a.y1 > float64(h)+0.5 {
			t.Errorf("%s: %q leaves the figure: [%.1f %.1f] to [%.1f %.1f] of %.1f × %.1f", name, a.text, a.x0, a.y0, a.x1, a.y1, w, h)
		}
		for _, b := range c.boxes[:i] {
			if !(a.askew && b.askew) && a.x0 < b.x1 && b.x0 < a.x1 && a.y0 < b.y1 && b.y0 < a.y1 {
				t.Errorf("%s: %q lies over %q", name, a.text, b.text)
			}
		}
	}
}

func TestTextsKeepApart(t *testing.T) {
	for name, f := range gallery() {
		checkTexts(t, name, f)
		checkTexts(t, name+", narrow", f.(Narrower).Narrow())
	}
}

// Names and labels of any length find room or are cut.
func TestLongNames(t *testing.T) {
	long := "a very long name of a column that somebody exported from a spreadsheet, with its unit (kg·m²/s²)"
	tr := Trace{Name: long, Colour: Series(0), Style: LineMarks, X: []float64{1e-7, 2e-7, 3e-7}, Y: []float64{123456, 123457, 123458}}
	other := tr
	other.Name = long + " too"
	chart := Chart{Title: long, X: Axis{Label: long}, Y: Axis{Label: long}, Traces: []Trace{tr, other}}
	named := chart
	named.X = Axis{Label: long, Names: []string{long, long + " too", "x"}}
	named.Traces = []Trace{{Colour: Series(0), Style: Marks, X: []float64{0, 1, 2}, Y: []float64{1, 2, 3}}}
	for _, n := range []int{1, 2, 3, 8} {
		g := Grid{}
		for i := range n {
			g.Charts = append(g.Charts, []Chart{chart, named}[i%2])
		}
		checkTexts(t, "grid", g)
		checkTexts(t, "narrow grid", g.Narrow())
	}
	f := Forest{Title: long, X: Axis{Label: long}, LineName: long, Rows: []ForestRow{{long, 1e-6, 1e-7, 0}, {"x", 2e-6, 0, 1}}}
	checkTexts(t, "forest", f)
	checkTexts(t, "narrow forest", f.Narrow())
	m := Maps{Label: long, Maps: []Map{{long, 2, []float64{1, 2, 3, 4e-6}, nil}, {long, 2, []float64{1e5, 2, 3, 4}, nil}, {long, 1, []float64{1}, nil}}}
	checkTexts(t, "maps", m)
	checkTexts(t, "narrow maps", m.Narrow())
	k := Confusion{Classes: []string{long, long + "!", "x"}, Counts: [][]int{{1, 2, 3}, {4, 5, 123456}, {7, 8, 9}}}
	checkTexts(t, "confusion", k)
	checkTexts(t, "narrow confusion", k.Narrow())
}
