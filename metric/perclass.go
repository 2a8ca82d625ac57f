package metric

import (
	"math"

	"utvi/dist"
)

// ClassScores are the scores of one class against all others.
type ClassScores struct {
	Rows int `json:"rows"` // of the class

	// Precision is the share of the rows predicted as the class that are of it, Recall
	// the share of the rows of the class that are predicted as it. They are nil where
	// there are no such rows.
	Precision *float64 `json:"precision"`
	Recall    *float64 `json:"recall"`

	Frequency   float64 `json:"frequency"`   // share of rows of the class
	Probability float64 `json:"probability"` // mean predicted probability of the class

	// Calibration is the calibration error of the class's probability, over 15 equally
	// wide bins; perfect probabilities reach about Chance.
	Calibration float64 `json:"calibration"`
	Chance      float64 `json:"chance"`
}

func (c *Classification) addClasses(class, guess int, d dist.Categorical, weight float64) {
	for len(c.classes) < len(d) {
		c.classes = append(c.classes, classTally{})
	}
	c.classes[class].rows++
	c.classes[class].is += weight
	c.classes[guess].guessed += weight
	if class == guess {
		c.classes[class].hit += weight
	}
	for k, p := range d {
		b := &c.classes[k].bins[min(max(int(p*confidenceBins), 0), confidenceBins-1)]
		b[0] += weight
		b[1] += weight * p
		if k == class {
			b[2] += weight
		}
	}
}

func (t *classTally) merge(o *classTally) {
	t.rows += o.rows
	t.is += o.is
	t.guessed += o.guessed
	t.hit += o.hit
	for i := range t.bins {
		for j := range t.bins[i] {
			t.bins[i][j] += o.bins[i][j]
		}
	}
}

// scores are the scores of the class among rows of the given weight, worth n rows of
// equal weight.
func (t *classTally) scores(weight, n float64) ClassScores {
	s := ClassScores{Rows: t.rows, Precision: ratio(t.hit, t.guessed), Recall: ratio(t.hit, t.is), Frequency: t.is / weight}
	for _, b := range t.bins {
		if b[0] == 0 {
			continue
		}
		share, p := b[0]/weight, b[1]/b[0]
		s.Probability += b[1] / weight
		s.Calibration += share * math.Abs(b[2]/b[0]-p)
		s.Chance += share * chance(p, share*n)
	}
	return s
}

func ratio(a, b float64) *float64 {
	if b == 0 {
		return nil
	}
	r := a / b
	return &r
}

// chance is the mean distance of the share of n draws from their probability p.
func chance(p, n float64) float64 {
	return math.Sqrt(2 * max(0, p*(1-p)) / (math.Pi * max(n, 1)))
}
