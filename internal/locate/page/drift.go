package page

import (
	"fmt"
	"math"

	"utvi/internal/locate/list"
	"utvi/internal/report"
)

// drift is a figure of how the sample moved, or a sentence that it cannot be seen.
func (s *Summary) drift() []report.Part {
	const enough, segments, reach = 1000, 20, 300
	const unsure = 25 // nm by which comparisons contradict each other, where nothing is seen
	if len(s.places) < enough {
		return []report.Part{report.Prose("Whether the sample moved cannot be seen in so few localisations.")}
	}
	all := make([]list.Localisation, len(s.places))
	for i, p := range s.places {
		all[i] = list.Localisation{Frame: p.frame, X: float64(p.x), Y: float64(p.y)}
	}
	d, err := list.FindDrift(all, min(segments, len(all)/200), reach)
	if err != nil || d.Miss > unsure {
		return []report.Part{report.Prose("Whether the sample moved cannot be seen: the parts of the recording have too little in common.")}
	}
	frames := make([]float64, len(d.Frames))
	x, y := make([]float64, len(d.Frames)), make([]float64, len(d.Frames))
	far := 0.0
	for i, f := range d.Frames {
		frames[i] = f + 1
		x[i] = d.X[i] - d.X[0]
		y[i] = d.Y[i] - d.Y[0]
		far = max(far, math.Hypot(x[i], y[i]))
	}
	chart := report.Chart{X: report.Axis{Label: "frame"}, Y: report.Axis{Label: "drift, nm"}, Traces: []report.Trace{
		{Name: "x", Colour: report.Series(0), X: frames, Y: x}, {Name: "y", Colour: report.Series(1), Style: report.Dashed, X: frames, Y: y}}}
	return []report.Part{report.Picture{Figure: report.Grid{Charts: []report.Chart{chart}}, Title: "By how much the sample moved.",
		Caption: fmt.Sprintf("Up to %.0f nm from where it began, by redundant cross-correlation of %d parts, whose comparisons contradict each other by %.1f nm. It is not taken out of the table: utvi locate drift does that.", far, len(frames), d.Miss)}}
}
