package report

import (
	"image/color"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// The palette of Okabe & Ito (2008): distinct for every kind of colour vision.
var (
	orange    = color.NRGBA{0xE6, 0x9F, 0x00, 0xFF}
	skyBlue   = color.NRGBA{0x56, 0xB4, 0xE9, 0xFF}
	green     = color.NRGBA{0x00, 0x9E, 0x73, 0xFF}
	blue      = color.NRGBA{0x00, 0x72, 0xB2, 0xFF}
	vermilion = color.NRGBA{0xD5, 0x5E, 0x00, 0xFF}
	purple    = color.NRGBA{0xCC, 0x79, 0xA7, 0xFF}
	ink       = color.NRGBA{0x22, 0x22, 0x22, 0xFF}
	grey      = color.NRGBA{0x88, 0x88, 0x88, 0xFF}
	white     = color.NRGBA{0xFF, 0xFF, 0xFF, 0xFF}
)

// A Colour is one of the palette.
type Colour = color.NRGBA

// Series is the colour of the i-th of a few things that are compared.
func Series(i int) Colour {
	return [...]Colour{blue, orange, green, purple, skyBlue, vermilion}[i%6]
}

// fade makes a colour translucent.
func fade(c color.NRGBA, alpha float64) color.NRGBA {
	c.A = uint8(255 * alpha)
	return c
}

const (
	titleSize = 10
	labelSize = 9.5
	tickSize  = 8.5
)

func face(size vg.Length) font.Font {
	return font.Font{Typeface: "Liberation", Variant: "Sans", Size: size}
}

func textStyle(size vg.Length, c color.Color) text.Style {
	return text.Style{Color: c, Font: face(size), Handler: handler}
}

// newPlot returns an empty plot in the house style.
func newPlot(title, x, y string) *plot.Plot {
	p := plot.New()
	p.BackgroundColor, p.TextHandler = nil, handler
	p.Title.Text = title
	p.X.Label.Text, p.Y.Label.Text = x, y
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.Label.TextStyle.Handler, a.Tick.Label.Handler = handler, handler
		a.Label.TextStyle.Font = face(labelSize)
		a.Label.TextStyle.Color = ink
		a.Tick.Label.Font = face(tickSize)
		a.Tick.Label.Color = ink
		a.LineStyle = stroke(ink, 0.6)
		a.Tick.LineStyle = stroke(ink, 0.6)
		a.Tick.Length = 3
		a.Tick.Marker = ticks{}
		a.Padding = 0
	}
	return p
}

func stroke(c color.Color, width vg.Length, dashes ...vg.Length) draw.LineStyle {
	return draw.LineStyle{Color: c, Width: width, Dashes: dashes}
}

// line is a curve that the axes clip.
func line(x, y []float64, s draw.LineStyle) *plotter.Line {
	return &plotter.Line{XYs: pairs(x, y), LineStyle: s}
}

// band fills between two curves over x.
func band(x, lo, hi []float64, fill color.Color) *plotter.Polygon {
	ring := pairs(x, hi)
	for i := len(x) - 1; i >= 0; i-- {
		ring = append(ring, plotter.XY{X: x[i], Y: lo[i]})
	}
	return &plotter.Polygon{XYs: []plotter.XYs{ring}, Color: fill}
}

func pairs(x, y []float64) plotter.XYs {
	p := make(plotter.XYs, len(x))
	for i := range x {
		p[i] = plotter.XY{X: x[i], Y: y[i]}
	}
	return p
}

// place draws p so that its data area is the given rectangle, for any room that its
// axes take: panels that share an axis line up, and so do their titles.
func place(p *plot.Plot, c draw.Canvas, area vg.Rectangle) {
	drawTitle(c, p.Title.Text, area, 0)
	p.Title.Text = ""
	// From a canvas with room for any axis.
	c.Rectangle = vg.Rectangle{Min: area.Min.Sub(vg.Point{X: 300, Y: 300}), Max: area.Max.Add(vg.Point{X: 300, Y: 300})}
	for range 4 {
		have := p.DataCanvas(c).Rectangle
		c.Min = c.Min.Add(area.Min.Sub(have.Min))
		c.Max = c.Max.Add(area.Max.Sub(have.Max))
	}
	p.Draw(c)
}

// drawTitle writes a panel's title above its data area, higher by raise.
func drawTitle(c draw.Canvas, s string, area vg.Rectangle, raise vg.Length) {
	title := textStyle(titleSize, ink)
	title.XAlign = draw.XCenter
	c.FillText(title, vg.Point{X: (area.Min.X + area.Max.X) / 2, Y: area.Max.Y + 9 + raise}, s)
}

// linspace returns n numbers from lo to hi.
func linspace(lo, hi float64, n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = lo + (hi-lo)*float64(i)/float64(n-1)
	}
	return x
}
