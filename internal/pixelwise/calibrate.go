package pixelwise

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"

	"utvi/dist"
	"utvi/internal/calibrate"
	"utvi/internal/compute"
	"utvi/internal/vision"
)

// Calibrate corrects the model by pairs of images, in place of those that the fit held out.
func (m *Model) Calibrate(ctx context.Context, p Pairs, pool *compute.Pool) error {
	bare := &Model{Description: m.Description, Networks: m.Networks}
	bare.Curve = nil
	bare.Temperature = nil
	s := &sampler{truths: bare.truths(p), model: bare, step: bare.every(len(p.Images), 1<<20)}
	by, err := bare.NewPredictor(pool)
	if err != nil {
		return err
	}
	var first error
	err = by.Each(ctx, p.Reader, p.Images, func(i int, got *Prediction) error {
		first = cmp.Or(first, got.Err)
		if got.Err == nil {
			first = cmp.Or(first, s.add(i, got))
		}
		return nil
	})
	if err != nil {
		return err
	}
	if m.Classes() > 0 {
		t, err := calibrate.FitTemperature(s.rows)
		if err != nil {
			return cmp.Or(first, err)
		}
		m.Temperature = t
		return nil
	}
	curve := vision.FitCurve(s.numbers)
	if curve == nil {
		return cmp.Or(first, errors.New("there are too few pixels to correct the model by"))
	}
	m.Curve = curve
	return nil
}

// every is such that every so manieth pixel of some images is taken, about as many as most in all; and
// not the same ones of each image.
func (m *Model) every(images, most int) int {
	perImage := m.Output.Height * m.Output.Width
	step := 1 + images*perImage/most
	for perImage%step == 0 && step > 1 {
		step++
	}
	return step
}

// A sampler takes some pixels with their targets.
type sampler struct {
	truths  *classMaps
	model   *Model
	step    int
	at      int
	numbers []vision.Pixel
	classes []calibrate.Row[int, dist.Categorical]
}

// truths are the targets of pairs.
func (m *Model) truths(p Pairs) *classMaps {
	t := &classMaps{pairs: p, format: m.Output, numbers: map[key]byte{}}
	for i, l := range m.Levels {
		t.numbers[keyOf(l)] = byte(i)
	}
	return t
}

func (s *sampler) add(i int, got *Prediction) error {
	f := &s.model.Output
	if k := s.model.Classes(); k > 0 {
		y := make([]byte, f.Height*f.Width)
		if err := s.truths.decode(i, y); err != nil {
			return err
		}
		for at, class := range y {
			s.at++
			if s.at%s.step != 0 {
				continue
			}
			d := make(dist.Categorical, k)
			var sum float64
			for c := range d {
				d[c] = float64(got.P[at*k+c])
				sum += d[c]
			}
			for c := range d {
				d[c] /= sum
			}
			s.classes = append(s.classes, calibrate.Row[int, dist.Categorical]{Target: int(class), Prediction: d, Weight: 1})
		}
		return nil
	}
	im, err := s.truths.pairs.Reader.Read(s.truths.pairs.Targets[i])
	if err != nil {
		return err
	}
	im = f.Fit(im)
	if len(im.Pix) != len(got.Mean) {
		return fmt.Errorf("%s has other channels than the targets that were learned from", s.truths.pairs.Targets[i])
	}
	for k, v := range im.Pix {
		s.at++
		if s.at%s.step == 0 {
			sd := f.SD[k%f.Channels]
			s.numbers = append(s.numbers, vision.Pixel{LogVar: 2 * math.Log(float64(got.Std[k])/sd), Err: float64(v-got.Mean[k]) / sd})
		}
	}
	return nil
}

// rows are the classes that were taken.
func (s *sampler) rows(yield func(calibrate.Row[int, dist.Categorical]) bool) {
	for _, r := range s.classes {
		if !yield(r) {
			return
		}
	}
}
