package uci

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"strings"
	"text/tabwriter"

	"utvi/metric"
)

// A Score holds the scores of one set, averaged over splits.
type Score struct {
	Set        string    `json:"set"`
	Splits     int       `json:"splits"`
	LL         float64   `json:"ll"`
	LLSE       *float64  `json:"ll_se"` // null for a single split
	RMSE       float64   `json:"rmse"`
	RMSESE     *float64  `json:"rmse_se"`
	Coverage90 float64   `json:"coverage90"`
	Fifths     []float64 `json:"coverage90_by_sd"` // in the fifths of the test rows, the smallest predicted sd first
	Seconds    float64   `json:"seconds"`          // of all splits

	rows int
}

// Average averages the splits of a set, which took some seconds together.
func Average(set string, splits []Result, seconds float64) Score {
	s := Score{Set: set, Splits: len(splits), Seconds: seconds}
	var ll, rmse []float64
	covered := 0
	var fifths [len(Result{}.Fifths)]Fifth
	for _, r := range splits {
		ll = append(ll, r.LL)
		rmse = append(rmse, r.RMSE)
		covered += r.Covered
		for k, f := range r.Fifths {
			fifths[k].Covered += f.Covered
			fifths[k].Rows += f.Rows
		}
		s.rows += r.Rows
	}
	s.LL, s.LLSE = meanSE(ll)
	s.RMSE, s.RMSESE = meanSE(rmse)
	s.Coverage90 = float64(covered) / float64(max(s.rows, 1))
	for _, f := range fifths {
		s.Fifths = append(s.Fifths, float64(f.Covered)/float64(max(f.Rows, 1)))
	}
	return s
}

// meanSE is a mean with its standard error, nil of one value.
func meanSE(x []float64) (mean float64, se *float64) {
	n := float64(len(x))
	for _, v := range x {
		mean += v / n
	}
	if len(x) < 2 {
		return mean, nil
	}
	var squares float64
	for _, v := range x {
		squares += (v - mean) * (v - mean)
	}
	squares = math.Sqrt(squares / (n - 1) / n)
	return mean, &squares
}

func withSE(mean float64, se *float64) string {
	if se == nil {
		return fmt.Sprintf("%.3f", mean)
	}
	return fmt.Sprintf("%.3f ± %.3f", mean, *se)
}

// WriteScores writes a table of scores beside some of the published ones.
func WriteScores(w io.Writer, all []Score) error {
	shown := []string{"PBP", "MC dropout 2018", "deep ensembles", "DVI", "NGBoost", "CARD"}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "set\tsplits\tlog-likelihood\tbest published\t%s\tRMSE\t90 %% cover\tby fifths of the sd\tseconds\t\n", strings.Join(shown, "\t"))
	for _, s := range all {
		fmt.Fprintf(t, "%s\t%d\t%s\t", s.Set, s.Splits, withSE(s.LL, s.LLSE))
		best, by := Figure{LL: math.Inf(-1)}, map[string]string{}
		for _, f := range Published(s.Set) {
			by[f.Method] = fmt.Sprintf("%.2f", f.LL)
			if f.LL > best.LL {
				best = f
			}
		}
		if best.Method == "" {
			fmt.Fprint(t, "–\t")
		} else {
			fmt.Fprintf(t, "%.2f (%s)\t", best.LL, best.Method)
		}
		for _, m := range shown {
			fmt.Fprintf(t, "%s\t", cmp.Or(by[m], "–"))
		}
		lo, hi := metric.Wilson(s.Coverage90, float64(s.rows))
		fmt.Fprintf(t, "%s\t%.1f %% (%.1f … %.1f)\t", withSE(s.RMSE, s.RMSESE), 100*s.Coverage90, 100*lo, 100*hi)
		for k, f := range s.Fifths {
			fmt.Fprintf(t, "%s%.1f", strings.Repeat(" ", min(k, 1)), 100*f)
		}
		fmt.Fprintf(t, "\t%.0f\t\n", s.Seconds)
	}
	return t.Flush()
}
