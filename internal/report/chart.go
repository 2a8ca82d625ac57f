package report

import (
	"math"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A Chart is one set of axes with what is drawn on them. Values that are not
// finite, or not positive on a logarithmic axis, leave a gap.
type Chart struct {
	Title    string
	X, Y     Axis
	Traces   []Trace
	Levels   []Level
	Shades   []Shade
	Diagonal bool // y = x is drawn; both axes show the same
}

// A Trace is a series of values with its uncertainty.
type Trace struct {
	Name   string // in the key; none if empty
	Colour Colour
	Style  Style
	Number int // of its shape, as Series(Number−1) is its colour; that of its place if zero
	X, Y   []float64
	SD     []float64 // error bars of ± one, if any
	Lo, Hi []float64 // a translucent band, if any; of Marks, error bars
}

// A Style is how a trace is drawn.
type Style int

const (
	Line Style = iota
	Dashed
	Marks     // large, of a different shape for each trace of a chart
	LineMarks // both
	Dots      // small and translucent, for many
	Bars      // from zero up, side by side
)

// A Level is a value that does not depend on x, with a band of ± SD.
type Level struct {
	Name   string
	Colour Colour
	Y, SD  float64
	Dashed bool
}

// A Shade marks a stretch of x as another region.
type Shade struct {
	Name     string
	From, To float64
}

// Colours with a fixed meaning.
var (
	Ink  = ink
	Grey = grey
)

func (t Trace) check() {
	sameLength(t.X, t.Y)
	if t.SD != nil {
		sameLength(t.X, t.SD)
	}
	if t.Lo != nil || t.Hi != nil {
		sameLength(t.X, t.Lo, t.Hi)
	}
}

func sameLength(slices ...[]float64) {
	for _, s := range slices {
		if len(s) != len(slices[0]) {
			panic("report: slices of different lengths")
		}
	}
}

func (t Trace) marked() bool { return t.Style == Marks || t.Style == LineMarks }

// extent is what the data need of both axes.
func (c Chart) extent() (x, y span) {
	x, y = newSpan(), newSpan()
	for _, t := range c.Traces {
		t.check()
		half := 0.0
		if t.Style == Bars {
			half = barWidth(t.X) / 2
			y.include(c.Y.at(0))
		}
		for i := range t.X {
			at := c.Y.at(t.Y[i])
			if !math.IsNaN(at) {
				x.include(c.X.at(t.X[i] - half))
				x.include(c.X.at(t.X[i] + half))
			}
			y.include(at)
			if t.SD != nil {
				y.include(c.Y.at(t.Y[i] - t.SD[i]))
				y.include(c.Y.at(t.Y[i] + t.SD[i]))
			}
			if t.Lo != nil {
				y.include(c.Y.at(t.Lo[i]))
				y.include(c.Y.at(t.Hi[i]))
			}
		}
	}
	for _, l := range c.Levels {
		for _, k := range []float64{-1, 0, 1} {
			if !math.IsNaN(l.SD) {
				y.include(c.Y.at(l.Y + k*l.SD))
			}
		}
		y.include(c.Y.at(l.Y))
	}
	return x, y
}

// spans is what both axes show.
func (c Chart) spans() (x, y span) {
	x, y = c.extent()
	padX, padY := 0.0, 0.05
	for _, t := range c.Traces {
		if t.marked() || t.Style == Dots {
			padX = 0.04
		}
	}
	if c.Diagonal {
		both := x
		if !y.empty() {
			both.include(y.lo)
			both.include(y.hi)
		}
		x, y = both, both
		padX = padY
	}
	x, y = c.X.shows(x, padX), c.Y.shows(y, padY)
	for _, t := range c.Traces {
		if t.Style == Bars && c.Y.Scale == Linear && c.Y.Min == c.Y.Max {
			y.lo = min(0, y.lo+padY) // bars stand on the axis
		}
	}
	return x, y
}

// plot builds the chart for a data area of about the given size.
func (c Chart) plot(width, height vg.Length) *plot.Plot {
	style := textStyle(labelSize, ink)
	p := newPlot("", wrapLabel(c.X.Label, style, width), wrapLabel(c.Y.Label, style, height))
	p.Title.Text = shorten(c.Title, textStyle(titleSize, ink), width+12)
	x, y := c.spans()
	c.addBackground(p, x)
	c.addTraces(p)
	if ex, _ := c.extent(); ex.empty() {
		p.Add(emptyMark{})
	}
	c.setTicks(p, x, y, width, height)
	p.X.Min = x.lo
	p.X.Max = x.hi
	p.Y.Min = y.lo
	p.Y.Max = y.hi
	return p
}

// addBackground adds what lies behind the traces.
func (c Chart) addBackground(p *plot.Plot, x span) {
	for _, s := range c.Shades {
		p.Add(shadeMark{s, c.X, x})
	}
	for _, l := range c.Levels {
		p.Add(levelMark{l, c.Y})
	}
	if c.Diagonal {
		p.Add(line([]float64{x.lo, x.hi}, []float64{x.lo, x.hi}, stroke(grey, 0.8, 4, 2)))
	}
}

// addTraces adds the traces, each with a glyph of its own.
func (c Chart) addTraces(p *plot.Plot) {
	marked := 0
	bands := 0
	for _, t := range c.Traces {
		if t.marked() {
			marked++
		}
		if t.Lo != nil {
			bands++
		}
	}
	k := 0
	for _, t := range c.Traces {
		m := traceMark{Trace: t, x: c.X, y: c.Y, shape: glyph(t.place(k)), alpha: 0.32}
		if bands > 1 { // through which others are seen
			m.alpha = 0.2
		}
		if t.marked() {
			if t.SD != nil || t.Lo != nil && t.Style == Marks { // beside, not over each other
				m.aside = vg.Length(float64(k)-float64(marked-1)/2) * 3
			}
			k++
		}
		p.Add(m)
	}
}

// setTicks chooses the ticks of both axes for a data area of about the given size.
func (c Chart) setTicks(p *plot.Plot, x, y span, width, height vg.Length) {
	tick := textStyle(tickSize, ink)
	p.X.Tick.Marker = c.X.ticker(x, width, func(s string) vg.Length { return tick.Width(s) + 8 })
	if n, ok := p.X.Tick.Marker.(names); ok && n.every > 1 {
		upright(p, n, width)
	}
	p.Y.Tick.Marker = c.Y.ticker(y, height, func(string) vg.Length { return tickSize + 6 })
	if n, ok := p.Y.Tick.Marker.(names); ok {
		n.most = max(6, int(width/10))
		p.Y.Tick.Marker = n
	}
	if c.Y.blank {
		p.Y.Tick.Marker = unnumbered{p.Y.Tick.Marker}
	}
}

// upright sets names that have no room side by side on end: askew they would reach into
// the chart on the left. A gap keeps them off the marks.
func upright(p *plot.Plot, n names, width vg.Length) {
	const room = tickSize + 1
	p.X.Tick.Marker = names{n.text, max(1, int(math.Ceil(float64(len(n.text))*room/float64(width)))), uprightMost, uprightGap}
	p.X.Tick.Label.Rotation = math.Pi / 2
	p.X.Tick.Label.XAlign, p.X.Tick.Label.YAlign = draw.XRight, draw.YCenter
}

const (
	uprightMost = 18 // characters
	uprightGap  = "  "
)

// emptyMark says that there is nothing to see.
type emptyMark struct{}

func (emptyMark) Plot(c draw.Canvas, _ *plot.Plot) {
	style := textStyle(labelSize, grey)
	style.XAlign, style.YAlign = draw.XCenter, draw.YCenter
	c.FillText(style, c.Center(), "no finite values")
}

// short cuts a text to so many characters.
func short(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return s
}

// wrapLabel breaks a label that is too long for its axis into two lines, near
// the middle.
func wrapLabel(s string, style draw.TextStyle, width vg.Length) string {
	s = short(strings.Join(strings.Fields(s), " "), 200)
	if style.Width(s) <= width {
		return s
	}
	best, longest := -1, vg.Length(math.Inf(1))
	for i, r := range s {
		if r != ' ' {
			continue
		}
		if w := max(style.Width(s[:i]), style.Width(s[i+1:])); w < longest {
			best, longest = i, w
		}
	}
	if best < 0 {
		return shorten(s, style, width)
	}
	return shorten(s[:best], style, width) + "\n" + shorten(s[best+1:], style, width)
}

// shorten cuts a text to what fits a width.
func shorten(s string, style draw.TextStyle, width vg.Length) string {
	s = short(s, 200)
	for n := len([]rune(s)); n > 4 && style.Width(s) > width; n-- {
		s = short(s, n)
	}
	return s
}
