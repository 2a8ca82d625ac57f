package main

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"utvi/internal/locate/batch"
	"utvi/internal/locate/frames"
	"utvi/internal/locate/list"
	"utvi/internal/sweep"
)

// checkPlan refuses what a plan cannot hold, and what applies to a plan alone.
func (l *localising) checkPlan(f *pflag.FlagSet) error {
	of, with := []string{"output", "report", "live", "resume", "fresh"}, "exclude each other; utvi sweep runs a plan, and sweep collect writes its tables and pages"
	if l.plan == "" {
		of, with = []string{"frames-per-trial", "format"}, "apply to a plan alone"
	}
	for _, name := range of {
		if f.Changed(name) && l.plan != "" {
			return usagef("--%s and --plan %s", name, with)
		}
		if f.Changed(name) {
			return usagef("--%s applies to a plan; give --plan as well", name)
		}
	}
	return givenAtLeast(1, f, "frames-per-trial")
}

// formats are those of tables by the words of --format.
var formats = map[string]list.Format{"csv": list.ThunderSTORM, "hdf5": list.Picasso, "parquet": list.Parquet, "decode": list.DECODE}

// writePlan writes a plan whose trials find what is in the frames of stacks.
func (l *localising) writePlan(cmd *cobra.Command, paths []string) error {
	s := batch.Defaults()
	s.Camera = l.Camera
	s.Pixel = l.pixel
	s.Sigma = l.Sigma
	s.Threshold = l.Threshold
	s.Probability = l.Least
	s.Format = formats[l.format]
	if s.Format == "" {
		return usagef("--format is %q; it must be csv, hdf5, parquet or decode", l.format)
	}
	if l.Net != nil {
		s.NetSum = l.Net.Sum
	}
	s.Net = l.net
	s.Maps = l.Maps
	places := []*string{&s.Maps.Offset, &s.Maps.Gain, &s.Maps.Variance}
	if l.Net != nil {
		places = append(places, &s.Net)
	}
	for _, p := range places {
		if err := absolute(p); err != nil {
			return err
		}
	}
	var trials []sweep.Trial
	taken := map[string]bool{}
	for _, path := range paths {
		stacks, err := frames.Stacks(path)
		if err != nil {
			return err
		}
		if len(stacks) == 0 {
			return fmt.Errorf("%s: there is no stack in this folder, nor in those in it", path)
		}
		for _, one := range stacks {
			t, err := l.trials(s, one, taken)
			if err != nil {
				return err
			}
			trials = append(trials, t...)
		}
	}
	plan, err := sweep.NewPlan("locate", trials...)
	if err != nil {
		return err
	}
	return savePlan(cmd, l.plan, plan)
}

// trials are those of one stack.
func (l *localising) trials(s batch.Spec, path string, taken map[string]bool) ([]sweep.Trial, error) {
	stack, err := frames.Open(path)
	if err != nil {
		return nil, err
	}
	if err := l.choose(stack); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if _, err := s.Maps.Sensor(s.Camera, stack.Width, stack.Height); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	s.Stack = path
	if err := absolute(&s.Stack); err != nil {
		return nil, err
	}
	s.Bytes = stack.Bytes
	s.First = l.First
	s.Frames = l.Frames
	return batch.Trials(s, l.most, taken)
}

// absolute makes a path one that every process understands; "" stays.
func absolute(path *string) (err error) {
	if *path != "" {
		*path, err = filepath.Abs(*path)
	}
	return err
}

// joinStacks puts what the trials of a plan have found together, stack by stack.
func joinStacks(cmd *cobra.Command, dir, to string, s *sweep.Summary) error {
	joined, left, err := batch.Join(dir, to, s.All)
	for _, j := range joined {
		tell(cmd, "%s: %s; its page is %s", j.File, told(j.Facts), j.Page)
		if f := j.Facts.Noise; f >= muchNoise || f <= 1/muchNoise {
			tell(cmd, "warning: %s: the noise in its frames is %.2f times what the camera's numbers promise", j.File, f)
		}
	}
	if err != nil {
		return err
	}
	if left > 0 {
		tell(cmd, "the tables of %s are not written: trials are not done", plural(left, "stack", "stacks"))
	}
	return nil
}
