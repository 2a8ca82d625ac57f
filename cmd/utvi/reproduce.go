package main

import (
	"context"
	"encoding/json"
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

// experiments are what reproduce knows, in the order it runs them.
var experiments = []struct {
	name string
	run  func(r *reproduction, ctx context.Context) error
}{{"fc", (*reproduction).fc}}

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

Experiments: fc (§4.2, regression with a fully connected network).`,
		Example: `  utvi reproduce fc
  utvi reproduce fc --preset paper --out results
  utvi reproduce fc --replicates 5 --steps 8000 --seed 7`,
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
			if len(args) == 1 && args[0] != e.name {
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
	if r.flags.Changed("replicates") {
		spec.Replicates = r.replicates
	}
	if r.flags.Changed("steps") {
		spec.Steps = r.steps
	}
	if err := spec.Check(); err != nil {
		return misuse(err)
	}
	dir := filepath.Join(r.out, "fc")
	if err := makeFolder(dir); err != nil {
		return err
	}
	spec.Dir = filepath.Join(dir, "trials")

	bars := newProgress(r.stderr)
	result, err := experiment.FC(ctx, spec, bars.tell)
	bars.close()
	if err != nil {
		return err
	}
	return r.finish(dir, result, result.Figure(), result.WriteTable)
}

// finish writes what an experiment found: all numbers, the figure, the table.
func (r *reproduction) finish(dir string, numbers any, figure report.Figure, table func(io.Writer) error) error {
	files := []string{filepath.Join(dir, "results.json"), filepath.Join(dir, "figure.svg"), filepath.Join(dir, "figure.png")}
	err := atomicfile.Write(files[0], func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetIndent("", " ")
		return e.Encode(numbers)
	})
	if err != nil {
		return err
	}
	for _, f := range files[1:] {
		if err := report.Save(f, figure); err != nil {
			return err
		}
	}
	if err := table(r.stdout); err != nil {
		return err
	}
	_, err = fmt.Fprintf(r.stdout, "\nWrote %s.\n", strings.Join(files, ", "))
	return err
}

// makeFolder makes dir, before hours of work go into it.
func makeFolder(dir string) error {
	if err := atomicfile.Writable(dir); err != nil {
		return err
	}
	return os.MkdirAll(dir, 0o777)
}
