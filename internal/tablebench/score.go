package tablebench

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"text/tabwriter"
)

// near is how much less likely than by the best peer the default may make a row of numbers, in nats,
// or of classes, as a share of the peer's log-loss, and count as level with it.
const near, nearShare = 0.03, 0.02

// A Score compares methods on a table, over the splits that both have been scored on.
type Score struct {
	Table   string            `json:"table"`
	Task    string            `json:"task"`
	Splits  int               `json:"splits"`
	Rows    int               `json:"rows"`    // learned from
	Methods map[string]Scores `json:"methods"` // means over the splits
	Best    string            `json:"best"`    // the peer whose rows are most likely; "": there are no peers
	Gain    float64           `json:"gain"`    // our log-likelihood less that of the best peer
	SE      float64           `json:"se"`      // its standard error over splits
}

// Level reports whether the default is no worse than the best peer, but for a little.
func (s Score) Level() bool {
	if s.Task == classification {
		return s.Gain >= nearShare*s.Methods[s.Best].LL
	}
	return s.Gain >= -near
}

// Average compares ours with the peers' results of a table. Of whole numbers that our model counts,
// probabilities are compared.
func Average(t Table, ours, peers []Result) Score {
	s := Score{Table: t.Name, Task: t.Task, Splits: len(ours), Methods: map[string]Scores{}}
	each := map[string][]float64{} // log-likelihoods of all splits
	for k, r := range ours {
		s.Rows = r.Rows
		for _, methods := range []map[string]Scores{r.Methods, peersOf(peers, k)} {
			for name, m := range methods {
				if r.Counts && m.Mass != nil {
					m.LL = *m.Mass
				}
				each[name] = append(each[name], m.LL)
				sum := s.Methods[name]
				n := float64(len(ours))
				sum.LL += m.LL / n
				sum.RMSE += m.RMSE / n
				sum.Cover += m.Cover / n
				sum.Accuracy += m.Accuracy / n
				s.Methods[name] = sum
			}
		}
	}
	best := math.Inf(-1)
	for _, name := range s.peers() {
		if m := s.Methods[name]; len(each[name]) == len(ours) && m.LL > best {
			s.Best = name
			best = m.LL
		}
	}
	if s.Best == "" {
		return s
	}
	var square float64
	s.Gain = s.Methods[utvi].LL - best
	for k, ll := range each[utvi] {
		d := ll - each[s.Best][k] - s.Gain
		square += d * d
	}
	if n := float64(len(ours)); n > 1 {
		s.SE = math.Sqrt(square / (n - 1) / n)
	}
	return s
}

func peersOf(all []Result, split int) map[string]Scores {
	if split < len(all) {
		return all[split].Methods
	}
	return nil
}

// peers are the names of the methods but ours.
func (s Score) peers() (names []string) {
	for name := range s.Methods {
		if name != utvi {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(place(a), place(b)), cmp.Compare(a, b)) })
	return names
}

// shown are the peers' columns.
var shown = map[string][]string{
	regression:     {"mean", "ridge", "ridge on ln y", "GP", "extra trees", "hist boosting", "LightGBM", "CatBoost", "NGBoost"},
	classification: {"shares", "logistic", "extra trees", "hist boosting", "LightGBM", "CatBoost", "NGBoost"},
}

func place(name string) int { return slices.Index(shown[regression], name) }

// WriteScores writes a table of numbers, one of classes, and how often the default is level with the
// best peer.
func WriteScores(w io.Writer, all []Score) error {
	for _, task := range []string{regression, classification} {
		some := slices.DeleteFunc(slices.Clone(all), func(s Score) bool { return s.Task != task })
		if len(some) == 0 {
			continue
		}
		if err := writeTask(w, task, some); err != nil {
			return err
		}
	}
	return nil
}

func writeTask(w io.Writer, task string, all []Score) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	more := "RMSE\tbest RMSE\t90 % cover"
	if task == classification {
		more = "accuracy\tbest accuracy"
	}
	fmt.Fprintf(t, "%s\trows\tsplits\tutvi\tgain over the best\t%s\t%s\t\n", task, strings.Join(shown[task], "\t"), more)
	var few, levelFew, level int
	for _, s := range all {
		m := s.Methods[utvi]
		gain := "–"
		if s.Best != "" {
			gain = fmt.Sprintf("%+.3f ± %.3f", s.Gain, s.SE)
			if s.Level() {
				level++
			}
			if s.Rows < 200 {
				few++
				if s.Level() {
					levelFew++
				}
			}
		}
		fmt.Fprintf(t, "%s\t%d\t%d\t%.3f\t%s\t", s.Table, s.Rows, s.Splits, m.LL, gain)
		for _, name := range shown[task] {
			p, ok := s.Methods[name]
			if !ok {
				fmt.Fprint(t, "–\t")
				continue
			}
			fmt.Fprintf(t, "%.3f\t", p.LL)
		}
		if task == classification {
			fmt.Fprintf(t, "%.3f\t%.3f\t\n", m.Accuracy, s.extreme(func(p Scores) float64 { return -p.Accuracy })*-1)
			continue
		}
		fmt.Fprintf(t, "%.4g\t%.4g\t%.1f %%\t\n", m.RMSE, s.extreme(func(p Scores) float64 { return p.RMSE }), 100*m.Cover)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if task == classification {
		_, err := fmt.Fprintf(w, "best, or within %.0f %% of the best: %d of %d\n", 100*nearShare, level, len(all))
		return err
	}
	_, err := fmt.Fprintf(w, "best, or within %g of the best: %d of %d; under 200 rows %d of %d\n", near, level, len(all), levelFew, few)
	return err
}

// extreme is the smallest value among the peers.
func (s Score) extreme(of func(Scores) float64) float64 {
	least := math.Inf(1)
	for _, name := range s.peers() {
		least = min(least, of(s.Methods[name]))
	}
	return least
}
