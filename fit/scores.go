package fit

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"unicode"

	"utvi/internal/notation"
	"utvi/metric"
)

// Scores are the scores of one target: Numbers for regression, Classes for classes.
type Scores struct {
	Target   string                       `json:"target"`
	Numbers  *metric.RegressionScores     `json:"numbers,omitempty"`
	Classes  *metric.ClassificationScores `json:"classes,omitempty"`
	Baseline *Baseline                    `json:"baseline,omitempty"` // nil if the model does not know it
	Sets     []metric.CoverageScore       `json:"sets,omitempty"`     // of conformal sets of classes; the width is their size
	Names    []string                     `json:"names,omitempty"`    // of the classes
}

// A Baseline is the score of the same rows without a network: every row gets the Normal
// with the moments of the training rows, of counts the negative binomial, or their shares
// of the classes.
type Baseline struct {
	LL       float64 `json:"ll"`                 // log-likelihood, nats per row
	RMSE     float64 `json:"rmse,omitempty"`     // of numbers
	Counts   bool    `json:"counts,omitempty"`   // the log-likelihood is that of counts
	Accuracy float64 `json:"accuracy,omitempty"` // of the most frequent class
	Gain     Gain    `json:"gain"`               // of the model, over this
}

// A Gain is the mean difference of two log-likelihoods of the same rows, with its standard error.
type Gain struct {
	Value float64 `json:"value"`
	SE    float64 `json:"se"`
}

// Loses reports whether the gain is below 0 beyond chance.
func (g Gain) Loses() bool { return g.Value < -3*g.SE }

// losing is the sentence about targets that the model predicts worse than the mean alone would, ""
// if there are none. Few rows do not tell.
func losing(all []Scores) string {
	const fewest = 20
	for _, s := range all {
		switch b := s.Baseline; {
		case b == nil || !b.Gain.Loses():
		case s.Numbers != nil && s.Numbers.Rows >= fewest:
			return fmt.Sprintf("the model predicts %s worse than its mean alone would: held-out rows lose %.3g ± %.2g nats each; do not use it", s.Target, -b.Gain.Value, b.Gain.SE)
		case s.Classes != nil && s.Classes.Rows >= fewest:
			return fmt.Sprintf("the model predicts %s worse than the shares of its classes alone would: held-out rows lose %.3g ± %.2g nats each; do not use it", s.Target, -b.Gain.Value, b.Gain.SE)
		}
	}
	return ""
}

// check reports scores that no evaluation makes.
func (s *Scores) check() error {
	if (s.Numbers == nil) == (s.Classes == nil) {
		return fmt.Errorf("the scores of the target %q are of neither numbers nor classes, or of both", s.Target)
	}
	return nil
}

// WriteTable writes the scores as aligned lines, and below them those of the classes.
func (s Scores) WriteTable(w io.Writer) error {
	var more []metric.Line
	if b := s.Baseline; b != nil && s.Classes != nil {
		more = append(more, metric.Line{Name: "most frequent class", Text: fmt.Sprintf("accuracy %.4g, log-likelihood %.4g", b.Accuracy, b.LL)})
	} else if b != nil {
		more = append(more, metric.Line{Name: "mean only", Text: fmt.Sprintf("RMSE %s, log-likelihood %.4g", notation.Short(b.RMSE, 4), b.LL)})
	}
	for _, x := range s.Sets {
		more = append(more, metric.Line{Name: fmt.Sprintf("%.4g %% sets", 100*x.Level), Text: fmt.Sprintf("cover %.1f %% (%s), mean size %.3g", 100*x.Coverage, x.Band(), x.Width)})
	}
	if s.Classes == nil {
		return s.Numbers.WriteTable(w, more...)
	}
	if err := s.Classes.WriteTable(w, more...); err != nil {
		return err
	}
	return s.writeClasses(w)
}

