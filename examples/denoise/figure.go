package main

import (
	"math"
	"path/filepath"

	"utvi/examples/internal/show"
	"utvi/internal/report"
)

// figure draws two images: what was seen, the network's values and error bars, and by how much they are
// off.
func figure(o show.Options, seen, scenes, mean, variance []float32) error {
	var maps []report.Map
	for image := range 2 {
		one := func(title string, value func(i int) float64) {
			m := report.Map{Title: title, Width: side, Values: make([]float64, side*side)}
			for i := range m.Values {
				m.Values[i] = value(image*side*side + i)
			}
			maps = append(maps, m)
		}
		one("photons / 12", func(i int) float64 { return float64(seen[i]) })
		one("denoised", func(i int) float64 { return float64(mean[i]) })
		one("error bar σ", func(i int) float64 { return math.Sqrt(float64(variance[i])) })
		one("|error|", func(i int) float64 { return math.Abs(float64(mean[i] - scenes[i])) })
	}
	return report.Save(filepath.Join(o.Folder, "denoise.png"), report.Maps{Maps: maps, Columns: 4})
}
