package vision

import (
	"math"

	"utvi/gauss"
	"utvi/internal/calibrate"
	"utvi/internal/compute"
	"utvi/internal/tabular"
	"utvi/internal/widths"
	"utvi/model"
)

// scored is how well networks predict the images held out, once these have corrected them.
type scored struct {
	nll, se     float64 // mean −ln p of an image's class or numbers, and its standard error
	temperature *calibrate.Temperature
	residuals   []tabular.ResidualMixture // of numbers
	curve       *widths.Curve             // of the numbers of pixels
}

// A sample is some images, encoded, with their targets.
type sample struct {
	x gauss.Batch[float32]
	y []float32
}

func (r *run) sample(images []int32) sample {
	size := r.data.width()
	s := sample{x: gauss.Batch[float32]{Rows: len(images), Width: size, Mean: make([]float32, len(images)*size)}}
	for i, image := range images {
		r.data.row(int(image), s.x.Mean[i*size:(i+1)*size])
		y := make([]float32, r.data.Targets)
		r.data.read(int(image), y)
		s.y = append(s.y, y...)
	}
	return s
}

// read writes the targets of an image.
func (d *Data) read(image int, y []float32) {
	if d.Maps != nil {
		d.Maps.Read(image, y)
		return
	}
	copy(y, d.Y[image*d.Targets:])
}

// some are the data of some images.
func (d Data) some(images []int32) Data {
	if d.Maps != nil {
		d.Maps = some{d.Maps, images}
	}
	var y []float32
	for _, i := range images {
		if d.Y != nil {
			y = append(y, d.Y[int(i)*d.Targets:(int(i)+1)*d.Targets]...)
		}
	}
	d.Images = some{d.Images, images}
	d.Known = d.Known.of(images)
	d.Y = y
	return d
}

// chunk is how many images are predicted at a time.
const chunk = 256

// score predicts images by the mean of networks.
func (r *run) score(nets []*model.Model, of sample) (scored, error) {
	pool := compute.NewPool(compute.Workers(r.Network.Parallel))
	defer pool.Close()
	e, err := model.NewEnsemble(nets...)
	if err != nil {
		return scored{}, err
	}
	if r.data.Maps != nil {
		return r.scorePixels(e, pool, of)
	}
	head, err := e.NewHeadOn(pool, chunk, nil)
	if err != nil {
		return scored{}, err
	}
	if r.data.Classes > 0 {
		return scoreClasses(head, of), nil
	}
	return scoreNumbers(head, of, len(nets)), nil
}

// scoreNumbers scores numbers by the mixture of Normals that suits the images held out.
func scoreNumbers(head *model.Head, of sample, members int) scored {
	mean := make([][]float32, members)
	variance := make([][]float32, members)
	targets, _ := head.Targets()
	for lo := 0; lo < of.x.Rows; lo += chunk {
		out := head.Predict(of.x.Slice(lo, min(of.x.Rows, lo+chunk)))
		for k := range members {
			m, v := out.Normals(k)
			mean[k] = append(mean[k], m[:out.Rows*targets]...)
			variance[k] = append(variance[k], v[:out.Rows*targets]...)
		}
	}
	var s scored
	var logp float64
	s.residuals, logp, s.se = tabular.FitResiduals(targets, of.y, mean, variance)
	s.nll = -logp
	if math.IsNaN(s.nll) {
		s.nll = math.Inf(1)
	}
	return s
}
