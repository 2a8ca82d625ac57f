package pixelwise

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"text/tabwriter"

	"utvi/dist"
	"utvi/internal/compute"
	"utvi/internal/pixels"
	"utvi/metric"
)

// Scores say how good predictions of pixels are.
type Scores struct {
	Images     int                          `json:"images"`
	Pixels     int                          `json:"pixels"` // that are scored: of many, some
	Unreadable int                          `json:"unreadable,omitempty"`
	Numbers    *NumberScores                `json:"numbers,omitempty"`
	Classes    *metric.ClassificationScores `json:"classes,omitempty"`

	// IoU is, for each class, what predicted and true pixels have in common, as a share of what either has.
	IoU []float64 `json:"iou,omitempty"`
}

// NumberScores are those of numbers. Fifths are pixels in the order of their standard deviation.
type NumberScores struct {
	RMSE     float64    `json:"rmse"`
	MAE      float64    `json:"mae"`
	Mean     float64    `json:"rmse_of_mean"`            // of always predicting the mean of the training pixels
	Input    float64    `json:"rmse_of_input,omitempty"` // of the image itself, where it has the channels of the target
	NLL      float64    `json:"nll"`
	Cover90  float64    `json:"cover90"`
	Cover90s [5]float64 `json:"cover90_in_fifths_of_std"`
	Std      [5]float64 `json:"std_of_fifths"`
}

// within90 is within how many standard deviations 90 % of a Normal lie.
const within90 = 1.6448536269514722

// A tally counts what scores are made of.
type tally struct {
	Scores
	model *Model
	step  int
	at    int
	rows  []scoredPixel
	input float64 // sum of squares
	mean  float64
	by    metric.Classification
	both  []int
	any   []int
}

type scoredPixel struct{ std, err float64 }

