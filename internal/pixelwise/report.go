package pixelwise

import (
	"context"
	"fmt"
	"image"
	"os"
	"path/filepath"
	"strings"

	"utvi/internal/compute"
	"utvi/internal/report"
)

// SaveReport writes report.html into a folder: the scores of the images held out, and some of these
// with what was predicted.
func SaveReport(ctx context.Context, dir string, r *Result) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	m := r.Model
	s := report.Section{Title: "How good the predictions are"}
	for _, w := range r.Warnings {
		s.Parts = append(s.Parts, report.Warning(w.String()))
	}
	var text strings.Builder
	if err := r.Scores.WriteTable(&text, m.Levels); err != nil {
		return err
	}
	s.Parts = append(s.Parts, report.Source(text.String()))
	sheet, err := m.examples(ctx, r.Held)
	if err != nil {
		return err
	}
	caption := "From left to right: the image, its target, the predicted mean, its standard deviation (white: the largest in the picture), and the error (white: as large)."
	if m.Classes() > 0 {
		caption = "From left to right: the image, its target, the most probable classes, 1 − their probability, and the pixels that are wrong."
	}
	pictures := report.Section{Title: "Some of these images", Parts: []report.Part{report.Sheet{Tiles: []report.Tile{{Image: sheet}}, Width: sheet.Bounds().Dx() * 2, Caption: caption}}}
	page := report.Page{Title: "Predicting the pixels of " + m.Target, Subtitle: fmt.Sprintf("%d pairs of images learned from, %d others scored", m.Rows, r.Scores.Images), Sections: []report.Section{s, pictures}}
	return page.Save(filepath.Join(dir, "report.html"))
}

// examples draws some of the images with their predictions, a line each.
func (m *Model) examples(ctx context.Context, p Pairs) (image.Image, error) {
	const most, gap = 8, 2
	var rows []int
	n := min(most, len(p.Images))
	for i := range n {
		rows = append(rows, i*len(p.Images)/n)
	}
	p = p.pick(rows)
	pool := compute.NewPool(compute.Workers(0))
	defer pool.Close()
	by, err := m.NewPredictor(pool)
	if err != nil {
		return nil, err
	}
	high := m.Output.Height + gap
	wide := m.Output.Width + gap
	out := image.NewRGBA(image.Rect(0, 0, 5*wide-gap, n*high-gap))
	for i := range out.Pix {
		out.Pix[i] = 255
	}
	err = by.Each(ctx, p.Reader, p.Images, func(i int, got *Prediction) error {
		if got.Err != nil {
			return nil
		}
		x, err := p.Reader.Read(p.Images[i])
		if err != nil {
			return nil
		}
		y, err := p.Reader.Read(p.Targets[i])
		if err != nil {
			return nil
		}
		x = m.Input.Fit(x)
		y = m.Output.FitClasses(y)
		for k, panel := range m.panels(x.Pix, y.Pix, got) {
			panel.draw(out, k*wide, i*high, m.Output.Width)
		}
		return nil
	})
	return out, err
}

// A panel is numbers from 0 to 1 with so many channels.
type panel struct {
	pix      []float32
	channels int
}

func (p panel) draw(on *image.RGBA, left, top, width int) {
	for i := 0; i*p.channels < len(p.pix); i++ {
		at := on.PixOffset(left+i%width, top+i/width)
		for c := range 3 {
			on.Pix[at+c] = toByte(p.pix[i*p.channels+min(c, p.channels-1)])
		}
	}
}

// panels are what is shown of an image.
func (m *Model) panels(x, y []float32, got *Prediction) []panel {
	in := m.Input.Channels
	c := m.Output.Channels
	if k := m.Classes(); k > 0 {
		var best, doubt, wrong []float32
		for i := range len(got.P) / k {
			row := got.P[i*k : (i+1)*k]
			b := 0
			for j, v := range row {
				if v > row[b] {
					b = j
				}
			}
			best = append(best, m.Levels[b]...)
			doubt = append(doubt, 1-row[b])
			w := float32(0)
			if keyOf(y[i*c:(i+1)*c]) != keyOf(m.Levels[b]) {
				w = 1
			}
			wrong = append(wrong, w)
		}
		return []panel{{x, in}, {m.spread(y), c}, {m.spread(best), c}, {doubt, 1}, {wrong, 1}}
	}
	largest := float32(1e-9)
	for _, v := range got.Std {
		largest = max(largest, v)
	}
	std := make([]float32, len(y))
	wrong := make([]float32, len(y))
	for i, v := range y {
		std[i] = got.Std[i] / largest
		wrong[i] = max(v-got.Mean[i], got.Mean[i]-v) / largest
	}
	return []panel{{x, in}, {y, c}, {got.Mean, c}, {std, c}, {wrong, c}}
}

// spread makes greys of classes that differ too little to be seen, from black to white.
func (m *Model) spread(y []float32) []float32 {
	if m.Output.Channels > 1 {
		return y
	}
	low := m.Levels[0][0]
	high := m.Levels[len(m.Levels)-1][0]
	out := make([]float32, len(y))
	for i, v := range y {
		out[i] = (v - low) / (high - low)
	}
	return out
}
