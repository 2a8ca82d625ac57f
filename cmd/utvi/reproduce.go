package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"utvi/experiment"
	"utvi/internal/atomicfile"
	"utvi/report"
)

// A reproduction is what the flags of reproduce ask for.
type reproduction struct {
	out               string
	preset            string
	seed              uint64
	replicates, steps int

	flags          *pflag.FlagSet
	stdout, stderr io.Writer
}

// experiments are what reproduce knows, in the order it runs them; extra ones,
// which are not the paper's, only by name.
var experiments = []struct {
	name  string
	extra bool
	run   func(r *reproduction, ctx context.Context) error
}{{name: "fc", run: (*reproduction).fc}, {name: "digits", extra: true, run: (*reproduction).digits}}

func reproduceCommand() *cobra.Command {
	r := &reproduction{}
	var names []string
	for _, e := range experiments {
		names = append(names, e.name)
	}
	cmd := &cobra.Command{
		Use:   "reproduce [experiment]",
		Short: "Run the paper's experiments: train, print a table, draw a figure",
		Long: `Run the paper's experiments, or the one named: train, print a table, and write
figures and every number under --out. Stopped with Ctrl-C, the same command
continues where it stood and gives the same bits.

Experiments: fc (§4.2, regression with a fully connected network).
Beyond the paper, by name only: digits (a convolutional classifier beside its
deterministic twin, and what each makes of unfamiliar images).`,
		Example: `  utvi reproduce fc
  utvi reproduce fc --preset paper --out results
  utvi reproduce fc --replicates 5 --steps 8000 --seed 7
  utvi reproduce digits`,
		ValidArgs: names,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usagef("reproduce takes one experiment, not %d; without a name it runs all", len(args))
			}
			for _, e := range experiments {
				if len(args) == 0 || args[0] == e.name {
					return nil
				}
			}
			return usagef("there is no experiment %q; there are %s", args[0], strings.Join(names, ", "))
		},
	}
	r.flags = cmd.Flags()
	r.flags.SortFlags = false
	r.flags.StringVar(&r.out, "out", "out", "folder for results and checkpoints")
	r.flags.StringVar(&r.preset, "preset", "quick", "size of the run: quick or paper")
	r.flags.Uint64Var(&r.seed, "seed", 1, "seed of weights, data and samples")
	r.flags.IntVar(&r.replicates, "replicates", 0, "trainings of each method (default the preset's)")
	r.flags.IntVar(&r.steps, "steps", 0, "steps of a training (default the preset's)")

	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		r.stdout, r.stderr = cmd.OutOrStdout(), cmd.ErrOrStderr()
		if r.preset != "quick" && r.preset != "paper" {
			return usagef("there is no preset %q; there are quick, paper", r.preset)
		}
		if r.out == "" {
			return usagef("--out names no folder; . is the present one")
		}
		for _, e := range experiments {
			if len(args) == 1 && args[0] != e.name || len(args) == 0 && e.extra {
				continue
			}
			err := e.run(r, cmd.Context())
			if errors.Is(err, context.Canceled) {
				return fmt.Errorf("%s was interrupted; the same command continues it", e.name)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	return cmd
}

func (r *reproduction) fc(ctx context.Context) error {
	spec := experiment.FCQuick()
	if r.preset == "paper" {
		spec = experiment.FCPaper()
	}
	spec.Seed = r.seed
	r.size(&spec.Replicates, &spec.Steps)
	return r.run("fc", spec.Check(), func(trials string, tell experiment.Progress) (result, report.Figure, error) {
		spec.Dir = trials
		res, err := experiment.FC(ctx, spec, tell)
		if err != nil {
			return nil, nil, err
		}
		return res, res.Figure(), nil
	})
}

func (r *reproduction) digits(ctx context.Context) error {
	spec := experiment.DigitsQuick()
	if r.preset == "paper" {
		spec = experiment.DigitsFull()
	}
	spec.Seed = r.seed
	r.size(&spec.Replicates, &spec.Steps)
	return r.run("digits", spec.Check(), func(trials string, tell experiment.Progress) (result, report.Figure, error) {
		spec.Dir = trials
		res, err := experiment.Digits(ctx, spec, tell)
		return res, nil, err
	})
}

// A result is every number of an experiment, with its table.
type result interface {
	WriteTable(w io.Writer) error
}

// run runs an experiment in its folder, with progress, and writes what it found:
// all numbers, the figure if it has one, the table.
func (r *reproduction) run(name string, misused error, f func(trials string, tell experiment.Progress) (result, report.Figure, error)) error {
	if misused != nil {
		return misuse(misused)
	}
	dir := filepath.Join(r.out, name)
	if err := makeFolder(dir); err != nil {
		return err
	}
	trials := filepath.Join(dir, "trials")
	bars := newProgress(r.stderr)
	found, figure, err := f(trials, bars.tell)
	bars.close()
	if err != nil {
		return err
	}
	files := []string{filepath.Join(dir, "results.json")}
	err = atomicfile.Write(files[0], func(w io.Writer) error { return writeJSON(w, found) })
	if err != nil {
		return err
	}
	if figure != nil {
		files = append(files, filepath.Join(dir, "figure.svg"), filepath.Join(dir, "figure.png"))
	}
	for _, f := range files[1:] {
		if err := report.Save(f, figure); err != nil {
			return err
		}
	}
	if err := found.WriteTable(r.stdout); err != nil {
		return err
	}
	_, err = fmt.Fprintf(r.stdout, "\nWrote %s; the trained networks are in %s.\n", strings.Join(files, ", "), trials)
	return err
}

// size overrides a preset's numbers where flags ask for it.
func (r *reproduction) size(replicates, steps *int) {
	if r.flags.Changed("replicates") {
		*replicates = r.replicates
	}
	if r.flags.Changed("steps") {
		*steps = r.steps
	}
}

// makeFolder makes dir, before hours of work go into it.
func makeFolder(dir string) error {
	if err := atomicfile.Writable(dir); err != nil {
		return err
	}
	return os.MkdirAll(dir, 0o777)
}
