package metric

import (
	"math"
	"testing"

	"utvi/dist"
)

// TestR2 compares with the definition, over parts that are merged, far from zero.
func TestR2(t *testing.T) {
	y := []float64{1e6 + 1, 1e6 + 2, 1e6 + 4, 1e6 + 3, 1e6 + 7}
	w := []float64{1, 2, 1, 0.5, 3}
	var all, a, b Regression
	var sw, mean, sse, sst float64
	for i := range y {
		sw += w[i]
		mean += w[i] * y[i]
	}
	mean /= sw
	for i := range y {
		d := dist.Normal{Mu: y[i] + 0.3*float64(i%3-1), Sigma: 1}
		all.Add(y[i], d, w[i])
		if i < 2 {
			a.Add(y[i], d, w[i])
		} else {
			b.Add(y[i], d, w[i])
		}
		sse += w[i] * (y[i] - d.Mu) * (y[i] - d.Mu)
		sst += w[i] * (y[i] - mean) * (y[i] - mean)
	}
	var empty Regression
	a.Merge(&empty)
	a.Merge(&b)
	for _, r := range []*Regression{&all, &a} {
		if got := r.Scores().R2; got == nil || math.Abs(*got-(1-sse/sst)) > 1e-9 {
			t.Errorf("R² is %v, want %v", got, 1-sse/sst)
		}
	}
	var same Regression
	same.Add(3, dist.Normal{Mu: 3, Sigma: 1}, 1)
	same.Add(3, dist.Normal{Mu: 4, Sigma: 1}, 1)
	if r2 := same.Scores().R2; r2 != nil {
		t.Errorf("R² of equal targets is %v", *r2)
	}
}

func TestClassScores(t *testing.T) {
	rows := []struct {
		class int
		p     dist.Categorical
		w     float64
	}{{0, dist.Categorical{0.8, 0.1, 0.1}, 1}, {0, dist.Categorical{0.3, 0.6, 0.1}, 2}, {1, dist.Categorical{0.2, 0.7, 0.1}, 1}, {1, dist.Categorical{0.6, 0.3, 0.1}, 1}}
	var all, a, b Classification
	for i, r := range rows {
		all.Add(r.class, r.p, r.w)
		if i%2 == 0 {
			a.Add(r.class, r.p, r.w)
		} else {
			b.Add(r.class, r.p, r.w)
		}
	}
	a.Merge(&b)
	for _, c := range []*Classification{&all, &a} {
		s := c.Scores().Classes
		if len(s) != 3 || s[0].Rows != 2 || *s[0].Precision != 0.5 || math.Abs(*s[0].Recall-1./3) > 1e-12 || math.Abs(*s[1].Precision-1./3) > 1e-12 || *s[1].Recall != 0.5 {
			t.Fatalf("scores are %+v", s)
		}
		if s[2].Precision != nil || s[2].Recall != nil || s[2].Frequency != 0 || math.Abs(s[2].Probability-0.1) > 1e-12 || math.Abs(s[2].Calibration-0.1) > 1e-12 {
			t.Errorf("the class that never occurs: %+v", s[2])
		}
		if math.Abs(s[0].Frequency-0.6) > 1e-12 || math.Abs(s[0].Probability-(0.8+0.6+0.2+0.6)/5) > 1e-12 {
			t.Errorf("class 0: %+v", s[0])
		}
	}
}

// TestECEChance draws classes from their probabilities: the calibration error is then
// about its chance level.
func TestECEChance(t *testing.T) {
	var c Classification
	for i := range 20000 {
		p := 0.5 + 0.5*math.Mod(float64(i)*0.6180339887, 1)
		class := 0
		if math.Mod(float64(i)*0.7548776662, 1) > p {
			class = 1
		}
		c.Add(class, dist.Categorical{p, 1 - p}, 1)
	}
	s := c.Scores()
	if s.ECE > 3*s.ECEChance || s.ECEChance < 0.001 || s.ECEChance > 0.02 {
		t.Errorf("the calibration error is %v, by chance %v", s.ECE, s.ECEChance)
	}
}
