package fit

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"utvi/gauss"
	"utvi/internal/compute"
	"utvi/internal/schema"
	"utvi/internal/vision"
	"utvi/metric"
	"utvi/predict"
	"utvi/table"
)

// How many images held out are looked at for a report, how many of them are shifted, and how many a
// sheet shows.
const (
	lookedAt = 1000
	shifted  = 200
	ofSheet  = 16
)

// A view is a predicted image: how sure the prediction is, and how wrong.
type view struct {
	row         int
	sure, wrong float64
	text        string
	right       bool
}

// show finds out which of the images held out a report shows, and what shifts do to them.
func (g *gallery) show(in *Insight, m *Model, pool *compute.Pool) error {
	s := m.Schema
	rows := spread(g.heldOut, lookedAt)
	y, err := g.targets(s, rows)
	if err != nil {
		return err
	}
	known, err := g.known(s, rows)
	if err != nil {
		return err
	}
	f := g.images.Format()
	size := known.Width(f.Size())
	x := g.inputs(rows, &known, pool)
	p, err := m.NewPredictor(predict.Options{Interval: 0.9})
	if err != nil {
		return err
	}
	l := looker{m, p, s.Targets()}
	out := &vision.Showing{Height: f.Height, Width: f.Width, Channels: f.Channels}
	var views []view
	l.each(batchOf(x, size), func(b *predict.Batch, row, at int) {
		views = append(views, l.view(b, row, at, y))
	})
	image := func(v view) vision.Shown {
		pix := make([]float32, f.Size())
		for k, e := range known.Pixels(x[v.row*size : (v.row+1)*size]) {
			c := k % f.Channels
			pix[k] = float32(float64(e)*f.SD[c] + f.Mean[c])
		}
		return vision.Shown{Pix: pix, Text: v.text}
	}
	add := func(title, caption string, all []view) {
		if len(all) == 0 {
			return
		}
		sheet := vision.Sheet{Title: title, Caption: caption}
		for _, v := range all[:min(ofSheet, len(all))] {
			sheet.Images = append(sheet.Images, image(v))
		}
		out.Sheets = append(out.Sheets, sheet)
	}
	arrange(views, m.Classes() != nil, add)
	out.Sheets = append(out.Sheets, l.heated(views, x, canvas{&f, &known}, image))
	some := spread(seq(len(rows)), shifted)
	out.Images = len(some)
	sub := make([]float32, 0, len(some)*size)
	for _, i := range some {
		sub = append(sub, x[i*size:(i+1)*size]...)
	}
	of := vision.Data{Images: exhibits{g.images}, Known: known}
	for _, shift := range vision.Shifts {
		out.Shifts = append(out.Shifts, l.shifted(shift.Name, batchOf(shift.Apply(&of, sub), size), some, y))
	}
	in.Pictures = out
	l.weigh(in, x, y)
	return nil
}

// inputs are rows as the network sees them: their images, and the other columns.
func (g *gallery) inputs(rows []int, known *vision.Known, pool *compute.Pool) []float32 {
	f := g.images.Format()
	size := known.Width(f.Size())
	x := make([]float32, len(rows)*size)
	names := g.names(rows)
	pool.Run(len(rows), func(_, task int) {
		im, err := g.reader.Read(names[task])
		if err != nil { // it could be read before
			return
		}
		row := x[task*size : (task+1)*size]
		known.Write(task, row)
		f.Encode(im, known.Pixels(row))
	})
	return x
}

// heated shows which pixels moved the predictions of a few images, spread over all.
func (l looker) heated(views []view, x []float32, f canvas, image func(v view) vision.Shown) vision.Sheet {
	const most = 6
	s := vision.Sheet{Title: "Which pixels moved the prediction.",
		Caption: "Red pixels made the predicted class more probable, blue ones less: patches of the image were replaced by the mean of all images, one after the other."}
	if l.m.Classes() == nil {
		s.Caption = "Red pixels made the first target larger, blue ones smaller: patches of the image were replaced by the mean of all images, one after the other."
	}
	for _, i := range spread(seq(len(views)), most) {
		v := views[i]
		shown := image(v)
		width := f.width()
		shown.Heat = l.moved(x[v.row*width:(v.row+1)*width], f)
		s.Images = append(s.Images, shown)
	}
	return s
}

