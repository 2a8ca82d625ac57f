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

	"utvi/engine"
	"utvi/internal/atomicfile"
	"utvi/internal/experiment"
	"utvi/internal/live"
	"utvi/sweep"
)

// A reproduction is what the flags of reproduce ask for.
type reproduction struct {
	out, plan string
	jobs      int
	size      experiment.Size
	chosen    []experiment.Experiment
	sub       string // folder of the report under out
	device    deviceFlag
	engine    engine.Engine[float32]
	live      liveFlag

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
		Short: "Run the paper's experiments and judge its claims",
		Long: `Run all experiments of the paper, or one of them: train, measure, and write a page
with every claim and figure (report.html), every number (results.json), a summary
(summary.md), the figures and the trained networks under --out. After Ctrl-C, or a
crash, the same command continues and gives the same bits.

A claim holds, does not hold, or is undecided. It is undecided if the run is too small,
or if the chance error of its numbers is too large. --preset quick takes minutes and decides some of the claims;
--preset paper takes hours.

Experiments: ` + strings.Join(names, ", ") + `.
These are not in the paper and run only by name: ` + strings.Join(extra, ", ") + `.`,
		Example: `  utvi reproduce
  utvi reproduce --preset paper --out results
  utvi reproduce fc --replicates 5 --steps 8000 --seed 7
  utvi reproduce --preset paper --plan plan.json      only write the list of trials`,
		ValidArgs: names,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usagef("reproduce takes one experiment, not %d; without a name it runs all experiments", len(args))
			}
			r.choose(args)
			if len(r.chosen) == 0 {
				return usagef("unknown experiment %q; choose from %s", args[0], strings.Join(names, ", "))
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&r.out, "out", "out", "folder for the report and the trials")
	f.StringVar(&r.size.Preset, "preset", "quick", "size of the run: quick or paper (tiny only tests the program)")
	f.Uint64Var(&r.size.Seed, "seed", 1, "seed of weights, data and samples")
	f.IntVar(&r.size.Replicates, "replicates", 0, "number of trainings of each method (default by the preset)")
	f.IntVar(&r.size.Steps, "steps", 0, "number of training steps (default by the preset)")
	f.IntVar(&r.jobs, "jobs", 0, "number of trials at the same time (default the number of cores, or as many as suit the card)")
	r.device.flag(f)
	r.live.flag(f)
	f.StringVar(&r.plan, "plan", "", "write the list of trials to this file and run nothing")

	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		r.stdout, r.stderr = cmd.OutOrStdout(), cmd.ErrOrStderr()
		if err := r.live.check(); err != nil {
			return err
		}
		for _, name := range []string{"replicates", "steps", "jobs"} {
			if v, _ := f.GetInt(name); f.Changed(name) && v < 1 {
				return usagef("--%s is %d; it must be at least 1", name, v)
			}
		}
		if err := r.size.Check(); err != nil {
			return misuse(err)
		}
		if r.out == "" {
			return usagef("--out is empty; use . for the current folder")
		}
		var err error
		r.engine, err = r.device.engine(cmd)
		if err != nil {
			return err
		}
		return r.run(cmd.Context())
	}
	return cmd
}

// choose takes the experiments of the paper, or the named one. The report of a single
// experiment goes to a folder with its name, and so does not replace the report of
// all.
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

func (r *reproduction) run(ctx context.Context) (err error) {
	var trials []sweep.Trial
	for _, e := range r.chosen {
		trials = append(trials, e.Plan(r.size)...)
	}
	plan, err := sweep.NewPlan("reproduce "+r.size.Preset, trials...)
	if err != nil {
		return err
	}
	if r.plan != "" {
		if err := saveTo(r.plan, plan.Save); err != nil {
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
	ctx, page, err := r.live.open(ctx, r.stderr, live.Text{
		Title: "Reproducing the paper", Subtitle: plural(len(plan.Trials), "trial", "trials") + ", preset " + r.size.Preset + ".",
		Score: "Score: by experiment", Stop: "Stop; the same command continues"})
	if err != nil {
		return err
	}
	defer func() { closeLive(page, "All trials are done; the report is in "+dir+".", err) }()
	bars := newProgress(r.stderr, plan)
	if page != nil {
		bars.page = &trialPage{page}
	}
	found, err := sweep.Runner{Kinds: experiment.Kinds(), Dir: trialsDir, Jobs: r.jobs, Engine: r.engine, Progress: bars.tell}.Run(ctx, plan)
	bars.close()
	if errors.Is(err, context.Canceled) {
		return exitError{errors.New("interrupted; the same command continues"), exitInterrupted}
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
		return fmt.Errorf("%w; the trials are kept, and the same command writes the report again", err)
	}
	if err := s.WriteText(r.stdout); err != nil {
		return err
	}
	_, err = fmt.Fprintf(r.stdout, "\nWrote %s; the trained networks are in %s.\n", strings.Join(files, ", "), trialsDir)
	return err
}

// makeFolder makes dir. It reports a folder that cannot be written to before hours of
// work, not after them.
func makeFolder(dir string) error {
	if err := atomicfile.Writable(dir); err != nil {
		return err
	}
	return os.MkdirAll(dir, 0o777)
}
