package answer

import (
	"math"
	"testing"

	"utvi/dist"
	"utvi/predict"
)

// No answer is longer than servers count, whatever its numbers are.
func TestSize(t *testing.T) {
	for _, v := range []float64{-math.MaxFloat64, -math.SmallestNonzeroFloat64, -1.2345678901234567e-5, -123456789012345678901, -0.0000012345678901234567} {
		if n := len(AppendFloat(nil, v)) + 1; n > NumberBytes {
			t.Errorf("%g has %d bytes", v, n)
		}
	}
	n := &predict.Number{Mean: -math.MaxFloat64, Std: -math.MaxFloat64, Lo: -math.MaxFloat64, Hi: -math.MaxFloat64, Variance: predict.Parts{Weights: -math.MaxFloat64, Inputs: -math.MaxFloat64, Noise: -math.MaxFloat64}}
	a := &Answerer{Words: Words{Targets: []string{`"t":`}}, interval: true, quantiles: make([]float64, 50), density: 50}
	out := a.number([]byte(`{"targets":{"t":`), n)
	out = a.shape(out[:len(out)-1], dist.Normal{Mu: -1.2345678901234567e-5, Sigma: 1.2345e-7})
	most := 100 + len(`"t":`) + 120 + 7*NumberBytes + 80 + NumberBytes*100
	if len(out) > most {
		t.Errorf("%d bytes, %d were counted", len(out), most)
	}
}