func batchOf(x []float32, size int) gauss.Batch[float32] {
	return gauss.Batch[float32]{Rows: len(x) / size, Width: size, Mean: x}
}

func seq(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// arrange makes sheets of what is worth a look.
func arrange(views []view, classes bool, add func(title, caption string, all []view)) {
	by := func(order func(a, b view) int, keep func(v view) bool) []view {
		var all []view
		for _, v := range views {
			if keep(v) {
				all = append(all, v)
			}
		}
		slices.SortStableFunc(all, order)
		return all
	}
	every := func(view) bool { return true }
	surest := func(a, b view) int { return cmp.Compare(b.sure, a.sure) }
	certainty := func(least string) { // of few images, none is in both sheets
		all := by(func(a, b view) int { return cmp.Compare(a.sure, b.sure) }, every)
		half := (len(all) + 1) / 2
		most := slices.Clone(all[half:])
		slices.Reverse(most)
		add("Least certain.", least, all[:half])
		add("Most certain.", "", most)
	}
	if classes {
		add("Wrong and sure.", "Images whose class is another than the predicted one, the surest first: perhaps their labels are wrong.", by(surest, func(v view) bool { return !v.right }))
		certainty("The most probable class has the smallest probability.")
		return
	}
	add("Farthest off.", "The errors are largest in predicted standard deviations: perhaps the targets are wrong.", by(func(a, b view) int { return cmp.Compare(b.wrong, a.wrong) }, every))
	certainty("The predicted standard deviation is largest.")
}

// view says how an image is predicted.
func (l looker) view(b *predict.Batch, row, at int, y []float32) view {
	v := view{row: row}
	if classes := l.m.Classes(); classes != nil {
		p := b.Classes(at)
		best := p.Argmax()
		actual := int(y[row])
		v.sure = p[best]
		v.right = best == actual
		v.text = fmt.Sprintf("%s (%.3g)", classes[best], p[best])
		if !v.right {
			v.text = fmt.Sprintf("%s, not %s (%.3g)", classes[actual], classes[best], p[best])
		}
		return v
	}
	for j, n := range b.Numbers(at) {
		actual := l.m.actual(y[row*len(l.targets)+j], &l.targets[j])
		v.sure -= n.Std / l.targets[j].SD
		v.wrong = max(v.wrong, math.Abs(actual-n.Mean)/n.Std)
		if j > 0 {
			v.text += "; "
		}
		v.text += fmt.Sprintf("%.3g, predicted %.3g ± %.2g", actual, n.Mean, n.Std)
	}
	return v
}

// shifted scores images that are shifted; some are their rows among the targets.
func (l looker) shifted(name string, x gauss.Batch[float32], some []int, y []float32) vision.ShiftScores {
	out := vision.ShiftScores{Name: name}
	k := len(l.targets)
	n := float64(x.Rows)
	var all metric.Classification
	if l.m.Classes() == nil {
		out.RMSE = make([]float64, k)
		out.Std = make([]float64, k)
		out.Cover90 = make([]float64, k)
	}
	l.each(x, func(b *predict.Batch, row, at int) {
		if l.m.Classes() != nil {
			p := b.Classes(at)
			all.Add(int(y[some[row]]), p, 1)
			out.Entropy += p.Entropy() / n
			return
		}
		for j, v := range b.Numbers(at) {
			actual := l.m.actual(y[some[row]*k+j], &l.targets[j])
			out.RMSE[j] += (actual - v.Mean) * (actual - v.Mean) / n
			out.Std[j] += v.Std * v.Std / n
			if actual >= v.Lo && actual <= v.Hi {
				out.Cover90[j] += 1 / n
			}
		}
	})
	if l.m.Classes() != nil {
		s := all.Scores()
		out.Accuracy = s.Accuracy.Value
		out.NLL = -s.LL.Value
		out.ECE = s.ECE
	}
	out.Root()
	return out
}

// targets are those of rows, encoded.
func (g *gallery) targets(s *schema.Schema, of []int) (all []float32, err error) {
	rows := g.frame.Rows(of)
	e, err := s.Bind(rows.Header())
	if err != nil {
		return nil, err
	}
	err = table.Each(rows, func(c *table.Chunk) error {
		y := make([]float32, c.Rows()*len(s.Targets()))
		if err := e.Targets(c, y); err != nil {
			return err
		}
		all = append(all, y...)
		return nil
	})
	return all, err
}
