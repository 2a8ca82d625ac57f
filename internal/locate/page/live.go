package page

import (
	"bytes"
	"fmt"
	"image/png"
	"math"

	"utvi/internal/live"
	"utvi/internal/locate"
)

// Look is what a page shows of a stack while it is worked on; seconds is how long that has taken for the
// frames of facts that this run has found.
func (s *Summary) Look(f locate.Facts, found int, seconds float64) live.Look {
	var picture bytes.Buffer
	if png.Encode(&picture, s.picture.Image()) != nil {
		picture.Reset() // the rest is worth showing
	}
	l := live.Look{Picture: picture.Bytes(), Title: "The picture so far", Alt: fmt.Sprintf("%d localisations of %d frames, as a picture", f.Found, f.Frames),
		Caption: fmt.Sprintf("Each localisation is a Gaussian of its own standard deviation. The bar is %g nm long.", s.picture.Bar())}
	add := func(name, format string, values ...any) {
		l.Facts = append(l.Facts, live.Fact{Name: name, Value: fmt.Sprintf(format, values...)})
	}
	add("Frames", "%d of %d", f.Frames, s.frames)
	add("Localisations", "%d, %.1f a frame", f.Found, float64(f.Found)/float64(max(f.Frames, 1)))
	add("Density", "%.3g per µm² and frame", s.density(f))
	if s.n > 0 {
		add("Standard deviation", "%.1f nm, median; the bound for a molecule alone is %.1f nm", s.sigmas.quantile(0.5), s.bounds.quantile(0.5))
		add("Photons", "%.0f, median", s.light.quantile(0.5))
	}
	all := float64(max(f.Found+f.Unlikely, 1))
	add("Left out", "%.1f %%, probably no molecules", 100*float64(f.Unlikely)/all)
	add("Flagged", "%.1f %%, unlike anything in the training", 100*float64(f.Outside)/float64(max(f.Found, 1)))
	if seconds > 0 && found > 0 {
		add("Speed", "%.3g frames a second", float64(found)/seconds)
	}
	rate := live.Curve{Title: "Localisations a frame", Caption: "A count that falls is bleaching; steps are a change of focus or of the laser.", X: "frame"}
	per := float64(s.frames) / float64(len(s.perFrame))
	for i, n := range s.perFrame {
		done := min(float64(f.Frames)-float64(i)*per, per)
		if done < per/2 {
			break
		}
		rate.At = append(rate.At, live.Num(float64(s.first)+(float64(i)+0.5)*per))
		rate.Of = append(rate.Of, live.Num(n/done))
	}
	bars := live.Curve{Title: "Error bars", Caption: "Per cent of the localisations for each nm of standard deviation.", X: "standard deviation, nm"}
	if s.n > 0 {
		x, y := s.sigmas.points()
		far := 1.5 * s.sigmas.quantile(0.98)
		for i := range x {
			if x[i] <= far {
				wide := x[i] * (math.Pow(10, s.sigmas.step/2) - math.Pow(10, -s.sigmas.step/2))
				bars.At = append(bars.At, live.Num(x[i]))
				bars.Of = append(bars.Of, live.Num(100*y[i]/wide))
			}
		}
	}
	l.Curves = []live.Curve{rate, bars}
	return l
}

func (s *Summary) density(f locate.Facts) float64 {
	area := float64(s.header.Width*s.header.Height) * s.header.Pixel * s.header.Pixel * 1e-6
	return float64(f.Found) / max(area*float64(f.Frames), 1e-9)
}
