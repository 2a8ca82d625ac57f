package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"utvi/internal/experiment"
	"utvi/internal/sweep"
)

func sweepPlanCommand() *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "plan SPEC.yaml",
		Short: "Make a plan of the trials that a spec describes",
		Long: `A spec names a kind of trial, its settings, and what varies:

  kind: fc                          # or: experiment: fc, preset: paper
  base: {steps: 800, seed: 1}       # settings of all trials
  grid:                             # every combination
    rule: [ut(2), mc(3), exact]
  list:                             # each combined with the whole grid
    - {draws: 0}
    - {draws: 2}
  replicates: 10                    # replicate: 0 to 9
  seeds: 3                          # seed: 1 to 3; or a list

Trials that differ only in seed and replicate form a group. Kinds: ` + kindNames() + `.
Paths are relative to the spec.`,
		Example: `  utvi sweep plan study.yaml -o plan.json`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usagef("%s takes one spec, not %d arguments", cmd.CommandPath(), len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := planOf(args[0])
			if err != nil {
				return err
			}
			if err := writeOut(cmd, out, p.Write); err != nil || out == "" || out == "-" {
				return err
			}
			groups := map[string]bool{}
			for _, t := range p.Trials {
				groups[t.Group] = true
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "Wrote %s in %s to %s.\n", plural(len(p.Trials), "trial", "trials"), plural(len(groups), "group", "groups"), out)
			return err
		},
	}
	cmd.Flags().StringVarP(&out, "output", "o", "", "file to write (default the standard output)")
	return cmd
}

func kindNames() string {
	var names []string
	for _, k := range kinds() {
		names = append(names, k.Name)
	}
	return strings.Join(names, ", ")
}

// planOf expands a spec into a plan that this program can run.
func planOf(path string) (*sweep.Plan, error) {
	s, err := sweep.LoadSpec(path)
	if err != nil {
		return nil, err
	}
	trials, err := specTrials(s)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	p, err := sweep.NewPlan(s.Name, trials...)
	if err == nil {
		err = sweep.Runner{Kinds: kinds()}.Check(p)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return p, nil
}

func specTrials(s *sweep.Spec) ([]sweep.Trial, error) {
	if s.Experiment == "" {
		return s.Trials(kinds())
	}
	all := experiment.All()
	i := slices.IndexFunc(all, func(e experiment.Experiment) bool { return e.Name == s.Experiment })
	if i < 0 {
		var names []string
		for _, e := range all {
			names = append(names, e.Name)
		}
		return nil, fmt.Errorf("unknown experiment %q; choose from %s", s.Experiment, strings.Join(names, ", "))
	}
	size := experiment.Size{Preset: s.Preset, Seed: s.Seed, Replicates: s.Replicates, Steps: s.Steps}
	if err := size.Check(); err != nil {
		return nil, err
	}
	return all[i].Plan(size), nil
}
