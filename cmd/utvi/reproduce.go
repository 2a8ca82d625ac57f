package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"utvi/internal/atomicfile"
	"utvi/internal/experiment"
	"utvi/internal/live"
	"utvi/internal/sweep"
)

// A reproduction is what the flags of reproduce ask for.
type reproduction struct {
	out    string
	plan   string // file for the list of trials; "": run them
	jobs   int
	size   experiment.Size
	chosen []experiment.Experiment
	sub    string // folder of the report under out
	device deviceFlag
	live   liveFlag
}

const reproduceHelp = `Run all experiments of the paper, or one of them: train, measure, and write a page
with every claim and figure (report.html), every number (results.json), a summary
(summary.md), the figures and the trained networks under --out. After Ctrl-C, or a
crash, the same command continues and gives the same bits.

A claim holds, does not hold, or is undecided. It is undecided if the run is too small,
or if the chance error of its numbers is too large. --preset quick takes minutes and decides some of the claims;
--preset paper takes hours.

Experiments: %s.
These are not in the paper and run only by name: %s.`

const reproduceExamples = `  utvi reproduce
  utvi reproduce --preset paper --out results
  utvi reproduce fc --replicates 5 --steps 8000 --seed 7
  utvi reproduce --preset paper --plan plan.json      only write the list of trials`

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
		Use:       "reproduce [experiment]",
		Short:     "Run the paper's experiments and judge its claims",
		Long:      fmt.Sprintf(reproduceHelp, strings.Join(names, ", "), strings.Join(extra, ", ")),
		Example:   reproduceExamples,
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
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := r.check(cmd.Flags()); err != nil {
				return err
			}
			return r.run(cmd)
		},
	}
	r.flags(cmd.Flags())
	return cmd
}

func (r *reproduction) flags(f *pflag.FlagSet) {
	f.SortFlags = false
	f.StringVar(&r.out, "out", "out", "`folder` for the report and the trials")
	f.StringVar(&r.size.Preset, "preset", "quick", "size of the run: <quick> or <paper> (<tiny> only tests the program)")
	f.Uint64Var(&r.size.Seed, "seed", 1, "seed of weights, data and samples")
	f.IntVar(&r.size.Replicates, "replicates", 0, "number of trainings of each method (default by the preset)")
	f.IntVar(&r.size.Steps, "steps", 0, "number of training steps (default by the preset)")
	f.IntVar(&r.jobs, "jobs", 0, "number of trials at the same time (default the number of cores, or as many as suit the card)")
	r.device.flag(f)
	r.live.flag(f)
	f.StringVar(&r.plan, "plan", "", "write the list of trials to this file and run nothing")
}

func (r *reproduction) check(f *pflag.FlagSet) error {
	if err := r.live.check(); err != nil {
		return err
	}
	if err := givenAtLeast(1, f, "replicates", "steps", "jobs"); err != nil {
		return err
	}
	if err := r.size.Check(); err != nil {
		return misuse(err)
	}
	if r.out == "" {
		return usagef("--out is empty; use . for the current folder")
	}
	return nil
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

func (r *reproduction) run(cmd *cobra.Command) error {
	e, err := r.device.engine(cmd)
	if err != nil {
		return err
	}
	var trials []sweep.Trial
	for _, e := range r.chosen {
		trials = append(trials, e.Plan(r.size)...)
	}
	plan, err := sweep.NewPlan("reproduce "+r.size.Preset, trials...)
	if err != nil {
		return err
	}
	if r.plan != "" {
		return savePlan(cmd, r.plan, plan)
	}
	dir := filepath.Join(r.out, r.sub)
	runner := sweep.Runner{Kinds: experiment.Kinds(), Dir: filepath.Join(r.out, "trials"), Jobs: r.jobs, Engine: e}
	for _, d := range []string{dir, runner.Dir} {
		if err := makeFolder(d); err != nil {
			return err
		}
	}
	ctx, page, err := r.live.open(cmd.Context(), cmd.ErrOrStderr(), live.Text{
		Title: "Reproducing the paper", Subtitle: plural(len(plan.Trials), "trial", "trials") + ", preset " + r.size.Preset + ".",
		Score: "Score: by experiment", Stop: "Stop; the same command continues"})
	if err != nil {
		return err
	}
	err = r.study(ctx, cmd, page, runner, plan, dir)
	closeLive(page, "All trials are done; the report is in "+dir+".", err)
	return err
}

// study runs the trials, and writes the report to a folder.
func (r *reproduction) study(ctx context.Context, cmd *cobra.Command, page *live.Page, runner sweep.Runner, plan *sweep.Plan, dir string) error {
	start := time.Now()
	bars := newProgress(cmd.ErrOrStderr(), plan)
	if page != nil {
		bars.page = &trialPage{page}
	}
	runner.Progress = bars.tell
	found, err := runner.Run(ctx, plan)
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
	if err := s.WriteText(cmd.OutOrStdout()); err != nil {
		return err
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "\nWrote %s; the trained networks are in %s.\n", strings.Join(files, ", "), runner.Dir)
	return err
}

// savePlan writes a list of trials to a file.
func savePlan(cmd *cobra.Command, file string, plan *sweep.Plan) error {
	if err := saveTo(file, plan.Save); err != nil {
		return err
	}
	_, err := fmt.Fprintf(cmd.OutOrStdout(), "Wrote %d trials to %s.\n", len(plan.Trials), file)
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
