package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"utvi/internal/fitkind"
	"utvi/internal/uci"
	"utvi/metric"
	"utvi/sweep"
	"utvi/tabular"
)

// A uciBench is what the flags of bench uci ask for.
type uciBench struct {
	data, plan, out string
	sets            []string
	splits, jobs    int
	protocol        bool
	seed            uint64
}

func benchUCICommand() *cobra.Command {
	b := &uciBench{}
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "uci --data FOLDER",
		Short: "Score the default fit on the literature's regression benchmark",
		Long: `Fit every split of every set in a folder with the default configuration, score the
predictions of the test rows, and print the scores beside the published ones. A set is a
folder with data.txt, index_features.txt, index_target.txt, index_train_k.txt,
index_test_k.txt, n_splits.txt and n_hidden.txt (Hernández-Lobato & Adams 2015).

The log-likelihood is the mean over splits, in nats per test row and in the target's
unit, ± its standard error. The coverage is the share of test rows of all splits in
their 90 % intervals: of all rows, and of each fifth of a split's rows, from the smallest
predicted standard deviation to the largest. The seconds are the sum over all splits. With
--out the results of the splits are kept, and the same command continues after a stop.`,
		Example: `  utvi bench uci --data uci
  utvi bench uci --data uci --sets yacht,bostonHousing --splits 5 --json
  utvi bench uci --data uci --plan plan.json           only write the list of trials`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			for _, name := range []string{"splits", "jobs"} {
				if v, _ := cmd.Flags().GetInt(name); cmd.Flags().Changed(name) && v < 1 {
					return usagef("--%s is %d; it must be at least 1", name, v)
				}
			}
			if b.data == "" {
				return usagef("--data is missing; name the folder of the sets")
			}
			plan, err := b.trials()
			if err != nil {
				return err
			}
			if b.plan != "" {
				if err := saveTo(b.plan, plan.Save); err != nil {
					return err
				}
				_, err := fmt.Fprintf(cmd.OutOrStdout(), "Wrote %d trials to %s.\n", len(plan.Trials), b.plan)
				return err
			}
			results, err := b.run(cmd, plan)
			if err != nil {
				return err
			}
			scores, err := uciScores(b.sets, plan, results)
			if err != nil {
				return err
			}
			if asJSON {
				return writeJSON(cmd.OutOrStdout(), scores)
			}
			return printUCI(cmd.OutOrStdout(), scores)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&b.data, "data", "", "folder of the sets")
	f.StringSliceVar(&b.sets, "sets", nil, "sets to run (default all)")
	f.IntVar(&b.splits, "splits", 0, "number of splits of each set (default all)")
	f.BoolVar(&b.protocol, "protocol", false, "use the literature's network: one hidden layer of n_hidden ReLU units")
	f.Uint64Var(&b.seed, "seed", 0, "seed of all random numbers")
	f.BoolVar(&asJSON, "json", false, "print JSON")
	f.IntVar(&b.jobs, "jobs", 0, "number of splits at the same time (default the number of cores)")
	f.StringVar(&b.out, "out", "", "folder for the results of the splits (default: they are not kept)")
	f.StringVar(&b.plan, "plan", "", "write the list of trials to this file and run nothing")
	return cmd
}

// trials are all splits of all sets, the largest sets first, so that no core is left
// with one of them in the end.
func (b *uciBench) trials() (*sweep.Plan, error) {
	names, err := uci.Names(b.data)
	if err != nil {
		return nil, err
	}
	if b.sets == nil {
		b.sets = names
	}
	type sized struct {
		set  *uci.Set
		size float64
	}
	var all []sized
	for _, name := range b.sets {
		if !slices.Contains(names, name) {
			return nil, fmt.Errorf("%s has no set %q; it has %s", b.data, name, strings.Join(names, ", "))
		}
		s, err := uci.Open(b.data, name)
		if err != nil {
			return nil, err
		}
		info, err := os.Stat(filepath.Join(b.data, name, "data.txt"))
		if err != nil {
			return nil, err
		}
		all = append(all, sized{s, math.Sqrt(float64(info.Size()))}) // as the steps grow
	}
	var short []string
	for _, x := range all {
		if x.set.Splits < b.splits {
			short = append(short, fmt.Sprintf("%s has %d", x.set.Name, x.set.Splits))
		}
	}
	if short != nil {
		return nil, usagef("--splits is %d, but %s; ask for fewer, or leave the flag out for all splits of every set", b.splits, strings.Join(short, ", "))
	}
	slices.SortStableFunc(all, func(x, y sized) int { return cmp.Compare(y.size, x.size) })
	var trials []sweep.Trial
	for _, x := range all {
		for k := range cmp.Or(b.splits, x.set.Splits) {
			spec := fitkind.Split{Data: b.data, Set: x.set.Name, Split: k, Protocol: b.protocol, Network: tabular.Config{Seed: b.seed}}
			trials = append(trials, sweep.NewTrial("uci", fmt.Sprintf("%s-%d", fileName(x.set.Name), k), x.set.Name, x.size, spec))
		}
	}
	return sweep.NewPlan("uci", trials...)
}

