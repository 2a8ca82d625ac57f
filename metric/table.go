package metric

import (
	"fmt"
	"io"
	"text/tabwriter"

	"utvi/internal/notation"
)

// A Line is a further line of a table of scores.
type Line struct{ Name, Text string }

// WriteTable writes the scores as aligned lines, with standard errors. Further lines
// stand before the number of rows.
func (s RegressionScores) WriteTable(w io.Writer, more ...Line) error {
	t := newTable(w)
	t.score("log-likelihood", s.LL)
	t.score("RMSE", s.RMSE)
	if s.R2 != nil {
		t.line("R²", "%.4f of the variance explained", *s.R2)
	}
	t.score("MAE", s.MAE)
	t.score("CRPS", s.CRPS)
	for _, i := range s.Intervals {
		i.line(t)
	}
	t.line("calibration error", "%.4f", s.CalibrationError)
	t.line("", "%.4f expected by chance", s.CalibrationChance)
	t.line("sharpness", "%s root mean variance", notation.Short(s.Sharpness, 4))
	t.line("", "%s mean standard deviation", notation.Short(s.MeanSD, 4))
	t.more(more)
	t.line("rows", "%d", s.Rows)
	return t.close()
}

func (i CoverageScore) line(t *table) {
	width := notation.Short(i.Width, 4)
	if i.Unbounded > 0 {
		width = fmt.Sprintf("infinite: %d have no bounds", i.Unbounded)
	}
	t.line(fmt.Sprintf("%.4g %% intervals", 100*i.Level), "cover %.1f %% (%s), mean width %s",
		100*i.Coverage, i.Band(), width)
}

// WriteTable writes the scores as aligned lines, with standard errors. Further lines
// stand before the number of rows.
func (s ClassificationScores) WriteTable(w io.Writer, more ...Line) error {
	t := newTable(w)
	t.score("accuracy", s.Accuracy)
	t.score("log-likelihood", s.LL)
	t.score("Brier score", s.Brier)
	t.line("calibration error", "%.4f", s.ECE)
	if s.ECEChance > 0 {
		t.line("", "%.4f expected by chance", s.ECEChance)
	}
	if s.AUROC != nil {
		t.line("AUROC", "%.4f ± %.2g", *s.AUROC, s.AUROCSE)
	}
	t.more(more)
	t.line("rows", "%d", s.Rows)
	return t.close()
}

// A table aligns names with their values, and keeps the first error.
type table struct {
	out *tabwriter.Writer
	err error
}

func newTable(w io.Writer) *table { return &table{out: tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)} }

func (t *table) line(name, format string, a ...any) {
	if _, err := fmt.Fprintf(t.out, "%s\t%s\n", name, fmt.Sprintf(format, a...)); t.err == nil {
		t.err = err
	}
}

func (t *table) more(lines []Line) {
	for _, l := range lines {
		t.line(l.Name, "%s", l.Text)
	}
}

func (t *table) score(name string, s Score) { t.line(name, "%v", s) }

func (t *table) close() error {
	if err := t.out.Flush(); t.err == nil {
		t.err = err
	}
	return t.err
}
