package vision

import (
	"math"

	"utvi/dist"
	"utvi/gauss"
	"utvi/internal/calibrate"
	"utvi/internal/compute"
	"utvi/model"
)

// scored is how well networks predict the images held out, at the temperature that suits them.
type scored struct {
	nll, se     float64 // mean −ln p of the class, and its standard error
	temperature *calibrate.Temperature
}

// A sample is some images, encoded, with their classes.
type sample struct {
	x     gauss.Batch[float32]
	class []int32
}

func (r *run) sample(images []int32) sample {
	size := r.data.Images.Shape().Size()
	s := sample{x: gauss.Batch[float32]{Rows: len(images), Width: size, Mean: make([]float32, len(images)*size)}}
	for i, image := range images {
		r.data.Images.Read(int(image), s.x.Mean[i*size:(i+1)*size])
		s.class = append(s.class, r.data.Class[image])
	}
	return s
}

// chunk is how many images are predicted at a time.
const chunk = 256

// score predicts images by the mean of networks.
func (r *run) score(nets []*model.Model, of sample) (scored, error) {
	e, err := model.NewEnsemble(nets...)
	if err != nil {
		return scored{}, err
	}
	pool := compute.NewPool(compute.Workers(r.Network.Parallel))
	defer pool.Close()
	head, err := e.NewHeadOn(pool, chunk, nil)
	if err != nil {
		return scored{}, err
	}
	var rows []calibrate.Row[int, dist.Categorical]
	for lo := 0; lo < of.x.Rows; lo += chunk {
		out := head.Predict(of.x.Slice(lo, min(of.x.Rows, lo+chunk)))
		for i := range out.Rows {
			rows = append(rows, calibrate.Row[int, dist.Categorical]{
				Target:     int(of.class[lo+i]),
				Prediction: probabilities(out.Mean[i*out.Width : (i+1)*out.Width]),
				Weight:     1,
			})
		}
	}
	var s scored
	all := func(yield func(calibrate.Row[int, dist.Categorical]) bool) {
		for _, x := range rows {
			if !yield(x) {
				return
			}
		}
	}
	if t, err := calibrate.FitTemperature(all); err == nil { // too few images: none
		s.temperature = t
	}
	s.judge(rows)
	return s, nil
}

// probabilities are outputs of a softmax, which float32 rounds off 1.
func probabilities(mean []float32) dist.Categorical {
	p := make(dist.Categorical, len(mean))
	var sum float64
	for k, v := range mean {
		p[k] = max(float64(v), 0)
		sum += p[k]
	}
	for k := range p {
		p[k] /= sum
	}
	return p
}

// judge scores predictions.
func (s *scored) judge(rows []calibrate.Row[int, dist.Categorical]) {
	var sum, square float64
	p := make(dist.Categorical, 0)
	for _, x := range rows {
		p = append(p[:0], x.Prediction...)
		if s.temperature != nil {
			s.temperature.Apply(p, p)
		}
		const least = 1e-30 // as in likelihood.Categorical
		l := -math.Log(max(p[x.Target], least))
		sum += l
		square += l * l
	}
	n := float64(len(rows))
	s.nll = sum / n
	s.se = math.Sqrt(max(0, square/n-s.nll*s.nll) / n)
}