func (b *uciBench) run(cmd *cobra.Command, plan *sweep.Plan) ([]*sweep.Result, error) {
	dir := b.out
	if dir == "" {
		var err error
		dir, err = os.MkdirTemp("", "utvi-uci-")
		if err != nil {
			return nil, err
		}
		defer os.RemoveAll(dir)
	} else if err := makeFolder(dir); err != nil {
		return nil, err
	}
	bars := newProgress(cmd.ErrOrStderr(), plan)
	results, err := sweep.Runner{Kinds: fitkind.All(), Dir: dir, Jobs: b.jobs, Progress: bars.tell}.Run(cmd.Context(), plan)
	bars.close()
	if errors.Is(err, context.Canceled) && b.out != "" {
		err = exitError{errors.New("the benchmark was interrupted; the same command continues it"), exitInterrupted}
	}
	return results, err
}

// A uciScore holds the scores of one set.
type uciScore struct {
	Set        string    `json:"set"`
	Splits     int       `json:"splits"`
	LL         float64   `json:"ll"`
	LLSE       *float64  `json:"ll_se"` // null for a single split
	RMSE       float64   `json:"rmse"`
	RMSESE     *float64  `json:"rmse_se"`
	Coverage90 float64   `json:"coverage90"`
	Fifths     []float64 `json:"coverage90_by_sd"` // in the fifths of the test rows, the smallest predicted sd first
	Seconds    float64   `json:"seconds"`

	rows int
}

// uciScores averages splits, set by set.
func uciScores(sets []string, plan *sweep.Plan, results []*sweep.Result) ([]uciScore, error) {
	all := []uciScore{}
	for _, set := range sets {
		s := uciScore{Set: set}
		var ll, rmse []float64
		covered := 0
		var fifths [len(uci.Result{}.Fifths)]uci.Fifth
		for i, t := range plan.Trials {
			if t.Group != set {
				continue
			}
			var r uci.Result
			if err := results[i].Decode(&r); err != nil {
				return nil, err
			}
			ll, rmse = append(ll, r.LL), append(rmse, r.RMSE)
			covered += r.Covered
			for k, f := range r.Fifths {
				fifths[k].Covered += f.Covered
				fifths[k].Rows += f.Rows
			}
			s.rows += r.Rows
			s.Seconds += results[i].Run.Seconds
		}
		s.Splits = len(ll)
		s.LL, s.LLSE = meanSE(ll)
		s.RMSE, s.RMSESE = meanSE(rmse)
		s.Coverage90 = float64(covered) / float64(max(s.rows, 1))
		for _, f := range fifths {
			s.Fifths = append(s.Fifths, float64(f.Covered)/float64(max(f.Rows, 1)))
		}
		all = append(all, s)
	}
	return all, nil
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

// printUCI writes the scores beside some of the published ones.
func printUCI(w io.Writer, all []uciScore) error {
	shown := []string{"PBP", "MC dropout 2018", "deep ensembles", "DVI", "NGBoost", "CARD"}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "set\tsplits\tlog-likelihood\tbest published\t%s\tRMSE\t90 %% cover\tby fifths of the sd\tseconds\t\n", strings.Join(shown, "\t"))
	for _, s := range all {
		fmt.Fprintf(t, "%s\t%d\t%s\t", s.Set, s.Splits, withSE(s.LL, s.LLSE))
		best, by := uci.Figure{LL: math.Inf(-1)}, map[string]string{}
		for _, f := range uci.Published(s.Set) {
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
