package metric_test

import (
	"fmt"
	"os"

	"utvi/dist"
	"utvi/metric"
)

func ExampleRegression() {
	var r metric.Regression
	d := new(dist.Normal)
	for _, row := range []struct{ y, mean, sd float64 }{{1.1, 1, 0.2}, {2.3, 2, 0.2}, {2.6, 3, 0.3}, {4.1, 4, 0.3}} {
		*d = dist.Normal{Mu: row.mean, Sigma: row.sd}
		r.Add(row.y, d, 1)
	}
	r.Scores().WriteTable(os.Stdout)
	// Output:
	// log-likelihood     -0.06084 ± 0.28
	// RMSE               0.2598 ± 0.07
	// R²                 0.9409 of the variance explained
	// MAE                0.225 ± 0.075
	// CRPS               0.1512 ± 0.046
	// 50 % intervals     cover 50.0 % (95 % within 15.0 … 85.0), mean width 0.3372
	// 90 % intervals     cover 100.0 % (95 % within 51.0 … 100.0), mean width 0.8224
	// 95 % intervals     cover 100.0 % (95 % within 51.0 … 100.0), mean width 0.98
	// calibration error  0.1198
	//                    0.1567 expected by chance
	// sharpness          0.255 root mean variance
	//                    0.25 mean standard deviation
	// rows               4
}

func ExampleClassification() {
	var c metric.Classification
	c.Add(0, dist.Categorical{0.9, 0.1}, 1)
	c.Add(1, dist.Categorical{0.2, 0.8}, 1)
	c.Add(1, dist.Categorical{0.7, 0.3}, 1)
	s := c.Scores()
	fmt.Printf("accuracy %.2f, log-likelihood %.3f, AUROC %.2f\n", s.Accuracy.Value, s.LL.Value, *s.AUROC)
	// Output: accuracy 0.67, log-likelihood -0.511, AUROC 1.00
}

// Intervals that come from elsewhere, such as conformal ones.
func ExampleCoverage() {
	var c metric.Coverage
	for i := range 100 {
		c.Add(float64(i%10), 1, 20, 1)
	}
	s := c.Score(0.9)
	fmt.Printf("%.0f %%, between %.1f and %.1f\n", 100*s.Coverage, 100*s.Low, 100*s.High)
	// Output: 90 %, between 82.6 and 94.5
}