// Evaluate scores predictions of images whose targets are known.
func (m *Model) Evaluate(ctx context.Context, p Pairs, pool *compute.Pool) (*Scores, error) {
	t := &tally{model: m}
	t.step = m.every(len(p.Images), 1<<21)
	t.both = make([]int, m.Classes())
	t.any = make([]int, m.Classes())
	by, err := m.NewPredictor(pool)
	if err != nil {
		return nil, err
	}
	truths := m.truths(p)
	var first error
	err = by.Each(ctx, p.Reader, p.Images, func(i int, got *Prediction) error {
		err := got.Err
		if err == nil {
			err = t.image(truths, i, got)
		}
		if err != nil {
			t.Unreadable++
			first = cmp.Or(first, err)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if t.Images == 0 {
		return nil, fmt.Errorf("%s: no pair of images can be scored, the first because %w", p.File, cmp.Or(first, errors.New("there is none")))
	}
	return t.close(), nil
}

// image adds the pixels of an image.
func (t *tally) image(c *classMaps, i int, got *Prediction) error {
	if t.model.Classes() > 0 {
		y := make([]byte, t.model.Output.Height*t.model.Output.Width)
		if err := c.decode(i, y); err != nil {
			return err
		}
		t.classes(y, got.P)
		t.Images++
		return nil
	}
	target, err := c.pairs.Reader.Read(c.pairs.Targets[i])
	if err != nil {
		return err
	}
	y := t.model.Output.Fit(target)
	var x *pixels.Image
	if t.model.Input.Channels == t.model.Output.Channels {
		x, err = c.pairs.Reader.Read(c.pairs.Images[i])
		if err != nil {
			return err
		}
		x = t.model.Input.Fit(x)
	}
	t.Images++
	for k, v := range y.Pix {
		t.at++
		if t.at%t.step != 0 {
			continue
		}
		t.Pixels++
		t.rows = append(t.rows, scoredPixel{float64(got.Std[k]), float64(v) - float64(got.Mean[k])})
		t.mean += square(float64(v) - t.model.Output.Mean[k%y.Channels])
		if x != nil {
			t.input += square(float64(v - x.Pix[k]))
		}
	}
	return nil
}

func square(v float64) float64 { return v * v }

// classes adds the classes of pixels, y, and their predicted probabilities.
func (t *tally) classes(y []byte, p []float32) {
	k := t.model.Classes()
	d := make(dist.Categorical, k)
	for i, class := range y {
		best := 0
		row := p[i*k : (i+1)*k]
		for c, v := range row {
			if v > row[best] {
				best = c
			}
			d[c] = float64(v)
		}
		t.any[class]++
		if best == int(class) {
			t.both[class]++
		} else {
			t.any[best]++
		}
		t.at++
		if t.at%t.step == 0 {
			t.Pixels++
			t.by.Add(int(class), d, 1)
		}
	}
}

// close makes scores of what was counted.
func (t *tally) close() *Scores {
	out := t.Scores
	if t.model.Classes() > 0 {
		s := t.by.Scores()
		out.Classes = &s
		for c, n := range t.any {
			out.IoU = append(out.IoU, float64(t.both[c])/float64(max(1, n)))
		}
		return &out
	}
	n := float64(len(t.rows))
	s := &NumberScores{Mean: math.Sqrt(t.mean / n), Input: math.Sqrt(t.input / n)}
	slices.SortFunc(t.rows, func(a, b scoredPixel) int { return cmp.Compare(a.std, b.std) })
	const parts = len(s.Cover90s)
	for k := range parts {
		part := t.rows[k*len(t.rows)/parts : (k+1)*len(t.rows)/parts]
		for _, r := range part {
			each := 1 / float64(len(part))
			s.Std[k] += r.std * each
			if math.Abs(r.err) <= within90*r.std {
				s.Cover90s[k] += each
				s.Cover90 += 1 / n
			}
			s.RMSE += r.err * r.err / n
			s.MAE += math.Abs(r.err) / n
			sd := max(r.std, 1e-12)
			s.NLL += (0.5*math.Log(2*math.Pi) + math.Log(sd) + 0.5*square(r.err/sd)) / n
		}
	}
	s.RMSE = math.Sqrt(s.RMSE)
	out.Numbers = s
	return &out
}

// WriteTable writes the scores for people; levels name the classes.
func (s *Scores) WriteTable(w io.Writer, levels Levels) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "images\t%d\n", s.Images)
	if s.Unreadable > 0 {
		fmt.Fprintf(t, "unreadable\t%d\n", s.Unreadable)
	}
	fmt.Fprintf(t, "pixels scored\t%d\n", s.Pixels)
	if n := s.Numbers; n != nil {
		fmt.Fprintf(t, "RMSE\t%.4g\n", n.RMSE)
		fmt.Fprintf(t, "RMSE of the mean\t%.4g\tof always predicting the mean of the training pixels\n", n.Mean)
		if n.Input > 0 {
			fmt.Fprintf(t, "RMSE of the input\t%.4g\tof the image as it is\n", n.Input)
		}
		fmt.Fprintf(t, "MAE\t%.4g\n", n.MAE)
		fmt.Fprintf(t, "−ln p\t%.4g\tnats per number\n", n.NLL)
		fmt.Fprintf(t, "90 %% intervals cover\t%.1f %%\n", 100*n.Cover90)
		fmt.Fprint(t, "… in fifths of std\t")
		for i, c := range n.Cover90s {
			if i > 0 {
				fmt.Fprint(t, ", ")
			}
			fmt.Fprintf(t, "%.1f %%", 100*c)
		}
		fmt.Fprintf(t, "\tfrom std %.3g to %.3g\n", n.Std[0], n.Std[len(n.Std)-1])
	}
	if err := t.Flush(); err != nil || s.Classes == nil {
		return err
	}
	if err := s.Classes.WriteTable(w); err != nil {
		return err
	}
	for c, v := range s.IoU {
		if _, err := fmt.Fprintf(w, "IoU of %-10s  %.3f\n", levels.Name(c), v); err != nil {
			return err
		}
	}
	return nil
}
