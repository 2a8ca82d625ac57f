package report

import (
	"math"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A Confusion is a figure of how often each class was taken for each: Counts by
// true class, then by predicted class. Colours are shares of the true class.
type Confusion struct {
	Classes []string
	Counts  [][]int

	narrow bool
}

// Narrow implements Narrower.
func (f Confusion) Narrow() Figure {
	f.narrow = true
	return f
}

// Size implements Figure.
func (f Confusion) Size() (width, height vg.Length) {
	width = 11 * vg.Centimeter
	if f.narrow {
		width = narrowFigure
	}
	left, side := f.room(width)
	return left + side + 2*edge, side + f.below(side) + 4 + 2*edge
}

// below is what the axis takes below the square: more if names stand on end.
func (f Confusion) below(side vg.Length) vg.Length {
	style, longest := textStyle(tickSize, ink), vg.Length(0)
	for _, name := range f.Classes {
		longest = max(longest, style.Width(short(name, uprightMost)+uprightGap))
	}
	if across, ok := f.across(side).(names); ok && across.every > 1 {
		return 30 + longest - tickSize
	}
	return 30
}

// across marks the predicted classes.
func (f Confusion) across(side vg.Length) plot.Ticker {
	style := textStyle(tickSize, ink)
	return Axis{Names: f.Classes}.ticker(f.shown(), side, func(s string) vg.Length { return style.Width(s) + 6 })
}

func (f Confusion) shown() span { return span{-0.5, max(float64(len(f.Classes)), 1) - 0.5} }

// room is what the names take on the left, and the side of the square.
func (f Confusion) room(width vg.Length) (left, side vg.Length) {
	style := textStyle(tickSize, ink)
	for _, name := range f.Classes {
		left = max(left, style.Width(f.name(name, width)))
	}
	left += 34
	cell := min((width-left-2*edge)/vg.Length(max(1, len(f.Classes))), 44)
	return left, max(cell*vg.Length(max(2, len(f.Classes))), 60)
}

func (f Confusion) name(s string, width vg.Length) string {
	return shorten(s, textStyle(tickSize, ink), width/4)
}

// Draw implements Figure.
func (f Confusion) Draw(c draw.Canvas) error {
	n := len(f.Classes)
	if len(f.Counts) != n {
		panic("report: a confusion matrix that is not square")
	}
	width, height := f.Size()
	full := 11 * vg.Centimeter
	if f.narrow {
		full = narrowFigure
	}
	left, side := f.room(full)
	p := newPlot("", "predicted", "actual")
	p.Add(confusionMark{f})
	down := make([]string, n)
	for i, name := range f.Classes {
		down[n-1-i] = f.name(name, full)
	}
	shown := f.shown()
	p.X.Tick.Marker = f.across(side)
	if across, ok := p.X.Tick.Marker.(names); ok && across.every > 1 {
		upright(p, across, side)
	}
	p.Y.Tick.Marker = Axis{Names: down}.ticker(shown, side, func(string) vg.Length { return tickSize + 3 })
	p.X.Min = shown.lo
	p.X.Max = shown.hi
	p.Y.Min = shown.lo
	p.Y.Max = shown.hi
	p.X.LineStyle.Width, p.Y.LineStyle.Width = 0, 0
	area := vg.Rectangle{Min: vg.Point{X: edge + left, Y: edge + f.below(side)}}
	area.Max = area.Min.Add(vg.Point{X: min(side, width-area.Min.X-edge), Y: min(side, height-area.Min.Y-edge)})
	place(p, c, area)
	return nil
}

// confusionMark draws the cells, with numbers where these have room.
type confusionMark struct{ Confusion }

// Plot implements plot.Plotter.
func (f confusionMark) Plot(c draw.Canvas, p *plot.Plot) {
	tx, ty := p.Transforms(&c)
	n := len(f.Classes)
	for i, row := range f.Counts {
		if len(row) != n {
			panic("report: a confusion matrix that is not square")
		}
		total := 0
		for _, k := range row {
			total += k
		}
		for j, k := range row {
			x, y := float64(j), float64(n-1-i)
			share := float64(k) / math.Max(float64(total), 1)
			l := tx(x-0.5) + 0.5
			r := tx(x+0.5) - 0.5
			b := ty(y-0.5) + 0.5
			t := ty(y+0.5) - 0.5
			c.FillPolygon(fade(blue, 0.06+0.94*share), []vg.Point{{X: l, Y: b}, {X: r, Y: b}, {X: r, Y: t}, {X: l, Y: t}})
			colour := ink
			if share > 0.83 { // from where it stands out more, in the light and in the dark
				colour = white
			}
			style := textStyle(tickSize, colour)
			style.XAlign, style.YAlign = draw.XCenter, draw.YCenter
			if text := strconv.Itoa(k); k > 0 && style.Width(text) < r-l-2 && t-b > tickSize {
				c.FillText(style, vg.Point{X: (l + r) / 2, Y: (b + t) / 2}, text)
			}
		}
	}
}
