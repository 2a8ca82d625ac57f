package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"utvi/internal/sweep"
)

func sweepRunCommand() *cobra.Command {
	var folder sweepFolder
	var jobs int
	var device deviceFlag
	cmd := &cobra.Command{
		Use:   "run plan.json",
		Short: "Run the trials of a plan on this machine",
		Long: `Run all trials of a plan, --jobs of them at the same time. After Ctrl-C or a kill, the
same command continues. If another process runs a trial, here or elsewhere, this command
leaves the trial to that process and waits for it at the end.`,
		Example: `  utvi sweep run plan.json --jobs 4`,
		Args:    planArg,
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("jobs") && jobs < 1 {
				return usagef("--jobs is %d; it must be at least 1", jobs)
			}
			p, err := loadPlan(args[0])
			if err != nil {
				return err
			}
			dir := folder.of(args[0])
			if err := makeFolder(dir); err != nil {
				return err
			}
			e, err := device.engine(cmd)
			if err != nil {
				return err
			}
			bars := newProgress(cmd.ErrOrStderr(), p)
			_, err = sweep.Runner{Kinds: kinds(), Dir: dir, Jobs: jobs, Engine: e, Progress: bars.tell}.Run(cmd.Context(), p)
			bars.close()
			if errors.Is(err, context.Canceled) {
				return exitError{errors.New("the sweep was interrupted; the same command continues it"), exitInterrupted}
			}
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "All %d trials are done; their results are in %s.\n", len(p.Trials), dir)
			return err
		},
	}
	folder.flag(cmd.Flags())
	device.flag(cmd.Flags())
	cmd.Flags().IntVar(&jobs, "jobs", 0, "number of trials at the same time (default the number of cores, or as many as suit the card)")
	return cmd
}
