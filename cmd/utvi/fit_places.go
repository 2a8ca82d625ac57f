package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"utvi/internal/atomicfile"
	"utvi/internal/filelock"
)

// places decides where files go, and that they can, before hours of work go into them.
func (r *fitting) places(table string) error {
	if r.out == "" {
		r.out = fileName(strings.Join(r.config.Targets, "-")) + ".utvi"
		if r.settings.folder {
			r.out = folderModel(table)
		}
	}
	if r.config.Holdout < 0 {
		r.report = "none"
	}
	if r.report == "" {
		r.report = strings.TrimSuffix(r.out, ".utvi") + "-report"
	}
	if err := spare(r.out, table, r.settings.file); err != nil {
		return err
	}
	if err := ready(r.out); err != nil {
		return err
	}
	if r.report == "none" {
		return nil
	}
	return atomicfile.Writable(r.report)
}

// spare refuses an output that would take the place of a file that is read.
func spare(out string, inputs ...string) error {
	for _, in := range inputs {
		if sameFile(out, in) {
			return usagef("output would overwrite the input %s; name another file", in)
		}
	}
	return nil
}

// ready reports a file that could not be written, before hours of work go into it.
func ready(out string) error {
	if info, err := os.Stat(out); err == nil && info.IsDir() {
		return fmt.Errorf("cannot write %s: it is a folder", out)
	}
	return atomicfile.Writable(filepath.Dir(out))
}

// saveTo writes a file that the user named, and makes its folder if there is none: every
// command does, so that a script need not know which.
func saveTo(out string, save func(path string) error) error {
	dir := filepath.Dir(out)
	if info, err := os.Stat(dir); (err != nil || !info.IsDir()) && !os.IsPathSeparator(out[len(out)-1]) {
		if err := makeFolder(dir); err != nil {
			return err
		}
	}
	return save(out)
}

// sameFile reports whether two paths lead to the same file, also through links.
func sameFile(a, b string) bool {
	x, err1 := os.Stat(a)
	y, err2 := os.Stat(b)
	return err1 == nil && err2 == nil && x.Mode().IsRegular() && os.SameFile(x, y)
}

// progressFile is kept among the checkpoints: how far the fit has come, in per cent.
const progressFile = "progress.txt"

// begin prepares the folder of checkpoints and locks it until release.
func (r *fitting) begin(checkpoint string) (release func(), err error) {
	s := stoppable{what: "fit", output: "--out", resume: r.resume, fresh: r.fresh}
	return s.begin(r.out, checkpoint, func() string {
		if text, err := os.ReadFile(filepath.Join(checkpoint, progressFile)); err == nil {
			if n, err := strconv.Atoi(string(text)); err == nil {
				return fmt.Sprintf(" after %d %%", n)
			}
		}
		return ""
	})
}

// A stoppable is work that keeps what it has done beside its output, and can go on from there.
type stoppable struct {
	what          string // is done
	output        string // flag that names the output
	resume, fresh bool
}

// begin locks what work has kept until release. That of an earlier run is hours of work: it is continued
// or removed only if the user asks for that. after says how far it came.
func (s stoppable) begin(out, checkpoint string, after func() string) (release func(), err error) {
	if s.resume && s.fresh {
		return nil, usagef("--resume continues a %s and --fresh starts again; give only one of them", s.what)
	}
	if err := os.MkdirAll(filepath.Dir(checkpoint), 0o777); err != nil {
		return nil, err
	}
	release, err = filelock.Hold(checkpoint + ".lock")
	if errors.Is(err, filelock.ErrBusy) {
		return nil, fmt.Errorf("%s is locked by another %s; wait until it ends, or name another file with %s", out, s.what, s.output)
	}
	if err != nil {
		return nil, err
	}
	_, err = os.Stat(checkpoint)
	switch {
	case s.resume && err != nil:
		err = fmt.Errorf("nothing to resume: %s does not exist", checkpoint)
	case s.resume || err != nil:
		err = nil
	case s.fresh:
		err = os.RemoveAll(checkpoint)
	default:
		err = fmt.Errorf("%s holds a %s that was stopped%s; continue it with --resume, or start again with --fresh", checkpoint, s.what, after())
	}
	if err != nil {
		release()
		return nil, err
	}
	return release, nil
}
