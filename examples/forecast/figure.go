package main

import (
	"math"
	"path/filepath"

	"utvi/examples/internal/show"
	"utvi/internal/report"
)

// figure draws a forecast with its bands, and how the error bars of all forecasts grow beside the errors.
func figure(o show.Options, f *forecasts) error {
	var past, came, bands report.Trace
	past = report.Trace{Name: "seen", Colour: report.Ink}
	for k := range day {
		past.X = append(past.X, float64(k-day+1))
		past.Y = append(past.Y, float64(f.before[k]))
	}
	came = report.Trace{Name: "came", Colour: report.Ink, Style: report.Dots}
	bands = report.Trace{Name: "forecast, 90 %", Colour: report.Series(0)}
	promised := report.Trace{Name: "error bar σ", Colour: report.Series(0)}
	found := report.Trace{Name: "root mean square error", Colour: report.Ink, Style: report.Dots}
	for h := range ahead {
		hour := float64(h + 1)
		mean := float64(f.mean[h])
		wide := 1.645 * math.Sqrt(float64(f.variance[h]))
		came.X = append(came.X, hour)
		came.Y = append(came.Y, float64(f.came[h]))
		bands.X = append(bands.X, hour)
		bands.Y = append(bands.Y, mean)
		bands.Lo = append(bands.Lo, mean-wide)
		bands.Hi = append(bands.Hi, mean+wide)
		var variance, square float64
		for i := range f.starts {
			off := float64(f.came[i*ahead+h] - f.mean[i*ahead+h])
			square += off * off / float64(f.starts)
			variance += float64(f.variance[i*ahead+h]) / float64(f.starts)
		}
		promised.X = append(promised.X, hour)
		promised.Y = append(promised.Y, math.Sqrt(variance))
		found.X = append(found.X, hour)
		found.Y = append(found.Y, math.Sqrt(square))
	}
	return report.Save(filepath.Join(o.Folder, "forecast.png"), report.Grid{Charts: []report.Chart{
		{Title: "One forecast", X: report.Axis{Label: "hours from the start"}, Y: report.Axis{Label: "demand"}, Traces: []report.Trace{past, bands, came}},
		{Title: "All forecasts", X: report.Axis{Label: "hours ahead"}, Y: report.Axis{Label: "demand"}, Traces: []report.Trace{promised, found}},
	}})
}
