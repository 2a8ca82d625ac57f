package tabular

import (
	"math"

	"utvi/dist"
	"utvi/gauss"
	"utvi/internal/compute"
	"utvi/internal/special"
	"utvi/model"
	"utvi/nn"
)

// A Predictor carries rows through a model. It belongs to one goroutine and
// allocates nothing after it is made.
type Predictor struct {
	f      *Fitted
	width  int // numbers of a row: targets or classes
	nets   []*model.Predictor[float32]
	noise  [][]float64 // of each member with learned noise, its variances
	exact  []float32   // a member's variances for exact inputs
	scales []float32   // of the shapes
	far    *measure
	all    Predictions // with room for the most rows
	out    Predictions // of the last call
}

// normals are a member's predictions, rows × targets.
type normals struct{ mean, variance []float32 }

// Predictions are of a batch of rows, row-major. They are valid until the next call.
type Predictions struct {
	Rows, Targets, Classes int

	// Mean and Var are those of the targets. Var is the sum of three parts: Weights,
	// what the model does not know; Inputs, what the inputs' variances add; and
	// Noise. All are of the predictive distribution, widened to its shape. For
	// classes they hold the probabilities, and how sure the model is of them.
	Mean, Var              []float32
	Weights, Inputs, Noise []float32

	// NoiseInWeights is set where the weights have learned the noise too: Weights
	// holds both.
	NoiseInWeights bool

	// Unfamiliar tells how far a row is from what the model has learned from: the
	// larger of its inputs' Mahalanobis distance and the standard deviation due to
	// the weights, each as a multiple of what 99 of 100 training rows stay below.
	Unfamiliar []float32

	parts  []normals
	shapes []Shape
}

// NewPredictor returns a predictor for batches of at most maxRows rows, which shares
// its work among a pool.
func (f *Fitted) NewPredictor(pool *compute.Pool, maxRows int) *Predictor {
	p := &Predictor{f: f, width: max(f.Targets, f.Classes), far: f.Usual.measure(maxRows)}
	n := maxRows * p.width
	a := &p.all
	for _, m := range f.Members.Members {
		p.nets = append(p.nets, m.NewPredictorOn(pool, maxRows))
		p.noise = append(p.noise, learned(m))
		a.parts = append(a.parts, normals{make([]float32, n), make([]float32, n)})
	}
	for _, s := range f.Shapes {
		p.scales = append(p.scales, float32(s.Scale()))
	}
	p.exact = make([]float32, n)
	a.Targets, a.Classes, a.shapes, a.NoiseInWeights = f.Targets, f.Classes, f.Shapes, f.noise() == Embedded
	for _, x := range []*[]float32{&a.Mean, &a.Var, &a.Weights, &a.Inputs, &a.Noise} {
		*x = make([]float32, n)
	}
	a.Unfamiliar = make([]float32, maxRows)
	return p
}

// learned are the variances of a network's nn.Noise, nil if it has none.
func learned(m *model.Model) []float64 {
	layers := m.Config.Layers
	if len(layers) == 0 {
		return nil
	}
	if _, ok := layers[len(layers)-1].(nn.Noise); !ok {
		return nil
	}
	var v []float64
	raw := m.Params.Tensors[len(m.Params.Tensors)-1]
	for _, x := range raw.Mean {
		s := special.Softplus(float64(x))
		v = append(v, s*s)
	}
	return v
}

// Predict predicts the rows of x. With variances of the inputs it takes twice as
// long.
func (p *Predictor) Predict(x gauss.Batch[float32]) *Predictions {
	n := x.Rows * p.width
	a, v := &p.all, &p.out
	*v = *a
	v.Rows, v.Unfamiliar = x.Rows, a.Unfamiliar[:x.Rows]
	v.Mean, v.Var, v.Weights, v.Inputs, v.Noise = a.Mean[:n], a.Var[:n], a.Weights[:n], a.Inputs[:n], a.Noise[:n]
	for _, s := range [][]float32{v.Mean, v.Var, v.Weights, v.Inputs, v.Noise} {
		clear(s)
	}
	for k := range p.nets {
		p.member(k, x)
	}
	p.combine()
	p.far.unfamiliar(x, v)
	return v
}

const floor = 1e-6 // of a predicted variance, as in package likelihood

// member adds the predictions of member k to the sums.
func (p *Predictor) member(k int, x gauss.Batch[float32]) {
	v, part, noise := &p.out, p.all.parts[k], p.noise[k]
	exact := p.exact[:0]
	if x.Var != nil {
		out := p.nets[k].Predict(gauss.Batch[float32]{Rows: x.Rows, Width: x.Width, Mean: x.Mean})
		for r := range v.Rows {
			exact = append(exact, out.Var[r*out.Width:r*out.Width+p.width]...)
		}
	}
	out := p.nets[k].Predict(x)
	head := out.Width > p.width
	for r := range v.Rows {
		for t := range p.width {
			i, at := r*p.width+t, r*out.Width+t
			m, own, more, s := out.Mean[at], out.Var[at], float32(0), float32(0)
			if len(exact) > 0 {
				more = max(0, own-exact[i])
				own -= more
			}
			switch {
			case head:
				s = headNoise(out.Mean[at+p.width], out.Var[at+p.width])
			case noise != nil:
				s = float32(noise[t])
				own = max(0, own-s)
			}
			part.mean[i], part.variance[i] = m, max(own+more+s, floor)
			v.Mean[i] += m
			v.Weights[i] += own
			v.Inputs[i] += more
			v.Noise[i] += s
		}
	}
}

// headNoise is E e^ℓ, the noise that a head expects.
func headNoise(l, variance float32) float32 {
	return float32(min(max(math.Exp(float64(l+variance/2)), floor), 1e30))
}

// combine makes the mixture's moments of the sums. What members disagree about is
// due to the weights.
func (p *Predictor) combine() {
	v := &p.out
	share := 1 / float32(len(p.nets))
	for i := range v.Mean {
		v.Mean[i] *= share
	}
	for _, part := range p.all.parts {
		for i, m := range v.Mean {
			d := part.mean[i] - m
			v.Var[i] += d * d
		}
	}
	for i := range v.Mean {
		scale := share
		if v.Classes == 0 {
			scale *= p.scales[i%v.Targets]
		}
		v.Weights[i] = v.Weights[i]*scale + v.Var[i]*share
		v.Inputs[i] *= scale
		v.Noise[i] *= scale
		v.Var[i] = v.Weights[i] + v.Inputs[i] + v.Noise[i]
	}
}

// Dist fills m with the distribution of a row's target.
func (v *Predictions) Dist(row, target int, m *dist.Mixture) {
	m.Reset()
	i := row*v.Targets + target
	s := v.shapes[target]
	for _, p := range v.parts {
		for j, w := range s.W {
			m.Add(w, float64(p.mean[i]), math.Sqrt(float64(p.variance[i])*s.R[j]))
		}
	}
}
