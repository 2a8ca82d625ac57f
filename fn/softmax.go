package fn

import (
	"fmt"
	"math"

	"utvi/moment"
)

// Softmax returns the map y_k = exp(x_k) / Σ exp(x_j), for any number of inputs.
// It couples its inputs: use it in nn.Joint, not in nn.Apply.
//
// It has a closed-form approximation (moment.JointOwn), which takes the log-sum-exp of
// the other logits as Normal. nn.Joint uses it by default, because of the errors below.
// They are measured against 10⁶ joint draws, for d logits with means N(0, 1.5²) and
// variances within ±50 % of v, four rows each: the root mean square error over the
// classes, in per cent of the root mean square of the true values, of the mean | of the
// variance. Times are for one row forward.
//
//	  d   v    joint-ut(2)  joint-ut(3-d)   axes(3)       fifth      joint-mc(200)   own
//	  2  0.1    0.0 |   8     0.0 |  11    0.0 |  10    0.0 |  0.3    0.5 | 14    0.0 | 0.1
//	  2   1     0.4 |  29     0.8 |  41    0.8 |  37    0.1 |  1.6    1.2 |  9    0.0 | 0.1
//	  2   4     2.6 |  13     3.4 |  25    3.4 |  23    0.8 |  8.3    2.0 | 12    0.1 | 0.9
//	  3  0.1    0.0 |   1     0.0 |   4    0.0 |   3    0.0 |  0.1    0.6 |  9    0.0 | 0.4
//	  3   1     0.4 |   3     1.0 |  14    1.0 |  11    0.1 |  1.9    2.9 | 14    0.0 | 1.4
//	  3   4     2.5 |  17     6.2 |  15    6.2 |  33    1.4 |  5.3    6.5 | 14    0.2 | 0.9
//	 10  0.1    0.1 |  11     0.1 |   3    0.1 |   3    0.0 |  0.2    1.3 |  8    0.0 | 0.3
//	 10   1     5.3 |  45     4.0 |  25    4.0 |  27    0.4 |  3.5    4.4 |  9    0.2 | 0.9
//	 10   4    16.8 |  53    33.6 |  72   33.6 |  83    7.3 | 17.2    8.9 | 12    0.6 | 1.2
//	100  0.1    2.6 | 363     0.1 |  10    0.1 |   8    0.0 |  0.8    1.9 |  8    0.0 | 0.2
//	100   1    37.1 | 316     7.2 | 103    7.2 |  86    4.2 | 57      6.9 | 20    0.1 | 0.6
//	100   4    39.5 | 111     129 | 416    129 | 378    304 | 100    16.3 | 32    0.4 | 1.0
//	points         2d+1         2d+1        2d+1       2d²+1         200
//	µs, d=10       5            5           5           51            55          10
//	µs, d=100      440          440         450         63000         470         110
//
// (go test ./fn -run xxx -bench Softmax)
func Softmax() *moment.Map {
	return &moment.Map{Name: "softmax", F: softmax, VJP: softmaxVJP, ClosedForm: newSoftmaxMoments, ShiftInvariant: true}
}

// softmax subtracts the largest input, so that nothing overflows.
func softmax(x, y []float64) {
	top := math.Inf(-1)
	for _, v := range x {
		top = max(top, v)
	}
	var sum float64
	for i, v := range x {
		y[i] = math.Exp(v - top)
		sum += y[i]
	}
	for i := range y {
		y[i] /= sum
	}
}

// softmaxVJP is dx = y∘(dy − ⟨dy, y⟩).
func softmaxVJP(x, dy, dx []float64) {
	softmax(x, dx)
	var mean float64
	for i, y := range dx {
		mean += y * dy[i]
	}
	for i, y := range dx {
		dx[i] = y * (dy[i] - mean)
	}
}

// NamedMap returns the coupled map with the given name. Model files store maps by
// name.
func NamedMap(name string) (*moment.Map, error) {
	switch name {
	case "softmax":
		return Softmax(), nil
	case "log_softmax":
		return LogSoftmax(), nil
	}
	return nil, fmt.Errorf("fn: unknown map %q; the maps are softmax and log_softmax", name)
}

// coupled is the error of Named for the name of a map.
func coupled(name string) error {
	if _, err := NamedMap(name); err != nil {
		return nil
	}
	return fmt.Errorf("fn: %s couples its inputs and cannot be applied to each one alone; use it in nn.Joint", name)
}
