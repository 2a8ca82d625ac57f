package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"utvi/internal/locate/learn"
	"utvi/train"
)

const locateTrainHelp = `Make a network for another optic than the usual one: simulated scenes of these ranges go
through the steps of locate, and the network learns from its errors. Widths are standard
deviations of a point's image in pixels. In part of the scenes the image is an Airy disc,
oval or lopsided, the width is 6 % wrong, the gain up to a factor 2, or an EM register is
there of which the program does not know, so that error bars hold where these happen.

Same flags, same file, on any number of cores.`

const locateTrainExamples = `  utvi locate train --width 1.2-2 --photons 500-20000 -o wide.utvi
  utvi locate frames.tif --net wide.utvi
  utvi locate train -o default.utvi                       the network inside the program`

// A locateTraining is what the flags of locate train ask for.
type locateTraining struct {
	learn.Plan
	width, photons, background, density, read string
	out                                       string
}

func locateTrainCommand() *cobra.Command {
	t := &locateTraining{Plan: learn.Usually()}
	cmd := &cobra.Command{
		Use:     "train -o FILE",
		Short:   "Make the network for another optic",
		Long:    locateTrainHelp,
		Example: locateTrainExamples,
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := t.check(); err != nil {
				return err
			}
			return t.run(cmd)
		},
	}
	t.flags(cmd.Flags())
	return cmd
}

func rangeText(r learn.Range) string { return fmt.Sprintf("%g-%g", r.Least, r.Most) }

func (t *locateTraining) flags(f *pflag.FlagSet) {
	f.SortFlags = false
	f.StringVarP(&t.out, "output", "o", "", "network to write, .utvi")
	f.StringVar(&t.width, "width", rangeText(t.Width), "standard deviation of a point's image, pixels")
	f.StringVar(&t.photons, "photons", rangeText(t.Photons), "photons of a molecule in a frame")
	f.StringVar(&t.background, "background", rangeText(t.Background), "photons of a pixel without molecules")
	f.StringVar(&t.density, "density", rangeText(t.Density), "molecules per pixel of a frame")
	f.StringVar(&t.read, "read-noise", rangeText(t.Read), "standard deviation of the read-out, photoelectrons")
	f.IntVar(&t.Scenes, "scenes", t.Scenes, "scenes to train on, each of about 400 molecules")
	f.IntVar(&t.Steps, "steps", t.Steps, "steps of the training")
	f.BoolVar(&t.Plain, "plain", false, "weights without distributions, to compare with")
	f.Uint64Var(&t.Seed, "seed", t.Seed, "seed of the random numbers")
}

func (t *locateTraining) check() error {
	if t.out == "" {
		return usagef("locate train needs --output, the name of the network to write")
	}
	for _, r := range []struct {
		flag, text  string
		to          *learn.Range
		least, most float64
	}{
		{"width", t.width, &t.Width, 0.6, 3}, {"photons", t.photons, &t.Photons, 20, 1e6}, {"background", t.background, &t.Background, 0.01, 1e5},
		{"density", t.density, &t.Density, 1e-4, 0.2}, {"read-noise", t.read, &t.Read, 0.01, 1000},
	} {
		from, to, ranged := strings.Cut(r.text, "-")
		if !ranged {
			to = from
		}
		a, err := strconv.ParseFloat(from, 64)
		b, err2 := strconv.ParseFloat(to, 64)
		if err != nil || err2 != nil || !(a >= r.least && b <= r.most && a <= b) {
			return usagef("--%s is %q; it must be a range such as %s, within %g-%g", r.flag, r.text, rangeText(*r.to), r.least, r.most)
		}
		*r.to = learn.Range{Least: a, Most: b}
	}
	if t.Scenes < 20 || t.Scenes > 20_000 || t.Steps < 10 || t.Steps > 1_000_000 {
		return usagef("--scenes must be 20 to 20000, --steps 10 to 1000000")
	}
	return ready(t.out)
}

func (t *locateTraining) run(cmd *cobra.Command) error {
	p := newCountProgress(cmd.ErrOrStderr(), t.Scenes+t.Held(), "scene", "scenes")
	var q *rowProgress
	step := func(train.Step) {
		if q == nil {
			p.close()
			q = newCountProgress(cmd.ErrOrStderr(), t.Steps, "step", "steps")
		}
		q.Done(1)
	}
	n, err := learn.Make(cmd.Context(), t.Plan, p.Done, step)
	if q != nil {
		q.close()
	} else {
		p.close()
	}
	if err != nil {
		return err
	}
	if err := saveTo(t.out, n.Save); err != nil {
		return err
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "Wrote %s.\n", t.out)
	return err
}
