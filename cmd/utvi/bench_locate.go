package main

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"utvi/internal/locate/learn"
	"utvi/internal/locate/net"
)

const benchLocateHelp = `Localise in simulated frames whose truth is known, three ways in one run: each molecule
alone with its Cramér–Rao bound, as most programs do; all together with the joint bound;
and what the network makes of that. "/bound" is the RMSE by the median bound of a molecule
alone, "half" the RMSE of the half with the smallest error bars, "spread" the robust
standard deviation of errors by error bars (1 is right), "holds" how many 90 % intervals hold
the truth, "flagged" what is marked as unlike the training. Lengths are in nm.`

func benchLocateCommand() *cobra.Command {
	var molecules int
	var seed uint64
	var nets, only []string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "locate",
		Short: "Score localisation and its error bars on simulated frames",
		Long:  benchLocateHelp,
		Example: `  utvi bench locate
  utvi bench locate --molecules 4000 --seed 7 --only isolated,1.3
  utvi bench locate --net plain.utvi               another network beside`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if molecules < 50 || molecules > 1_000_000 {
				return usagef("--molecules is %d; it must be 50 to 1000000", molecules)
			}
			ours, err := net.Default()
			if err != nil {
				return err
			}
			known := map[string]*net.Net{learn.Ours: ours}
			order := []string{learn.Ours}
			for _, path := range nets {
				n, err := net.Open(path)
				if err != nil {
					return err
				}
				known[path] = n
				order = append(order, path)
			}
			return benchLocate(cmd, learn.Cases(seed, molecules), only, known, order, asJSON)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.IntVar(&molecules, "molecules", 2000, "molecules of each scene")
	f.Uint64Var(&seed, "seed", 2026, "seed of the scenes")
	f.StringSliceVar(&only, "only", nil, "scenes whose names contain one of these")
	f.StringSliceVar(&nets, "net", nil, "more networks that locate train has made")
	f.BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func benchLocate(cmd *cobra.Command, cases []learn.Case, only []string, known map[string]*net.Net, order []string, asJSON bool) error {
	progress, done := lineProgress(cmd.ErrOrStderr())
	var all []learn.Result
	for i, c := range cases {
		if len(only) > 0 && !slices.ContainsFunc(only, func(s string) bool { return strings.Contains(c.Name, s) }) {
			continue
		}
		if progress != nil {
			progress(i, len(cases), c.Name)
		}
		r, err := learn.Judge(cmd.Context(), c, known, order)
		if err != nil {
			done()
			return err
		}
		all = append(all, r...)
	}
	done()
	if asJSON {
		return writeJSON(cmd.OutOrStdout(), all)
	}
	const pixel = 100
	w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "scene\tway\tJaccard\tRMSE\t/bound\thalf\tspread\tholds\tmedian σ\tbias\tflagged\tdoubt\tµs each")
	last := ""
	for _, r := range all {
		name := r.Case
		if name == last {
			name = ""
		}
		last = r.Case
		fmt.Fprintf(w, "%s\t%s\t%.3f\t%.2f\t%.3f\t%.2f\t%.3f\t%.1f %%\t%.2f\t%.2f\t%.1f %%\t%.2f\t%.1f\n", name, r.Way, r.Jaccard, pixel*r.RMSE, r.PerBound, pixel*r.HalfRMSE,
			r.Spread, 100*r.Holds, pixel*r.Median, pixel*r.Bias, 100*r.Flagged, pixel*r.Doubt, 1e6*r.Each)
	}
	return w.Flush()
}