// ClassTable is the scores of the classes as rows of text, with a head; nil if they are
// not known. Of many classes, the most frequent ones are listed.
func (s Scores) ClassTable() [][]string {
	const most = 30
	if s.Classes == nil || len(s.Classes.Classes) == 0 || len(s.Names) != len(s.Classes.Classes) {
		return nil
	}
	share := func(p *float64) string {
		if p == nil {
			return "–"
		}
		return fmt.Sprintf("%.3f", *p)
	}
	order := make([]int, len(s.Names))
	for i := range order {
		order[i] = i
	}
	if len(order) > most {
		slices.SortStableFunc(order, func(a, b int) int { return s.Classes.Classes[b].Rows - s.Classes.Classes[a].Rows })
		order = order[:most]
	}
	all := [][]string{{"class", "rows", "precision", "recall", "mean probability", "share", "calibration error", "by chance"}}
	for _, i := range order {
		c := s.Classes.Classes[i]
		all = append(all, []string{s.Names[i], fmt.Sprint(c.Rows), share(c.Precision), share(c.Recall), fmt.Sprintf("%.3f", c.Probability),
			fmt.Sprintf("%.3f", c.Frequency), fmt.Sprintf("%.4f", c.Calibration), fmt.Sprintf("%.4f", c.Chance)})
	}
	return all
}

func (s Scores) writeClasses(w io.Writer) error {
	rows := s.ClassTable()
	if rows == nil {
		return nil
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t)
	for _, row := range rows {
		row[0] = strings.Map(func(r rune) rune {
			if unicode.IsControl(r) {
				return unicode.ReplacementChar
			}
			return r
		}, row[0])
		fmt.Fprintln(t, strings.Join(row, "\t"))
	}
	if more := len(s.Names) - len(rows) + 1; more > 0 {
		fmt.Fprintf(t, "… and %d rarer classes\n", more)
	}
	return t.Flush()
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
		meaning := "mean distance between probability and frequency"
		if c.ECEChance > 0 {
			meaning += fmt.Sprintf("; %.4f expected by chance", c.ECEChance)
		}
		add("calibration error", meaning, "%.4f", c.ECE)
		if c.AUROC != nil {
			add("AUROC", "how well the two classes are separated; ½ is chance", "%.4f ± %.2g", *c.AUROC, c.AUROCSE)
		}
		for _, x := range s.Sets {
			add(fmt.Sprintf("%.4g %% sets cover", 100*x.Level), x.Band(), "%.1f %%", 100*x.Coverage)
			add(fmt.Sprintf("%.4g %% sets, size", 100*x.Level), "mean number of classes", "%.3g", x.Width)
		}
		if b := s.Baseline; b != nil {
			add("accuracy of the most frequent class", "always predicting the class that most training rows have", "%.4g", b.Accuracy)
			add("log-likelihood without a network", "every row gets the training shares of the classes", "%.4g", b.LL)
		}
		return all
	}
	n := s.Numbers
	score("log-likelihood", n.LL, "nats per row; higher is better")
	score("RMSE", n.RMSE, "of the predicted mean, in the target's unit")
	if n.R2 != nil {
		add("R²", "share of the target's variance that the predicted mean explains", "%.4f", *n.R2)
	}
	if b := s.Baseline; b != nil {
		add("RMSE of the mean", "always predicting the mean of the training rows", "%s", notation.Short(b.RMSE, 4))
		without := "every row gets the Normal of the training rows"
		if b.Counts {
			without = "every row gets the negative binomial of the training rows"
		}
		add("log-likelihood without a network", without, "%.4g", b.LL)
	}
	score("MAE", n.MAE, "of the predicted mean, in the target's unit")
	score("CRPS", n.CRPS, "of the whole distribution, in the target's unit; lower is better")
	for _, i := range n.Intervals {
		level := fmt.Sprintf("%.4g %% intervals", 100*i.Level)
		add(level+" cover", i.Band(), "%.1f %%", 100*i.Coverage)
		if i.Unbounded > 0 {
			add(level+", width", fmt.Sprintf("%d intervals have no bounds: too few rows to calibrate by", i.Unbounded), "infinite")
			continue
		}
		add(level+", width", "mean, in the target's unit", "%s", notation.Short(i.Width, 4))
	}
	add("calibration error", fmt.Sprintf("%.4f expected by chance", n.CalibrationChance), "%.4f", n.CalibrationError)
	add("sharpness", "root of the mean predicted variance", "%s", notation.Short(n.Sharpness, 4))
	return all
}
