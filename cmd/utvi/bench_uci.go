package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"utvi/internal/fitkind"
	"utvi/internal/sweep"
	"utvi/internal/tabular"
	"utvi/internal/uci"
)

const benchUCIHelp = `Fit every split of every set in a folder with the default configuration, score the
predictions of the test rows, and print the scores beside the published ones. A set is a
folder with data.txt, index_features.txt, index_target.txt, index_train_k.txt,
index_test_k.txt, n_splits.txt and n_hidden.txt (Hernández-Lobato & Adams 2015).

The log-likelihood is the mean over splits, in nats per test row and in the target's
unit, ± its standard error. The coverage is the share of test rows of all splits in
their 90 % intervals: of all rows, and of each fifth of a split's rows, from the smallest
predicted standard deviation to the largest. The seconds are the sum over all splits. With
--out the results of the splits are kept, and the same command continues after a stop.

With --gaps the test rows lie between the others: models must say there what they do not know.`

const benchUCIExamples = `  utvi bench uci --data uci
  utvi bench uci --data uci --sets yacht,bostonHousing --splits 5 --json
  utvi bench uci --data uci --sets yacht --gaps        error bars between the rows
  utvi bench uci --data uci --plan plan.json           only write the list of trials`

// A uciBench is what the flags of bench uci ask for.
type uciBench struct {
	data     string // folder of the sets
	plan     string // file for the list of trials; "": run them
	out      string // folder of the results; "": they are not kept
	sets     []string
	splits   int
	jobs     int
	protocol bool
	gaps     bool
	seed     uint64
	asJSON   bool
}

func benchUCICommand() *cobra.Command {
	b := &uciBench{}
	cmd := &cobra.Command{
		Use:     "uci --data FOLDER",
		Short:   "Score the default fit on the literature's regression benchmark",
		Long:    benchUCIHelp,
		Example: benchUCIExamples,
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := b.check(cmd.Flags()); err != nil {
				return err
			}
			return b.run(cmd)
		},
	}
	b.flags(cmd.Flags())
	return cmd
}

func (b *uciBench) flags(f *pflag.FlagSet) {
	f.SortFlags = false
	f.StringVar(&b.data, "data", "", "`folder` of the sets")
	f.StringSliceVar(&b.sets, "sets", nil, "sets to run (default all)")
	f.IntVar(&b.splits, "splits", 0, "number of splits of each set (default all)")
	f.BoolVar(&b.protocol, "protocol", false, "use the literature's network: one hidden layer of n_hidden ReLU units")
	f.BoolVar(&b.gaps, "gaps", false, "cut gaps: the middle third of the rows, by each input with 6 values or more, is the test")
	f.Uint64Var(&b.seed, "seed", 0, "seed of all random numbers")
	f.BoolVar(&b.asJSON, "json", false, "print JSON")
	f.IntVar(&b.jobs, "jobs", 0, "number of splits at the same time (default the number of cores)")
	f.StringVar(&b.out, "out", "", "`folder` for the results of the splits (default: they are not kept)")
	f.StringVar(&b.plan, "plan", "", "write the list of trials to this file and run nothing")
}

func (b *uciBench) check(f *pflag.FlagSet) error {
	if err := givenAtLeast(1, f, "splits", "jobs"); err != nil {
		return err
	}
	if b.data == "" {
		return usagef("--data is missing; name the folder of the sets")
	}
	return nil
}

func (b *uciBench) run(cmd *cobra.Command) error {
	plan, err := b.trials()
	if err != nil {
		return err
	}
	if b.plan != "" {
		return savePlan(cmd, b.plan, plan)
	}
	results, err := benchResults(cmd, plan, b.out, b.jobs)
	if err != nil {
		return err
	}
	scores, err := b.scores(plan, results)
	if err != nil {
		return err
	}
	if b.asJSON {
		return writeJSON(cmd.OutOrStdout(), scores)
	}
	return uci.WriteScores(cmd.OutOrStdout(), scores)
}

// trials are all splits of all sets, the largest sets first, so that no core is left
// with one of them in the end.
func (b *uciBench) trials() (*sweep.Plan, error) {
	sets, err := b.open()
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(sets, func(x, y *uci.Set) int { return cmp.Compare(y.Cost(), x.Cost()) })
	var trials []sweep.Trial
	for _, set := range sets {
		for k := range cmp.Or(b.splits, set.Splits) {
			spec := fitkind.Split{Data: b.data, Set: set.Name, Split: k, Protocol: b.protocol, Gaps: b.gaps, Network: tabular.Config{Seed: b.seed}}
			trials = append(trials, sweep.NewTrial("uci", fmt.Sprintf("%s-%d", fileName(b.group(set.Name)), k), b.group(set.Name), set.Cost(), spec))
		}
	}
	return sweep.NewPlan("uci", trials...)
}

// group is what scores of a set are listed by.
func (b *uciBench) group(set string) string {
	if b.gaps {
		return set + "-gaps"
	}
	return set
}

// open reads the sets, which must have the splits that are asked for.
func (b *uciBench) open() ([]*uci.Set, error) {
	names, err := uci.Names(b.data)
	if err != nil {
		return nil, err
	}
	if b.sets == nil {
		b.sets = names
	}
	var sets []*uci.Set
	var short []string
	for _, name := range b.sets {
		if !slices.Contains(names, name) {
			return nil, fmt.Errorf("%s has no set %q; it has %s", b.data, name, strings.Join(names, ", "))
		}
		set, err := uci.Open(b.data, name)
		if err == nil && b.gaps {
			err = set.CutGaps()
		}
		if err != nil {
			return nil, err
		}
		if set.Splits < b.splits {
			short = append(short, fmt.Sprintf("%s has %d", set.Name, set.Splits))
		}
		sets = append(sets, set)
	}
	if short != nil {
		return nil, usagef("--splits is %d, but %s; ask for fewer, or leave the flag out for all splits of every set", b.splits, strings.Join(short, ", "))
	}
	return sets, nil
}

// scores averages splits, set by set.
func (b *uciBench) scores(plan *sweep.Plan, results []*sweep.Result) ([]uci.Score, error) {
	all := []uci.Score{}
	for _, name := range b.sets {
		set := b.group(name)
		var splits []uci.Result
		seconds := 0.0
		for i, t := range plan.Trials {
			if t.Group != set {
				continue
			}
			var r uci.Result
			if err := results[i].Decode(&r); err != nil {
				return nil, err
			}
			splits = append(splits, r)
			seconds += results[i].Run.Seconds
		}
		all = append(all, uci.Average(set, splits, seconds))
	}
	return all, nil
}
