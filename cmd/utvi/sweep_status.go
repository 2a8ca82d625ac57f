package main

import (
	"fmt"
	"io"
	"os"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"utvi/internal/sweep"
)

func sweepStatusCommand() *cobra.Command {
	var folder sweepFolder
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "status plan.json",
		Short: "Show which trials of a plan are done, running, failed or missing",
		Long: `Show which trials of a plan are done, running, failed or missing, as numbers that
submit --indices takes. A trial is running if a process holds its lock. On a file
system whose locks other machines do not see, running trials count as missing. A
damaged result is named and counts as missing.`,
		Example: `  utvi sweep status plan.json`,
		Args:    planArg,
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := look(args[0], folder.of(args[0]))
			if err != nil {
				return err
			}
			if asJSON {
				return writeJSON(cmd.OutOrStdout(), statusJSON(s))
			}
			printStatus(cmd.OutOrStdout(), s)
			return nil
		},
	}
	folder.flag(cmd.Flags())
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// look summarises the results of a plan. Its kinds need not be known here.
func look(plan, dir string) (*sweep.Summary, error) {
	p, err := sweep.LoadPlan(plan)
	if err != nil {
		return nil, err
	}
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return nil, fmt.Errorf("%s is not a folder; give the folder of the results", dir)
	}
	return sweep.Summarize(p, sweep.Status(dir, p)), nil
}

func printStatus(w io.Writer, s *sweep.Summary) {
	fmt.Fprintf(w, "%s\n\n", s.State())
	t := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	begun := 0
	for _, x := range s.All {
		if x.Begun && x.State == sweep.Missing {
			begun++
		}
	}
	for _, x := range []struct {
		state sweep.State
		which string
		note  string
	}{
		{sweep.Done, sweep.Ranges(sweep.Indices(s.All, sweep.Done)), ""},
		{sweep.Running, s.Running, ""},
		{sweep.Failed, s.Failed, ""},
		{sweep.Missing, s.Missing, fmt.Sprintf("%d of them started", begun)},
	} {
		n := len(sweep.Indices(s.All, x.state))
		if n == 0 || x.state == sweep.Missing && begun == 0 {
			x.note = ""
		}
		fmt.Fprintf(t, "%s\t%d\t%s\t%s\n", x.state, n, x.which, x.note)
	}
	t.Flush()
	again := sweep.Indices(s.All, sweep.Failed, sweep.Missing)
	gap := "\n" // between the table and what follows
	for _, x := range s.All {
		if x.Why != "" {
			fmt.Fprintf(w, "%strial %d, %s, is %s: %s\n", gap, x.Trial.Index, x.Trial.Name, x.State, tame(x.Why))
			gap = ""
		}
	}
	if len(again) > 0 {
		fmt.Fprintf(w, "%sto submit again: --indices %s\n", gap, sweep.Ranges(again))
	}
}

// statusJSON is the status without averages, a trial an entry.
func statusJSON(s *sweep.Summary) any {
	type entry struct {
		Index int         `json:"index"`
		Trial string      `json:"trial"`
		Group string      `json:"group,omitempty"`
		State sweep.State `json:"state"`
		Begun bool        `json:"begun,omitempty"`
		Why   string      `json:"why,omitempty"`
	}
	var all []entry
	for _, x := range s.All {
		all = append(all, entry{x.Trial.Index, x.Trial.Name, x.Trial.Group, x.State, x.Begun, x.Why})
	}
	return map[string]any{
		"plan": s.Plan, "trials": all, "done": s.Done, "partial": s.Partial(),
		"again": sweep.Ranges(sweep.Indices(s.All, sweep.Failed, sweep.Missing)),
	}
}
