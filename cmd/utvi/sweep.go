package main

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"utvi/internal/sweep"
)

func sweepCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "sweep",
		Short: "Run hundreds of trainings: on this machine, by Slurm or by Kubernetes",
		Long: `A sweep is a plan of numbered, independent trials. All can run in one process, or
each in its own process on any machine: they share only the folder of results. A
finished trial is not repeated, a started one continues from its checkpoint, and the
results have the same bits on machines with the same family of kernels
(utvi version names it); between families they agree to rounding.`,
		Example: `  utvi sweep plan study.yaml -o plan.json
  utvi sweep run plan.json --jobs 4                    on this machine
  utvi sweep submit plan.json --engine slurm --time 1:00:00
  utvi sweep submit plan.json --engine kubernetes --image utvi:1 --claim results
  utvi sweep status plan.json
  utvi sweep collect plan.json                         mean ± se of every configuration`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return unknownCommand(cmd, args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(sweepPlanCommand(), sweepRunCommand(), sweepTrialCommand(), sweepSubmitCommand(), sweepStatusCommand(), sweepCollectCommand())
	return cmd
}

// A sweepFolder is where the results of a plan are.
type sweepFolder struct{ out string }

func (s *sweepFolder) flag(f *pflag.FlagSet) {
	f.SortFlags = false
	f.StringVar(&s.out, "out", "", "`folder` of the results (default the plan's name with .trials)")
}

// of is the folder for the plan in a file.
func (s *sweepFolder) of(plan string) string {
	if s.out != "" {
		return s.out
	}
	return strings.TrimSuffix(plan, ".json") + ".trials"
}

// planArg takes exactly one argument: a plan's file.
func planArg(cmd *cobra.Command, args []string) error {
	if len(args) != 1 {
		return usagef("%s takes one plan, not %d arguments", cmd.CommandPath(), len(args))
	}
	return nil
}

// loadPlan reads a plan whose trials this program can run.
func loadPlan(path string) (*sweep.Plan, error) {
	p, err := sweep.LoadPlan(path)
	if err != nil {
		return nil, err
	}
	return p, sweep.Runner{Kinds: kinds()}.Check(p)
}
