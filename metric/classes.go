package metric

import (
	"math"

	"utvi/dist"
)

const (
	confidenceBins = 15
	leastProb      = 1e-30 // as in likelihood.Categorical

	oddsBins = 4096 // of ln(p/(1−p)), 0.01 wide about 0
	oddsBin  = 0.01
)

// Classification scores predicted probabilities of classes. The zero value is empty.
type Classification struct {
	right, ll, brier mean

	// Per bin of the largest probability: Σ w, Σ w·probability, Σ w·[right].
	bins [confidenceBins][3]float64

	odds [2][]float64 // per true class of two, a histogram of the log-odds

	classes []classTally
}

// A classTally counts the rows of one class, by weight.
type classTally struct {
	rows             int
	is, guessed, hit float64
	bins             [confidenceBins][3]float64 // of its probability: Σ w, Σ w·probability, Σ w·[it is the class]
}

// Add adds a row: its class, the predicted probabilities and its weight. A row of
// weight 0 does not count.
func (c *Classification) Add(class int, d dist.Categorical, weight float64) {
	c.AddIn(0, class, d, weight)
}

// AddIn is Add for a row in a group.
func (c *Classification) AddIn(g Group, class int, d dist.Categorical, weight float64) {
	checkWeight(weight)
	if weight == 0 {
		return
	}
	guess, hit := d.Argmax(), 0.0
	if guess == class {
		hit = 1
	}
	c.right.addIn(g, hit, weight)
	c.ll.addIn(g, math.Log(max(d[class], leastProb)), weight)
	var brier float64
	for k, p := range d {
		if k == class {
			p--
		}
		brier += p * p
	}
	c.brier.addIn(g, brier, weight)
	b := &c.bins[min(max(int(d[guess]*confidenceBins), 0), confidenceBins-1)]
	b[0] += weight
	b[1] += weight * d[guess]
	b[2] += weight * hit
	c.addClasses(class, guess, d, weight)
	if len(d) == 2 {
		if c.odds[class] == nil {
			c.odds[class] = make([]float64, oddsBins)
		}
		z := math.Log(max(d[1], leastProb)/max(d[0], leastProb))/oddsBin + oddsBins/2
		c.odds[class][int(min(max(z, 0), oddsBins-1))] += weight
	}
}

// Merge adds the rows of o.
func (c *Classification) Merge(o *Classification) {
	c.right.merge(&o.right)
	c.ll.merge(&o.ll)
	c.brier.merge(&o.brier)
	for i := range c.bins {
		for j := range c.bins[i] {
			c.bins[i][j] += o.bins[i][j]
		}
	}
	for k := range o.classes {
		if k == len(c.classes) {
			c.classes = append(c.classes, classTally{})
		}
		c.classes[k].merge(&o.classes[k])
	}
	for k, from := range o.odds {
		if from != nil && c.odds[k] == nil {
			c.odds[k] = make([]float64, oddsBins)
		}
		for i, w := range from {
			c.odds[k][i] += w
		}
	}
}

// ClassificationScores are the scores of predicted classes.
type ClassificationScores struct {
	Rows     int   `json:"rows"`
	Accuracy Score `json:"accuracy"` // of the most probable class
	LL       Score `json:"ll"`       // mean log-probability of the class, in nats, at least ln 1e-30 a row
	Brier    Score `json:"brier"`    // Σ over classes of (p − [it is the class])², between 0 and 2

	// ECE is the expected calibration error (Guo et al. 2017): the weighted mean, over
	// 15 equally wide bins of the largest probability, of |share of correct rows −
	// mean of that probability|. Perfect probabilities reach about ECEChance by chance:
	// Σ over bins of share·√(2p(1−p)/πn).
	ECE       float64 `json:"ece"`
	ECEChance float64 `json:"ece_chance,omitempty"`

	// Classes are the scores of each class.
	Classes []ClassScores `json:"classes,omitempty"`

	// AUROC is set if there are two classes and both occur: the probability that a row
	// of class 1 gets higher odds of class 1 than a row of class 0. Odds within 0.01
	// (in log-odds) count half.
	AUROC   *float64 `json:"auroc,omitempty"`
	AUROCSE float64  `json:"auroc_se,omitempty"` // its standard error (Hanley & McNeil 1982)
}

// Scores returns the scores of the rows so far; all scores are 0 if there are no rows.
func (c *Classification) Scores() ClassificationScores {
	s := ClassificationScores{Rows: c.ll.n, Accuracy: c.right.score(), LL: c.ll.score(), Brier: c.brier.score()}
	if c.ll.n == 0 {
		return s
	}
	for _, b := range c.Reliability() {
		s.ECE += b.Share * math.Abs(b.Right-b.Confidence)
		s.ECEChance += b.Share * chance(b.Confidence, b.Share*c.ll.rows())
	}
	for i := range c.classes {
		s.Classes = append(s.Classes, c.classes[i].scores(c.ll.w, c.ll.rows()))
	}
	if c.odds[0] != nil && c.odds[1] != nil {
		auroc := c.auroc()
		s.AUROC = &auroc
		s.AUROCSE = aurocError(auroc, float64(c.classes[0].rows), float64(c.classes[1].rows))
	}
	return s
}

func (c *Classification) auroc() float64 {
	var below, ones, sum float64
	for i, zero := range c.odds[0] {
		one := c.odds[1][i]
		sum += one * (below + zero/2)
		below += zero
		ones += one
	}
	return sum / (below * ones)
}

// aurocError is the standard error of an area a from so many rows of each class. Half a pair counts
// as ordered wrongly: few rows that are all ordered rightly do not prove that others will be.
func aurocError(a, zeros, ones float64) float64 {
	a = (a*zeros*ones + 0.5) / (zeros*ones + 1)
	q1 := a / (2 - a)
	q2 := 2 * a * a / (1 + a)
	v := a*(1-a) + (ones-1)*(q1-a*a) + (zeros-1)*(q2-a*a)
	return math.Sqrt(max(0, v) / (zeros * ones))
}

// A Bin is a part of a reliability diagram: the share of rows whose largest
// probability lies in the bin, the mean of that probability, and the share of correct
// rows.
type Bin struct {
	Share      float64 `json:"share"`
	Confidence float64 `json:"confidence"`
	Right      float64 `json:"right"`
}

// Reliability returns the non-empty bins of the ECE, in order of rising confidence.
func (c *Classification) Reliability() (bins []Bin) {
	for _, b := range c.bins {
		if b[0] > 0 {
			bins = append(bins, Bin{b[0] / c.ll.w, b[1] / b[0], b[2] / b[0]})
		}
	}
	return bins
}
