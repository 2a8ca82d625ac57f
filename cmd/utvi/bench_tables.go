package main

import (
	"cmp"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"utvi/internal/fitkind"
	"utvi/internal/sweep"
	"utvi/internal/tablebench"
)

const benchTablesHelp = `Fit several splits of every known table in some folders with the default of fit, score the
other fifth of the rows, and print the scores. With --python, which names a Python that has
scikit-learn, peers learn from the same rows and are scored on the same others: linear models,
a Gaussian process, trees and boosting, also of LightGBM, CatBoost and NGBoost where that Python
has them, untuned as the default is.

The log-likelihoods are means over splits, in nats per row, of classes the negative log-loss.
Of whole numbers that the default counts, the peers' probabilities are compared. With --out
the results of the splits are kept, and the same command continues after a stop. --export
writes the tables that scikit-learn and statsmodels bring to the first folder, and ends.`

const benchTablesExamples = `  utvi bench tables --data tables --splits 3
  utvi bench tables --data tables,sets --python venv/bin/python --out results
  utvi bench tables --data sets --python venv/bin/python --export`

// A tablesBench is what the flags of bench tables ask for.
type tablesBench struct {
	data   []string // folders of the tables
	tables []string
	splits int
	python string
	export bool
	out    string // folder of the results; "": they are not kept
	plan   string
	jobs   int
	asJSON bool
}

func benchTablesCommand() *cobra.Command {
	b := &tablesBench{}
	cmd := &cobra.Command{
		Use:     "tables --data FOLDERS",
		Short:   "Score the default fit on real tables, beside other programs",
		Long:    benchTablesHelp,
		Example: benchTablesExamples,
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := b.check(cmd.Flags()); err != nil {
				return err
			}
			if b.export {
				return tablebench.Export(cmd.Context(), b.python, b.data[0])
			}
			return b.run(cmd)
		},
	}
	b.flags(cmd.Flags())
	return cmd
}

func (b *tablesBench) flags(f *pflag.FlagSet) {
	f.SortFlags = false
	f.StringSliceVar(&b.data, "data", nil, "`folders` of the tables")
	f.StringSliceVar(&b.tables, "tables", nil, "tables to run (default all that are there)")
	f.IntVar(&b.splits, "splits", 5, "number of splits of each table")
	f.StringVar(&b.python, "python", "", "`program` that runs the peers (default: no peers)")
	f.BoolVar(&b.export, "export", false, "write the tables of scikit-learn and statsmodels, and end")
	f.BoolVar(&b.asJSON, "json", false, "print JSON")
	f.IntVar(&b.jobs, "jobs", 0, "number of splits at the same time (default the number of cores)")
	f.StringVar(&b.out, "out", "", "`folder` for the results of the splits (default: they are not kept)")
	f.StringVar(&b.plan, "plan", "", "write the list of trials to this file and run nothing")
}

func (b *tablesBench) check(f *pflag.FlagSet) error {
	if err := givenAtLeast(1, f, "splits", "jobs"); err != nil {
		return err
	}
	if len(b.data) == 0 {
		return usagef("--data is missing; name the folders of the tables")
	}
	if b.export && b.python == "" {
		return usagef("--export needs --python; name a Python that has scikit-learn and statsmodels")
	}
	return nil
}

func (b *tablesBench) run(cmd *cobra.Command) error {
	tables, err := tablebench.Find(b.data, b.tables)
	if err != nil {
		return err
	}
	plan, err := b.trials(tables)
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
	scores, err := tableScores(tables, plan, results)
	if err != nil {
		return err
	}
	if b.asJSON {
		return writeJSON(cmd.OutOrStdout(), scores)
	}
	return tablebench.WriteScores(cmd.OutOrStdout(), scores)
}

// trials are all splits of all tables, ours and the peers'.
func (b *tablesBench) trials(tables []tablebench.Table) (*sweep.Plan, error) {
	var trials []sweep.Trial
	for _, t := range tables {
		path, err := filepath.Abs(t.File)
		if err != nil {
			return nil, err
		}
		t.File = path
		for k := range b.splits {
			trials = append(trials, sweep.NewTrial("table", fmt.Sprintf("%s-%d", t.Name, k), t.Name, 1, fitkind.TableSplit{Table: t, Split: k}))
			if b.python != "" {
				trials = append(trials, sweep.NewTrial("table", fmt.Sprintf("%s-%d-peers", t.Name, k), t.Name, 1, fitkind.TableSplit{Table: t, Split: k, Python: b.python}))
			}
		}
	}
	return sweep.NewPlan("tables", trials...)
}

// tableScores averages splits, table by table.
func tableScores(tables []tablebench.Table, plan *sweep.Plan, results []*sweep.Result) ([]tablebench.Score, error) {
	all := []tablebench.Score{}
	for _, t := range tables {
		var ours, peers []tablebench.Result
		for i, trial := range plan.Trials {
			if trial.Group != t.Name {
				continue
			}
			var r tablebench.Result
			if err := results[i].Decode(&r); err != nil {
				return nil, err
			}
			if cmp.Or(r.Chosen, "") == "" {
				peers = append(peers, r)
			} else {
				ours = append(ours, r)
			}
		}
		all = append(all, tablebench.Average(t, ours, peers))
	}
	return all, nil
}
