package fitpage

import (
	"fmt"
	"image"
	"image/color"

	"utvi/fit"
	"utvi/internal/report"
	"utvi/internal/vision"
)

// picturesSection shows images held out, and what shifts do to their predictions.
func picturesSection(r *fit.Result) report.Section {
	s := report.Section{Title: "Images"}
	if r.Insight == nil || r.Insight.Pictures == nil {
		return s
	}
	p := r.Insight.Pictures
	for _, sheet := range p.Sheets {
		out := report.Sheet{Title: sheet.Title, Caption: sheet.Caption, Width: 96}
		for _, im := range sheet.Images {
			out.Tiles = append(out.Tiles, report.Tile{Image: drawn(p, im), Text: im.Text})
		}
		s.Parts = append(s.Parts, out)
	}
	s.Parts = append(s.Parts, shiftTable(r, p))
	return s
}

// drawn is an image as a page shows it.
func drawn(p *vision.Showing, from vision.Shown) image.Image {
	im := image.NewNRGBA(image.Rect(0, 0, p.Width, p.Height))
	level := func(v float32) byte { return byte(min(max(v, 0), 1)*255 + 0.5) }
	for i := range p.Height * p.Width {
		var c [3]byte
		for k := range c {
			c[k] = level(from.Pix[i*p.Channels+min(k, p.Channels-1)])
		}
		if from.Heat != nil {
			c = heated(c, from.Heat[i])
		}
		im.SetNRGBA(i%p.Width, i/p.Width, color.NRGBA{c[0], c[1], c[2], 255})
	}
	return im
}

// heated lays red on what made a prediction larger, blue on what made it smaller.
func heated(c [3]byte, heat float32) [3]byte {
	to := [3]float32{220, 30, 30}
	share := 0.75 * heat
	if heat < 0 {
		to = [3]float32{40, 80, 230}
		share = -share
	}
	for k, v := range c {
		c[k] = byte(float32(v)*(1-share) + share*to[k])
	}
	return c
}

// shiftTable says what shifts do to errors and to error bars.
func shiftTable(r *fit.Result, p *vision.Showing) report.Table {
	t := report.Table{Head: []string{"images"}}
	caption := fmt.Sprintf("What %d of these images, changed, do to errors and error bars.", p.Images)
	targets := r.Model.Schema.Targets()
	classes := r.Model.Classes() != nil
	if classes {
		t.Head = append(t.Head, "accuracy", "−ln p", "ECE", "entropy")
		t.Caption = caption + " The entropy, in nats, should grow as the accuracy falls."
	} else {
		t.Caption = caption + " The predicted std should grow as the RMSE does; 90 % intervals should cover 90 %."
		for _, c := range targets {
			name := ""
			if len(targets) > 1 {
				name = c.Name + ": "
			}
			t.Head = append(t.Head, name+"RMSE", name+"predicted std", name+"90 % cover")
		}
	}
	for _, x := range p.Shifts {
		row := []string{x.Name}
		if classes {
			row = append(row, fmt.Sprintf("%.1f %%", 100*x.Accuracy), fmt.Sprintf("%.3f", max(x.NLL, 0)), fmt.Sprintf("%.3f", x.ECE), fmt.Sprintf("%.3f", x.Entropy))
		}
		for j := range x.RMSE {
			row = append(row, fmt.Sprintf("%.3g", x.RMSE[j]), fmt.Sprintf("%.3g", x.Std[j]), fmt.Sprintf("%.1f %%", 100*x.Cover90[j]))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}
