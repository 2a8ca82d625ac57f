package fit

import (
	"cmp"
	"fmt"
	"slices"

	"utvi/internal/advice"
	"utvi/internal/compute"
	"utvi/internal/pixels"
	"utvi/internal/schema"
	"utvi/internal/vision"
	"utvi/model"
)

// A gallery is the images of a table, read once, and what is odd about them.
type gallery struct {
	parted
	col      int // of their names
	reader   pixels.Reader
	images   *pixels.Set
	warnings []Warning
	left     int          // rows left out, because their images cannot be read
	from     *model.Model // to start from; nil: none
}

// openGallery finds out what size images have and reads them all: those to learn from stay, those held
// out are compared with them.
func openGallery(p parted, c Config, pool *compute.Pool) (*gallery, error) {
	head := p.frame.Header()
	col, err := head.Find([]string{c.Images.Column}, 0, "image")
	if err != nil {
		return nil, err
	}
	g := &gallery{parted: p, col: col, reader: schema.Images(head)}
	g.from, err = c.Images.network()
	if err == nil && g.from != nil {
		g.from, err = vision.Upright(g.from)
	}
	if err != nil {
		return nil, err
	}
	format, err := g.format(c.Images)
	if err != nil {
		return nil, err
	}
	learned := pixels.Load(g.reader, g.names(p.train), format, pool)
	held := pixels.Load(g.reader, g.names(p.heldOut), format, pool)
	if learned.Set.Len() == 0 {
		return nil, fmt.Errorf("%s: no image can be read, the first because %w", head.File, learned.Faults[0].Err)
	}
	g.images = learned.Set
	g.train = keep(p.train, learned.Kept)
	g.heldOut = keep(p.heldOut, held.Kept)
	g.unreadable(append(learned.Faults, held.Faults...))
	g.copies(learned.Hashes, held.Hashes)
	return g, nil
}

// names are what rows call their images.
func (g *gallery) names(rows []int) []string {
	all := make([]string, len(rows))
	for i, row := range rows {
		c, at := g.frame.At(row)
		all[i] = c.Text(at, g.col)
	}
	return all
}

func keep(rows, kept []int) []int {
	all := make([]int, len(kept))
	for i, k := range kept {
		all[i] = rows[k]
	}
	return all
}

// format decides on the size of images, by the headers of some of them.
func (g *gallery) format(c ImageConfig) (pixels.Format, error) {
	const most = 5000
	names := g.names(g.train)
	step := (len(names) + most - 1) / most
	f := pixels.Format{Channels: 1, Stretch: c.Stretch}
	if g.from != nil {
		var err error
		f, err = c.formatFor(g.from)
		if err != nil {
			return f, err
		}
	}
	var heights, widths []int
	var first error
	for i := 0; i < len(names); i += step {
		s, err := g.reader.Size(names[i])
		if err != nil {
			first = cmp.Or(first, err)
			continue
		}
		heights = append(heights, s.Height)
		widths = append(widths, s.Width)
		if g.from == nil {
			f.Channels = max(f.Channels, s.Channels)
		}
	}
	if len(heights) == 0 {
		return f, fmt.Errorf("%s: no image can be read, the first because %w", g.frame.Header().File, first)
	}
	slices.Sort(heights)
	slices.Sort(widths)
	if g.from == nil {
		f.Height, f.Width = pixels.ChosenSize(heights, widths, c.Size)
	}
	g.tellSizes(heights, widths, f)
	return f, nil
}

// tellSizes says so if images change their size.
func (g *gallery) tellSizes(heights, widths []int, f pixels.Format) {
	last := len(heights) - 1
	if heights[0] == f.Height && heights[last] == f.Height && widths[0] == f.Width && widths[last] == f.Width {
		return
	}
	sizes := fmt.Sprintf("%d × %d", heights[0], widths[0])
	if heights[0] != heights[last] || widths[0] != widths[last] {
		sizes = fmt.Sprintf("%d × %d to %d × %d", heights[0], widths[0], heights[last], widths[last])
	}
	how := "cut to their middle and "
	if f.Stretch {
		how = ""
	}
	if g.from != nil {
		g.warnings = append(g.warnings, advice.New("images have %s pixels; they are %sresized to %d × %d, which the network to start from takes", sizes, how, f.Height, f.Width))
		return
	}
	g.warnings = append(g.warnings, advice.New("images have %s pixels; they are %sresized to %d × %d; %v for another size", sizes, how, f.Height, f.Width, advice.Set("Size", "")))
}

// unreadable warns of images that are left out.
func (g *gallery) unreadable(faults []pixels.Fault) {
	g.left = len(faults)
	if g.left == 0 {
		return
	}
	const named = 3
	for _, f := range faults[:min(named, len(faults))] {
		g.warnings = append(g.warnings, advice.New("left out: %v", f.Err))
	}
	if more := len(faults) - named; more > 0 {
		g.warnings = append(g.warnings, advice.New("left out: %d more images that cannot be read", more))
	}
}

// copies warns of held-out images that are also learned from.
func (g *gallery) copies(learned, held []uint64) {
	known := make(map[uint64]bool, len(learned))
	for _, h := range learned {
		known[h] = true
	}
	n := 0
	for _, h := range held {
		n += one(known[h])
	}
	if n > 0 {
		g.warnings = append(g.warnings, advice.New("%d of %d held-out images are also among those learned from, pixel by pixel; the scores may be too good", n, len(held)))
	}
}
