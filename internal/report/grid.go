package report

import (
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A Grid is a figure of charts in rows, with one key for all of them above.
type Grid struct {
	Charts  []Chart
	Columns int // of charts; chosen if zero

	key    []keyEntry // instead of the traces' own names
	narrow bool
}

const (
	wideFigure   = 17 * vg.Centimeter
	narrowFigure = 9 * vg.Centimeter
	edge         = 6 // around a figure
)

// Narrow implements Narrower: one chart per row, small multiples two.
func (g Grid) Narrow() Figure {
	g.narrow = true
	return g
}

func (g Grid) columns() int {
	n := max(1, len(g.Charts))
	k := g.Columns
	if k <= 0 {
		k = [...]int{0, 1, 2, 3, 2, 3, 3, 4, 4, 3}[min(n, 9)]
	}
	k = min(k, n)
	if g.narrow {
		if k >= 4 {
			return 2
		}
		return 1
	}
	return k
}

// A gridLayout is where everything goes, with the origin at the lower left.
type gridLayout struct {
	width, height vg.Length
	keys          [][]keyEntry   // of the whole
	own           [][][]keyEntry // of each chart
	plots         []*plot.Plot
	cells         []vg.Rectangle
}

// Gaps between the charts of a grid.
const gapX, gapY = 14, 10

func (g Grid) layout() gridLayout {
	cols := g.columns()
	rows := (max(1, len(g.Charts)) + cols - 1) / cols
	square := make([]bool, rows)
	for i, c := range g.Charts {
		square[i/cols] = square[i/cols] || c.Diagonal
	}
	l := gridLayout{width: g.width(cols, square[0])}
	height := func(row int, width vg.Length) vg.Length {
		if square[row] {
			return width
		}
		return width * vg.Length([...]float64{0, 0.58, 0.74, 0.92, 0.92}[min(cols, 4)])
	}
	about := l.width/vg.Length(cols) - 48 // width of a data area
	charts := g.rowsAligned(cols)
	l.own = make([][][]keyEntry, len(charts))
	if g.apart() {
		for i, c := range charts {
			l.own[i] = wrapKeys(entries(c), about+30)
		}
	} else {
		l.keys = wrapKeys(g.entries(), l.width-2*edge)
	}
	m := newMargins(cols, rows)
	for i, c := range charts {
		m.include(i, c.plot(about, height(i/cols, about)), keyHeight*vg.Length(len(l.own[i])))
	}
	l.place(charts, m, height)
	return l
}

// width is that of the whole figure.
func (g Grid) width(cols int, square bool) vg.Length {
	switch {
	case g.narrow:
		return narrowFigure
	case cols == 1 && square:
		return 10.5 * vg.Centimeter
	case cols == 1:
		return 12 * vg.Centimeter
	}
	return wideFigure
}

// margins are what the axes, keys and titles of each column and row need beside the data.
type margins struct {
	left, right  []vg.Length // by column
	below, above []vg.Length // by row
}

func newMargins(cols, rows int) margins {
	return margins{
		left: make([]vg.Length, cols), right: make([]vg.Length, cols),
		below: make([]vg.Length, rows), above: make([]vg.Length, rows),
	}
}

// include makes room for the i-th plot and the keys above it.
func (m margins) include(i int, p *plot.Plot, keys vg.Length) {
	cols := len(m.left)
	col := i % cols
	row := i / cols
	need := measure(p)
	m.left[col] = max(m.left[col], need.Min.X)
	m.right[col] = max(m.right[col], need.Max.X)
	m.below[row] = max(m.below[row], need.Min.Y)
	if p.Title.Text != "" {
		keys += 24
	}
	m.above[row] = max(m.above[row], need.Max.Y+4, keys)
}

// place builds the plots and gives each its cell, row by row from the top.
func (l *gridLayout) place(charts []Chart, m margins, height func(row int, width vg.Length) vg.Length) {
	cols := len(m.left)
	rows := len(m.below)
	room := l.width - 2*edge - gapX*vg.Length(cols-1)
	for j := range cols {
		room -= m.left[j] + m.right[j]
	}
	cw := max(room/vg.Length(cols), 20)

	keys := keyHeight * vg.Length(len(l.keys))
	l.height = 2*edge + keys + gapY*vg.Length(rows-1)
	for r := range rows {
		l.height += m.below[r] + m.above[r] + height(r, cw)
	}
	y := l.height - edge - keys
	for r := range rows {
		ch := height(r, cw)
		y -= m.above[r] + ch
		x := vg.Length(edge)
		for j := range cols {
			x += m.left[j]
			if i := r*cols + j; i < len(charts) {
				l.plots = append(l.plots, charts[i].plot(cw, ch))
				l.cells = append(l.cells, vg.Rectangle{Min: vg.Point{X: x, Y: y}, Max: vg.Point{X: x + cw, Y: y + ch}})
			}
			x += cw + m.right[j] + gapX
		}
		y -= m.below[r] + gapY
	}
}

// measure returns the room that the axes take on each side of the data.
func measure(p *plot.Plot) vg.Rectangle {
	q := *p
	q.Title.Text = ""
	c := draw.Canvas{Rectangle: vg.Rectangle{Max: vg.Point{X: 300, Y: 300}}}
	d := q.DataCanvas(c).Rectangle
	return vg.Rectangle{Min: d.Min, Max: vg.Point{X: 300 - d.Max.X, Y: 300 - d.Max.Y}}
}

// Size implements Figure.
func (g Grid) Size() (width, height vg.Length) {
	l := g.layout()
	return l.width, l.height
}

// Draw implements Figure.
func (g Grid) Draw(c draw.Canvas) error {
	l := g.layout()
	for i, p := range l.plots {
		raise := keyHeight * vg.Length(len(l.own[i]))
		cell := l.cells[i]
		drawKeys(c, l.own[i], cell.Min.X, cell.Max.X, cell.Max.Y+raise+3)
		drawTitle(c, p.Title.Text, cell, raise)
		p.Title.Text = ""
		place(p, c, cell)
	}
	drawKeys(c, l.keys, edge, l.width-edge, l.height-edge)
	return nil
}

// apart reports whether each chart explains itself: several charts, no name in
// two of them.
func (g Grid) apart() bool {
	if g.key != nil || len(g.Charts) < 2 {
		return false
	}
	seen := map[string]bool{}
	for _, c := range g.Charts {
		for _, e := range entries(c) {
			if seen[e.text] {
				return false
			}
			seen[e.text] = true
		}
	}
	return true
}

// rowsAligned leaves out labels and numbers of y axes that the first chart of
// the row shows already, in columns where all charts can do without.
func (g Grid) rowsAligned(cols int) []Chart {
	out := append([]Chart(nil), g.Charts...)
	for j := 1; j < cols; j++ {
		spare := true
		for i := j; i < len(out); i += cols {
			y, first := out[i].Y, g.Charts[i-j].Y
			spare = spare && y.Min != y.Max && y.Label == first.Label && y.Scale == first.Scale && y.Min == first.Min && y.Max == first.Max
		}
		for i := j; i < len(out) && spare; i += cols {
			out[i].Y.Label, out[i].Y.blank = "", true
		}
	}
	return out
}

// entries explains every name once, in the order of appearance.
func (g Grid) entries() []keyEntry {
	if g.key != nil {
		return g.key
	}
	return entries(g.Charts...)
}

func entries(charts ...Chart) []keyEntry {
	var out []keyEntry
	seen := map[string]bool{}
	add := func(name string, mark func(draw.Canvas, vg.Rectangle)) {
		if name != "" && !seen[name] {
			seen[name] = true
			out = append(out, keyEntry{short(name, 60), mark})
		}
	}
	for _, c := range charts {
		k := 0
		for _, t := range c.Traces {
			shape := glyph(t.place(k))
			if t.marked() {
				k++
			}
			add(t.Name, keyTrace(t, shape))
		}
		for _, l := range c.Levels {
			add(l.Name, keyLevel(l))
		}
		for _, s := range c.Shades {
			add(s.Name, keyFill(outside))
		}
	}
	return out
}
