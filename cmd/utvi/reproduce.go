package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"utvi/internal/atomicfile"
	"utvi/internal/experiment"
	"utvi/sweep"
)

// A reproduction is what the flags of reproduce ask for.
type reproduction struct {
	out, plan string
	jobs      int
	size      experiment.Size
	chosen    []experiment.Experiment
	sub       string // folder of the report under out

	stdout, stderr io.Writer
}

func reproduceCommand() *cobra.Command {
	r := &reproduction{}
	var names, extra []string
	for _, e := range experiment.All() {
		names = append(names, e.Name)
		if e.Extra {
			extra = append(extra, e.Name)
		}
	}
	cmd := &cobra.Command{
		Use:   "reproduce [experiment]",
		Short: "Redo the paper's experiments and say which of its claims hold",
		Long: `Redo the paper's experiments, or the one named: train, measure, and write a
page with every claim and figure (report.html), every number (results.json), the
figures and the trained networks under --out. Stopped with Ctrl-C, or killed, the
same command continues where it stood and gives the same bits.

Experiments: ` + strings.Join(names, ", ") + `. Only by name, being beyond the
paper: ` + strings.Join(extra, ", ") + `. --preset quick takes minutes, paper hours.`,
		Example: `  utvi reproduce
  utvi reproduce --preset paper --out results
  utvi reproduce fc --replicates 5 --steps 8000 --seed 7
  utvi reproduce --preset paper --plan plan.json      write the trials down instead`,
		ValidArgs: names,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usagef("reproduce takes one experiment, not %d; without a name it runs all", len(args))
			}
			r.choose(args)
			if len(r.chosen) == 0 {
				return usagef("there is no experiment %q; there are %s", args[0], strings.Join(names, ", "))
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&r.out, "out", "out", "folder for the report and the trials")
	f.StringVar(&r.size.Preset, "preset", "quick", "size of the run: quick or paper (or tiny, which only tries the machinery)")
	f.Uint64Var(&r.size.Seed, "seed", 1, "seed of weights, data and samples")
	f.IntVar(&r.size.Replicates, "replicates", 0, "trainings of each method (default the preset's)")
	f.IntVar(&r.size.Steps, "steps", 0, "steps of a training (default the preset's)")
	f.IntVar(&r.jobs, "jobs", 0, "trials at a time (default the number of cores)")
	f.StringVar(&r.plan, "plan", "", "write the plan of the trials to this file and run nothing")

	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		r.stdout, r.stderr = cmd.OutOrStdout(), cmd.ErrOrStderr()
		for _, name := range []string{"replicates", "steps", "jobs"} {
			if v, _ := f.GetInt(name); f.Changed(name) && v < 1 {
				return usagef("--%s is %d; it must be at least 1", name, v)
			}
		}
		if err := r.size.Check(); err != nil {
			return misuse(err)
		}
		if r.out == "" {
			return usagef("--out names no folder; . is the present one")
		}
		return r.run(cmd.Context())
	}
	return cmd
}

// choose takes the experiments of the paper, or the one named, which has a folder
// of its own, so that the report of all stays.
func (r *reproduction) choose(args []string) {
	r.chosen, r.sub = nil, ""
	for _, e := range experiment.All() {
		switch {
		case len(args) == 0 && !e.Extra:
			r.chosen = append(r.chosen, e)
		case len(args) == 1 && args[0] == e.Name:
			r.chosen, r.sub = []experiment.Experiment{e}, e.Name
		}
	}
}

func (r *reproduction) run(ctx context.Context) error {
	var trials []sweep.Trial
	for _, e := range r.chosen {
		trials = append(trials, e.Plan(r.size)...)
	}
	plan, err := sweep.NewPlan("reproduce "+r.size.Preset, trials...)
	if err != nil {
		return err
	}
	if r.plan != "" {
		if err := plan.Save(r.plan); err != nil {
			return err
		}
		_, err := fmt.Fprintf(r.stdout, "Wrote %d trials to %s.\n", len(plan.Trials), r.plan)
		return err
	}
	dir := filepath.Join(r.out, r.sub)
	trialsDir := filepath.Join(r.out, "trials")
	for _, d := range []string{dir, trialsDir} {
		if err := makeFolder(d); err != nil {
			return err
		}
	}
	start := time.Now()
	bars := newProgress(r.stderr, plan)
	found, err := sweep.Runner{Kinds: experiment.Kinds(), Dir: trialsDir, Jobs: r.jobs, Progress: bars.tell}.Run(ctx, plan)
	bars.close()
	if errors.Is(err, context.Canceled) {
		return errors.New("reproduce was interrupted; the same command continues it")
	}
	if err != nil {
		return err
	}
	s, err := experiment.NewStudy(r.size, r.chosen, plan, found)
	if err != nil {
		return err
	}
	s.WallSeconds = time.Since(start).Seconds()
	files, err := s.Save(dir)
	if err != nil {
		return fmt.Errorf("%w; the trials are kept, and the same command writes the report", err)
	}
	if err := s.WriteText(r.stdout); err != nil {
		return err
	}
	_, err = fmt.Fprintf(r.stdout, "\nWrote %s; the trained networks are in %s.\n", strings.Join(files, ", "), trialsDir)
	return err
}

// makeFolder makes dir, and tells before hours of work that nothing can be written
// there.
func makeFolder(dir string) error {
	if err := atomicfile.Writable(dir); err != nil {
		return err
	}
	return os.MkdirAll(dir, 0o777)
}
