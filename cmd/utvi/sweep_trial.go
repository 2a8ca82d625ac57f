package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"syscall"

	"github.com/spf13/cobra"

	"utvi/engine"
	"utvi/internal/compute"
	"utvi/internal/sweep"
)

// exitInterrupted is sysexits' EX_TEMPFAIL: the same command will continue.
const exitInterrupted = 75

func sweepTrialCommand() *cobra.Command {
	var folder sweepFolder
	var device deviceFlag
	var index, offset, workers int
	cmd := &cobra.Command{
		Use:   "trial plan.json",
		Short: "Run one trial of a plan, as schedulers do",
		Long: `Run one trial of a plan. Its number is --index, else $SLURM_ARRAY_TASK_ID, else
$JOB_COMPLETION_INDEX; --offset is added. A trial that has a result is not repeated,
a started one continues. On SIGTERM or Ctrl-C it writes a checkpoint and exits with
status 75.`,
		Example: `  utvi sweep trial plan.json --index 3`,
		Args:    planArg,
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := sweep.LoadPlan(args[0])
			if err != nil {
				return err
			}
			i, err := trialIndex(cmd.Flags().Changed("index"), index)
			if err != nil {
				return err
			}
			i += offset
			if i < 0 || i >= len(p.Trials) {
				return usagef("%s has no trial %d; trials are numbered from 0 to %d", args[0], i, len(p.Trials)-1)
			}
			if workers < 0 {
				return usagef("--workers is %d; it must be at least 1", workers)
			}
			e, err := device.engine(cmd)
			if err != nil {
				return err
			}
			return runTrial(cmd, p.Trials[i], folder.of(args[0]), compute.Workers(workers), e)
		},
	}
	f := cmd.Flags()
	folder.flag(f)
	device.flag(f)
	f.IntVar(&index, "index", 0, "number of the trial, from 0")
	f.IntVar(&offset, "offset", 0, "added to the number, because schedulers limit the size of an array")
	f.IntVar(&workers, "workers", 0, "number of threads (default GOMAXPROCS); the results do not depend on it")
	return cmd
}

// trialIndex is the number from the flag, or from a scheduler.
func trialIndex(given bool, index int) (int, error) {
	if given {
		return index, nil
	}
	names := []string{"SLURM_ARRAY_TASK_ID", "JOB_COMPLETION_INDEX"}
	for _, name := range names {
		s := os.Getenv(name)
		if s == "" {
			continue
		}
		i, err := strconv.Atoi(s)
		if err != nil {
			return 0, usagef("$%s is %q, which is not a trial number", name, s)
		}
		return i, nil
	}
	return 0, usagef("no trial number; give --index, or set $%s or $%s", names[0], names[1])
}

func runTrial(cmd *cobra.Command, t sweep.Trial, dir string, workers int, e engine.Engine[float32]) error {
	// A scheduler may send SIGTERM twice, to the shell and to this process. The second
	// one must not kill the process while it writes the checkpoint or exits.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGTERM)

	bars := newProgress(cmd.ErrOrStderr(), &sweep.Plan{Trials: []sweep.Trial{t}})
	_, err := sweep.Runner{Kinds: kinds(), Dir: dir, Engine: e, Progress: bars.tell}.Trial(cmd.Context(), t, workers)
	bars.close()
	if errors.Is(err, context.Canceled) {
		return exitError{fmt.Errorf("trial %d, %s, was interrupted; the same command continues it", t.Index, t.Name), exitInterrupted}
	}
	return err
}
