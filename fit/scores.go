package fit

import (
	"fmt"
	"io"

	"utvi/metric"
)

// Scores are the scores of one target: Numbers for regression, Classes for classes.
type Scores struct {
	Target  string                       `json:"target"`
	Numbers *metric.RegressionScores     `json:"numbers,omitempty"`
	Classes *metric.ClassificationScores `json:"classes,omitempty"`
}

// WriteTable writes the scores as aligned lines.
func (s Scores) WriteTable(w io.Writer) error {
	if s.Classes != nil {
		return s.Classes.WriteTable(w)
	}
	return s.Numbers.WriteTable(w)
}

// A NamedScore is a score as text, with its meaning.
type NamedScore struct{ Name, Text, Meaning string }

// List returns the scores in the order in which they are shown.
func (s Scores) List() (all []NamedScore) {
	add := func(name, meaning, format string, args ...any) {
		all = append(all, NamedScore{name, fmt.Sprintf(format, args...), meaning})
	}
	score := func(name string, x metric.Score, meaning string) {
		add(name, meaning, "%v", x)
	}
	if c := s.Classes; c != nil {
		score("accuracy", c.Accuracy, "share of rows whose most probable class is right")
		score("log-likelihood", c.LL, "nats per row; higher is better, 0 is certainty")
		score("Brier score", c.Brier, "0 is best, 2 is worst")
		add("calibration error", "mean distance between probability and frequency", "%.4f", c.ECE)
		if c.AUROC != nil {
			add("AUROC", "how well the two classes are separated; ½ is chance", "%.4f", *c.AUROC)
		}
		return all
	}
	n := s.Numbers
	score("log-likelihood", n.LL, "nats per row; higher is better")
	score("RMSE", n.RMSE, "of the predicted mean, in the target's unit")
	score("MAE", n.MAE, "of the predicted mean, in the target's unit")
	score("CRPS", n.CRPS, "of the whole distribution, in the target's unit; lower is better")
	for _, i := range n.Intervals {
		level := fmt.Sprintf("%.4g %% intervals", 100*i.Level)
		add(level+" cover", fmt.Sprintf("95 %% within %.1f … %.1f", 100*i.Low, 100*i.High), "%.1f %%", 100*i.Coverage)
		if i.Unbounded > 0 {
			add(level+", width", fmt.Sprintf("%d intervals have no bounds: too few rows to calibrate by", i.Unbounded), "infinite")
			continue
		}
		add(level+", width", "mean, in the target's unit", "%.4g", i.Width)
	}
	add("calibration error", fmt.Sprintf("%.4f expected by chance", n.CalibrationChance), "%.4f", n.CalibrationError)
	add("sharpness", "root of the mean predicted variance", "%.4g", n.Sharpness)
	return all
}
