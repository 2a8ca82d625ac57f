package main

import (
	"context"
	"errors"
	"os"

	"github.com/spf13/cobra"

	"utvi/internal/fitkind"
	"utvi/internal/sweep"
)

// benchResults runs the trials that have no result in the folder; "" keeps none.
func benchResults(cmd *cobra.Command, plan *sweep.Plan, dir string, jobs int) ([]*sweep.Result, error) {
	kept := dir != ""
	if !kept {
		var err error
		dir, err = os.MkdirTemp("", "utvi-bench-")
		if err != nil {
			return nil, err
		}
		defer os.RemoveAll(dir)
	} else if err := makeFolder(dir); err != nil {
		return nil, err
	}
	bars := newProgress(cmd.ErrOrStderr(), plan)
	results, err := sweep.Runner{Kinds: fitkind.All(), Dir: dir, Jobs: jobs, Progress: bars.tell}.Run(cmd.Context(), plan)
	bars.close()
	if errors.Is(err, context.Canceled) && kept {
		err = exitError{errors.New("the benchmark was interrupted; the same command continues it"), exitInterrupted}
	}
	return results, err
}
