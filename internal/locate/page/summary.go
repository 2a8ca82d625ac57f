// Package page draws the pages of locate: what was found in a stack, and whether its error bars are to
// be believed.
package page

import (
	"fmt"
	"math"

	"utvi/internal/locate"
	"utvi/internal/locate/list"
	"utvi/internal/report"
)

// A Summary gathers what the page of a stack shows, in memory that does not grow with the stack.
type Summary struct {
	header        list.Header
	first, frames int
	picture       *list.Picture
	sigmas        histogram // nm
	bounds        histogram
	light         histogram // photons
	chances       histogram // probabilities
	perFrame      []float64 // localisations, in parts of the stack
	cells         cells
	near, doubt   float64
	n             float64
	places        []place // of some localisations, to see a drift
	stride, skip  int     // how many are left out behind each, and before the next
}

// A place is that of a localisation, in nm.
type place struct {
	frame int
	x, y  float32
}

// mostPlaces bounds them.
const mostPlaces = 60_000

// New begins a summary of so many frames.
func New(h list.Header, first, frames int) *Summary {
	const side = 700 // pixels of the picture
	width, height := float64(h.Width)*h.Pixel, float64(h.Height)*h.Pixel
	pixel := max(max(width, height)/side, 5)
	p, err := list.Render(nil, pixel, width, height)
	if err != nil {
		panic("page: frames that cannot be drawn")
	}
	const parts = 60
	s := &Summary{header: h, first: first, frames: frames, picture: p, perFrame: make([]float64, min(parts, max(frames, 1)))}
	s.sigmas = newHistogram(0.5, 500)
	s.bounds = newHistogram(0.5, 500)
	s.light = newHistogram(10, 1e6)
	s.chances = histogram{least: 0, step: 0.02, count: make([]float64, 51)}
	s.cells = newCells(width, height)
	return s
}

// Add adds the localisations of some frames.
func (s *Summary) Add(all []locate.Localisation) {
	p := s.header.Pixel
	for i := range all {
		l := all[i]
		l.X *= p
		l.Y *= p
		l.SX *= p
		l.SY *= p
		s.picture.Add(&l)
		sigma := math.Sqrt((l.SX*l.SX + l.SY*l.SY) / 2)
		s.sigmas.add(sigma)
		s.bounds.add(l.Bound * p)
		s.light.add(l.Photons)
		s.chances.add(l.Probability)
		s.cells.add(l.X, l.Y, sigma)
		s.perFrame[min(max((l.Frame-s.first)*len(s.perFrame)/s.frames, 0), len(s.perFrame)-1)]++
		s.near += float64(l.Near)
		s.doubt += l.Doubt * p
		s.n++
		s.keep(&l)
	}
}

// keep keeps one of so many places, and of these every second one when there are too many.
func (s *Summary) keep(l *list.Localisation) {
	if s.skip > 0 {
		s.skip--
		return
	}
	s.skip = s.stride
	s.places = append(s.places, place{l.Frame, float32(l.X), float32(l.Y)})
	if len(s.places) < mostPlaces {
		return
	}
	for i := range len(s.places) / 2 {
		s.places[i] = s.places[2*i]
	}
	s.places = s.places[:len(s.places)/2]
	s.stride = 2*s.stride + 1
}

// Page is the page; facts are of the whole stack.
func (s *Summary) Page(f locate.Facts) report.Page {
	page := report.Page{Title: "Molecules in camera frames", Subtitle: fmt.Sprintf("%d localisations in %d frames of %d × %d pixels", f.Found, f.Frames, s.header.Width, s.header.Height)}
	page.Sections = append(page.Sections, report.Section{Title: "What was found", Parts: []report.Part{s.facts(f)}})
	if s.n == 0 {
		page.Sections = append(page.Sections, report.Section{Title: "Nothing to show", Parts: []report.Part{
			report.Warning("No molecule was found. Are the camera's offset and gain right, and is the threshold low enough?")}})
		return page
	}
	page.Sections = append(page.Sections,
		report.Section{Title: "Picture", Parts: []report.Part{report.Picture{Figure: drawn{s.picture}, Title: "All localisations,",
			Caption: fmt.Sprintf("each a Gaussian of its own standard deviation. The bar is %g nm long.", s.picture.Bar())}}},
		report.Section{Title: "Error bars", Parts: s.bars()},
		report.Section{Title: "Light, and the course of the recording", Parts: append(s.course(), s.drift()...)},
		report.Section{Title: "Rejected and marked", Parts: []report.Part{s.rejected(f)}})
	return page
}

