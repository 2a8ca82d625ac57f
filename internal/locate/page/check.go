package page

import (
	"fmt"
	"math"

	"utvi/internal/locate/list"
	"utvi/internal/report"
)

// Verdict says in one sentence whether error bars are to be believed.
func Verdict(c *list.Check) string {
	switch {
	case c.Foreign > 0.5:
		return "The error bars cannot be judged: most pairs of successive frames are of two molecules."
	case c.B+2*c.SB < 0.7 && c.Holds >= 0.86:
		return "Most error bars are to be believed; the widest are wider than frames differ: they are right only if their errors stay the same from frame to frame."
	case c.Holds >= 0.86 && c.Spread < 1.15 && c.Spread > 0.8:
		return "The error bars are to be believed, as far as errors differ from frame to frame."
	case c.Spread >= 1:
		return fmt.Sprintf("The error bars are too narrow: differences are %.2f times as wide as they promise.", c.Spread)
	}
	return fmt.Sprintf("The error bars are too wide: differences are %.2f times as wide as they promise.", c.Spread)
}

// Check is the page of a check.
func Check(name string, c *list.Check) report.Page {
	p := report.Page{Title: "Are the error bars to be believed?", Subtitle: name}
	p.Sections = []report.Section{
		{Title: "Verdict", Parts: []report.Part{
			report.Prose(Verdict(c)),
			report.Facts{
				{Name: "Pairs in successive frames", Value: fmt.Sprintf("%d, within %.0f nm", c.Pairs, c.Radius)},
				{Name: "Of two molecules", Value: fmt.Sprintf("about %.0f %%, by those far apart", 100*c.Foreign)},
				{Name: "Spread of z", Value: fmt.Sprintf("%.3f; 1 is right", c.Spread)},
				{Name: "90 % intervals hold", Value: fmt.Sprintf("%.1f %%", 100*c.Holds)},
				{Name: "Observed variance", Value: fmt.Sprintf("(%.1f ± %.1f) nm² + (%.3f ± %.3f) · promised variance; 0 and 1 are right", c.A, c.SA, c.B, c.SB)},
				{Name: "Precision by nearest neighbours (NeNA)", Value: fmt.Sprintf("%.1f nm", c.NeNA)},
				{Name: "Resolution by Fourier ring correlation", Value: resolution(c)},
			},
			report.Warning("An error that stays the same while a molecule is on does not show here: a neighbour that is on as long, a tilted dipole, coma, drift. Simulated frames show those."),
		}},
		{Title: "Differences between frames", Parts: []report.Part{report.Picture{Figure: report.Grid{Charts: []report.Chart{zs(c), variances(c)}},
			Title:   "The same molecule, found twice.",
			Caption: "First: differences between successive frames by the standard deviation that both error bars promise; the curve is the Normal that they should follow. Second: observed against promised variance, in ten classes of equal size; they should lie on the line."}}},
	}
	if len(c.Correlation) > 0 {
		p.Sections = append(p.Sections, report.Section{Title: "Resolution", Parts: []report.Part{report.Picture{Figure: report.Grid{Charts: []report.Chart{rings(c)}},
			Title: "Fourier ring correlation", Caption: "of two halves of the molecules, each with all its frames. Where it falls below 1/7 is the resolution: precision and density together."}}})
	}
	return p
}

func resolution(c *list.Check) string {
	if c.FRC == 0 {
		return "not found: the correlation does not fall below 1/7"
	}
	return fmt.Sprintf("%.0f nm", c.FRC)
}

func zs(c *list.Check) report.Chart {
	h := histogram{least: -5, step: 0.25, count: make([]float64, 40)}
	n := 0.0
	for _, z := range c.Z {
		n++
		if math.Abs(z) < 5 {
			h.add(z)
		}
	}
	var x, y, normal []float64
	for i := range h.count {
		z := h.middle(i)
		x = append(x, z)
		y = append(y, h.count[i]/n/h.step)
		normal = append(normal, math.Exp(-z*z/2)/math.Sqrt(2*math.Pi))
	}
	return report.Chart{X: report.Axis{Label: "difference / promised standard deviation"}, Y: report.Axis{Label: "density"},
		Traces: []report.Trace{{Name: "observed", Colour: report.Series(0), X: x, Y: y}, {Name: "promised", Colour: report.Series(1), Style: report.Dashed, X: x, Y: normal}}}
}

func variances(c *list.Check) report.Chart {
	return report.Chart{X: report.Axis{Label: "promised variance, nm²", Scale: report.Log10}, Y: report.Axis{Label: "observed variance, nm²", Scale: report.Log10}, Diagonal: true,
		Traces: []report.Trace{{Colour: report.Series(0), Style: report.Marks, X: c.Promised, Y: c.Observed}}}
}

func rings(c *list.Check) report.Chart {
	return report.Chart{X: report.Axis{Label: "frequency, 1/nm"}, Y: report.Axis{Label: "correlation"},
		Traces: []report.Trace{{Colour: report.Series(0), X: c.Frequencies, Y: c.Correlation}}, Levels: []report.Level{{Name: "1/7", Y: 1. / 7, Dashed: true, Colour: report.Series(1)}}}
}
