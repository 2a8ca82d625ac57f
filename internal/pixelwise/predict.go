package pixelwise

import (
	"context"
	"math"

	"utvi/gauss"
	"utvi/internal/compute"
	"utvi/internal/pixels"
	"utvi/internal/vision"
	"utvi/model"
)

// A Prediction is what is predicted of an image. The slices are valid until the next one.
type Prediction struct {
	Name string
	Err  error // the image cannot be read: there is nothing else

	// Of numbers, in the unit of the targets, pixel by pixel: the variance is Std², of which the weights
	// leave Weights² in doubt.
	Mean, Std, Weights []float32

	// Of classes: the probabilities of each pixel.
	P []float32
}

// A Predictor predicts images, some at a time.
type Predictor struct {
	model *Model
	head  *model.Head
	pool  *compute.Pool
	rows  int
	x     gauss.Batch[float32]
	errs  []error
	out   [3][]float32
}

// NewPredictor returns a predictor that uses the workers of a pool.
func (m *Model) NewPredictor(pool *compute.Pool) (*Predictor, error) {
	head, rows, err := vision.PixelHead(m.Networks, pool)
	if err != nil {
		return nil, err
	}
	p := &Predictor{model: m, head: head, pool: pool, rows: rows, errs: make([]error, rows)}
	p.x = gauss.Batch[float32]{Width: m.Input.Size(), Mean: make([]float32, rows*m.Input.Size())}
	for i := range p.out {
		p.out[i] = make([]float32, m.Size())
	}
	return p, nil
}

// Each predicts images in their order.
func (p *Predictor) Each(ctx context.Context, r pixels.Reader, names []string, use func(i int, got *Prediction) error) error {
	size := p.x.Width
	for lo := 0; lo < len(names); lo += p.rows {
		if err := ctx.Err(); err != nil {
			return err
		}
		part := names[lo:min(lo+p.rows, len(names))]
		p.x.Rows = len(part)
		p.pool.Run(len(part), func(_, task int) {
			im, err := r.Read(part[task])
			p.errs[task] = err
			to := p.x.Mean[task*size : (task+1)*size]
			if err != nil {
				clear(to)
				return
			}
			p.model.Input.Encode(im, to)
		})
		out := p.head.Predict(p.x.Slice(0, len(part)))
		for i, name := range part {
			got := &Prediction{Name: name, Err: p.errs[i]}
			if got.Err == nil {
				p.take(got, out, i)
			}
			if err := use(lo+i, got); err != nil {
				return err
			}
		}
	}
	return nil
}

// take makes a prediction of the outputs of image i.
func (p *Predictor) take(to *Prediction, out *model.Predictions, i int) {
	n := p.model.Size()
	mean := out.Mean[i*n : (i+1)*n]
	if k := p.model.Classes(); k > 0 {
		to.P = p.out[0]
		p.model.temper(to.P, mean, k)
		return
	}
	to.Mean = p.out[0]
	to.Std = p.out[1]
	to.Weights = p.out[2]
	f := &p.model.Output
	for k := range mean {
		c := k % f.Channels
		sd := f.SD[c]
		v := float64(out.Var[i*n+k])
		scale := 1.0
		if p.model.Curve != nil && v > 0 {
			scale = math.Exp(p.model.Curve.LogFactor(0, math.Log(v)))
		}
		to.Mean[k] = float32(float64(mean[k])*sd + f.Mean[c])
		to.Std[k] = float32(sd * math.Sqrt(v*scale))
		to.Weights[k] = float32(sd * math.Sqrt(float64(out.Weights[i*n+k])*scale))
	}
}

// temper writes the probabilities of k classes of each pixel.
func (m *Model) temper(to, mean []float32, k int) {
	t := 1.0
	if m.Temperature != nil {
		t = m.Temperature.T
	}
	for at := 0; at < len(mean); at += k {
		var sum float64
		for c, v := range mean[at : at+k] {
			p := math.Pow(max(float64(v), 1e-30), 1/t)
			to[at+c] = float32(p)
			sum += p
		}
		for c := range k {
			to[at+c] = float32(float64(to[at+c]) / sum)
		}
	}
}