func (s *Summary) facts(f locate.Facts) report.Facts {
	facts := report.Facts{
		{Name: "Localisations", Value: fmt.Sprint(f.Found)},
		{Name: "Density", Value: fmt.Sprintf("%.3g per µm² and frame", s.density(f))},
		{Name: "Width of a point's image", Value: fmt.Sprintf("%.3f pixels, %.1f nm", f.Sigma, f.Sigma*s.header.Pixel)},
		{Name: "Noise", Value: fmt.Sprintf("%.2f times what the camera's numbers promise", f.Noise)},
	}
	if f.Seen != f.Sigma {
		facts = append(facts, report.Fact{Name: "Width that the frames show", Value: fmt.Sprintf("%.3f pixels; --sigma says %.3f", f.Seen, f.Sigma)})
	}
	if s.n > 0 {
		facts = append(facts, report.Fact{Name: "Standard deviation, median", Value: fmt.Sprintf("%.1f nm; the bound for a molecule alone is %.1f nm", s.sigmas.quantile(0.5), s.bounds.quantile(0.5))},
			report.Fact{Name: "Photons, median", Value: fmt.Sprintf("%.0f", s.light.quantile(0.5))},
			report.Fact{Name: "Others within five pixels, mean", Value: fmt.Sprintf("%.2f", s.near/s.n)})
	}
	return facts
}

func (s *Summary) bars() []report.Part {
	x, y := s.sigmas.points()
	bx, by := s.bounds.points()
	chart := report.Chart{X: report.Axis{Label: "standard deviation, nm", Scale: report.Log10}, Y: report.Axis{Label: "share of localisations"},
		Traces: []report.Trace{{Name: "error bar", Colour: report.Series(0), X: x, Y: y}, {Name: "bound for one alone", Colour: report.Series(1), Style: report.Dashed, X: bx, Y: by}}}
	return []report.Part{
		report.Picture{Figure: report.Grid{Charts: []report.Chart{chart}}, Title: "Promised standard deviations.",
			Caption: "Where the error bars are far above the bound for a molecule alone, neighbours, the optics or the camera cost precision."},
		report.Picture{Figure: report.Maps{Maps: []report.Map{s.cells.picture()}, Label: "mean standard deviation, nm", Side: s.cells.side / 1000, Unit: "µm"}, Title: "Where error bars are wide.",
			Caption: "Mean standard deviation in squares of the field."},
	}
}

func (s *Summary) course() []report.Part {
	lx, ly := s.light.points()
	light := report.Chart{X: report.Axis{Label: "photons", Scale: report.Log10}, Y: report.Axis{Label: "share of localisations"}, Traces: []report.Trace{{Colour: report.Series(0), X: lx, Y: ly}}}
	var frames, rate []float64
	per := float64(s.frames) / float64(len(s.perFrame))
	for i, n := range s.perFrame {
		frames = append(frames, float64(s.first)+(float64(i)+0.5)*per)
		rate = append(rate, n/per)
	}
	course := report.Chart{X: report.Axis{Label: "frame", Whole: true}, Y: report.Axis{Label: "localisations a frame"}, Traces: []report.Trace{{Colour: report.Series(0), X: frames, Y: rate}}}
	return []report.Part{report.Picture{Figure: report.Grid{Charts: []report.Chart{light, course}}, Title: "Light of a molecule in a frame, and molecules in a frame.",
		Caption: "A count that falls is bleaching; steps are a change of focus or of the laser."}}
}

func (s *Summary) rejected(f locate.Facts) report.Table {
	share := func(n, of int) string { return fmt.Sprintf("%.2f %%", 100*float64(n)/float64(max(of, 1))) }
	all := f.Found + f.Unlikely
	return report.Table{Head: []string{"what", "number", "share"}, Rows: [][]string{
		{"left out: probably no molecule (--probability)", fmt.Sprint(f.Unlikely), share(f.Unlikely, all)},
		{"kept, flag outside: unlike anything in the training", fmt.Sprint(f.Outside), share(f.Outside, f.Found)},
		{"kept, flag saturated: a pixel nearby is at the highest count", fmt.Sprint(f.Saturated), share(f.Saturated, f.Found)},
		{"blank frames", fmt.Sprint(f.Blank), share(f.Blank, f.Frames)},
	}}
}
