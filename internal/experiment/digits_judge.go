package experiment

import (
	"math"

	"utvi/gauss"
	"utvi/internal/digits"
	"utvi/likelihood"
	"utvi/model"
	"utvi/rng"
)

// digitsUnfamiliar are the images that no classifier was trained on.
var digitsUnfamiliar = []struct {
	name string
	draw func(k rng.Key, row uint64, pixels []float32)
}{
	{"letters", func(k rng.Key, row uint64, pixels []float32) { digits.Letter(k, row, pixels) }},
	{"garments", digits.Garment},
	{"static", digits.NoiseImage},
}

// digitsTest is the set of images that the classifiers are evaluated on.
type digitsTest struct {
	digits     gauss.Batch[float32]
	labels     []int
	unfamiliar []gauss.Batch[float32]
}

func newDigitsTest(key rng.Key, rows int) *digitsTest {
	t := &digitsTest{}
	t.digits = images(key, rows, func(k rng.Key, row uint64, pixels []float32) {
		t.labels = append(t.labels, digits.Digit(k, row, pixels))
	})
	for _, kind := range digitsUnfamiliar {
		t.unfamiliar = append(t.unfamiliar, images(key, rows, kind.draw))
	}
	return t
}

func images(key rng.Key, rows int, draw func(k rng.Key, row uint64, pixels []float32)) gauss.Batch[float32] {
	b := gauss.Fixed(digits.Pixels, make([]float32, rows*digits.Pixels))
	for i := range rows {
		draw(key, uint64(i), b.Mean[i*digits.Pixels:(i+1)*digits.Pixels])
	}
	return b
}

// digitsChunk is how many images are predicted at a time.
const digitsChunk = 96

// forEachImage visits the predicted probabilities of every image, and their
// variances.
func forEachImage(p *model.Predictor[float32], x gauss.Batch[float32], visit func(row int, mean, variance []float32)) {
	for lo := 0; lo < x.Rows; lo += digitsChunk {
		hi := min(x.Rows, lo+digitsChunk)
		out := p.Predict(x.Slice(lo, hi))
		for i := range hi - lo {
			visit(lo+i, out.Mean[i*out.Width:(i+1)*out.Width], out.Var[i*out.Width:(i+1)*out.Width])
		}
	}
}

// score returns a function that computes the mean negative log-likelihood of the
// test digits.
func (t *digitsTest) score(m *model.Model) func() []float64 {
	p := m.NewPredictor(digitsChunk)
	return func() []float64 {
		_, nll := t.familiar(p)
		return []float64{nll}
	}
}

func (t *digitsTest) familiar(p *model.Predictor[float32]) (accuracy, nll float64) {
	var row [4][10]float64
	forEachImage(p, t.digits, func(i int, mean, _ []float32) {
		best := 0
		for k, v := range mean {
			row[0][k] = float64(v)
			if v > mean[best] {
				best = k
			}
		}
		if best == t.labels[i] {
			accuracy++
		}
		n, _ := likelihood.Categorical{}.Row([]float64{float64(t.labels[i])}, row[0][:], row[1][:], row[2][:], row[3][:])
		nll += n
	})
	n := float64(t.digits.Rows)
	return accuracy / n, nll / n
}

// uncertainty returns the entropy of each image's predicted probabilities, and
// the sum of their variances.
func uncertainty(p *model.Predictor[float32], x gauss.Batch[float32]) (entropy, variance []float64) {
	forEachImage(p, x, func(_ int, mean, vari []float32) {
		var h, v float64
		for k, q := range mean {
			if q > 0 {
				h -= float64(q) * math.Log(float64(q))
			}
			v += float64(vari[k])
		}
		entropy, variance = append(entropy, h), append(variance, v)
	})
	return entropy, variance
}

// evaluate scores a network on digits and unfamiliar images.
func (t *digitsTest) evaluate(m *model.Model) DigitsTrial {
	p := m.NewPredictor(digitsChunk)
	var r DigitsTrial
	r.Accuracy, r.NLL = t.familiar(p)
	entropy, variance := uncertainty(p, t.digits)
	for _, x := range t.unfamiliar {
		h, v := uncertainty(p, x)
		r.Entropy = append(r.Entropy, auroc(entropy, h))
		r.Variance = append(r.Variance, auroc(variance, v))
	}
	return r
}
