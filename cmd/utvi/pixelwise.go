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

	"utvi/fit"
	"utvi/internal/compute"
	"utvi/internal/folder"
	"utvi/internal/pixels"
	"utvi/internal/pixelwise"
	"utvi/internal/schema"
	"utvi/table"
)

// pixelModel is the model that predicts pixels in a file, if err says that the file holds no tabular
// one; nil if it is another.
func pixelModel(file string, err error) (*pixelwise.Model, error) {
	if err == nil || !errors.Is(err, fit.ErrNotTabular) {
		return nil, nil
	}
	m, err := pixelwise.Load(file, paperMaps())
	if errors.Is(err, pixelwise.ErrOther) {
		return nil, nil
	}
	return m, err
}

// pictures are the images that a column of a table names, or those of a folder or of an array.
type pictures struct {
	names  []string
	reader pixels.Reader
	file   string
	frame  *table.Frame
}

// picturesOf finds the images in a column of a table; of an array or a folder it is the only one.
func (t *tableFlags) picturesOf(path, column string) (*pictures, error) {
	t.pictures = folder.IsArray(path)
	t.names = folder.Names{File: column}
	only := *t
	only.array.Targets = "" // which are images, too
	rows, err := only.open(path, nil)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	f, err := table.Load(rows)
	if err != nil {
		return nil, err
	}
	p := &pictures{reader: schema.Images(f.Header()), file: f.Header().File, frame: f}
	p.names, err = p.column(column, "image")
	return p, err
}

// column is the names in a column of the table.
func (p *pictures) column(name, role string) ([]string, error) {
	col, err := p.frame.Header().Find([]string{name}, 0, role)
	if err != nil {
		return nil, err
	}
	var all []string
	for i := range p.frame.Len() {
		c, at := p.frame.At(i)
		text := c.Text(at, col)
		if text == "" {
			return nil, c.Errorf(at, col, "no image is named")
		}
		all = append(all, text)
	}
	return all, nil
}

// pairs are images with their targets: two columns of a table, or two arrays.
func (t *tableFlags) pairs(path, column, target string) (pixelwise.Pairs, error) {
	p, err := t.picturesOf(path, column)
	if err != nil {
		return pixelwise.Pairs{}, err
	}
	out := pixelwise.Pairs{File: p.file, Reader: p.reader, Images: p.names}
	if !folder.IsArray(path) {
		out.Targets, err = p.column(target, "target image")
		return out, err
	}
	other, err := t.picturesOf(target, column)
	if err != nil {
		return out, err
	}
	if len(other.names) != len(out.Images) {
		return out, fmt.Errorf("%s has %d images, %s has %d; each image needs one", path, len(out.Images), target, len(other.names))
	}
	out.Reader.Folder = ""
	for i := range out.Images {
		out.Images[i] = filepath.Join(p.reader.Folder, out.Images[i])
		out.Targets = append(out.Targets, filepath.Join(other.reader.Folder, other.names[i]))
	}
	return out, nil
}

// fitPixels learns to predict the pixels of images.
func (r *fitting) fitPixels(cmd *cobra.Command, path string) error {
	s := &r.settings
	column := s.images.given.Column
	array := folder.IsArray(path)
	switch {
	case cmd.Flags().Changed("target"):
		return usagef("--target-image names the images to predict; --target belongs to models of classes and numbers")
	case folder.Is(path) || pixels.IsImage(path):
		return usagef("--target-image needs a table with a column of images and one of their targets (--image noisy --target-image clean), or two arrays")
	case s.images.given.From != "":
		return usagef("--from starts models of classes and numbers, not of pixels")
	case array == (column != ""):
		return usagef("of a table, --image and --target-image name two columns; of an array, --target-image names another array")
	case array:
		column = folder.File
	}
	s.flag.Targets = []string{s.images.target}
	s.images.given.Column = column
	cmd.Flags().Lookup("image").Changed = true
	cmd.Flags().Lookup("target").Changed = true
	if err := r.check(cmd.Flags()); err != nil {
		return err
	}
	r.stdout = cmd.OutOrStdout()
	if array && r.out == "" {
		name := filepath.Base(s.images.target)
		r.out = fileName(strings.TrimSuffix(name, filepath.Ext(name))) + ".utvi"
	}
	if err := r.places(path); err != nil {
		return err
	}
	p, err := r.table.pairs(path, column, s.images.target)
	if err != nil {
		return err
	}
	e, err := r.device.engine(cmd)
	if err != nil {
		return err
	}
	c := pixelwise.Config{Column: column, Target: filepath.Base(s.images.target), Task: r.config.Task, Size: r.config.Images.Size, Stretch: r.config.Images.Stretch,
		Augment: r.config.Images.Augment, Holdout: r.config.Holdout, Seed: r.config.Seed, Network: r.config.Network}
	return r.learnPixels(cmd, p, c, pixelwise.Options{Checkpoint: r.out + ".checkpoint", Workers: r.jobs, Engine: e, Budget: r.budget()})
}

func (r *fitting) learnPixels(cmd *cobra.Command, p pixelwise.Pairs, c pixelwise.Config, o pixelwise.Options) error {
	release, err := r.begin(o.Checkpoint)
	if err != nil {
		return err
	}
	defer release()
	bar := newFitProgress(cmd.ErrOrStderr(), filepath.Join(o.Checkpoint, progressFile))
	bar.budget = o.Budget
	o.Progress = bar.tell
	o.Begin = func(m *pixelwise.Model, held int) {
		m.WriteSummary(r.stdout, held)
		fmt.Fprintln(r.stdout)
	}
	o.Warn = func(w fit.Warning) { tell(cmd, "warning: %s", w.In(asFlag)) }
	stop := context.AfterFunc(cmd.Context(), bar.stop)
	result, err := pixelwise.Fit(cmd.Context(), p, c, o)
	stop()
	bar.close()
	stopped := errors.Is(err, context.Canceled)
	switch {
	case stopped && result == nil:
		return exitError{errors.New("fit was interrupted before the first model was ready; continue it with --resume"), exitInterrupted}
	case err != nil && !stopped:
		return advised(err)
	}
	if err := r.writePixels(cmd, result); err != nil {
		return err
	}
	if stopped {
		return exitError{fmt.Errorf("fit was interrupted; %s holds the best model so far; continue with --resume", r.out), exitInterrupted}
	}
	return os.RemoveAll(o.Checkpoint)
}

// writePixels writes the model and its report, and prints the scores.
func (r *fitting) writePixels(cmd *cobra.Command, result *pixelwise.Result) error {
	if err := saveTo(r.out, result.Model.Save); err != nil {
		return err
	}
	files := r.out
	if r.report != "none" && result.Scores != nil {
		if err := pixelwise.SaveReport(context.WithoutCancel(cmd.Context()), r.report, result); err != nil {
			return err
		}
		files += " and " + filepath.Join(r.report, "report.html")
	}
	if result.Scores == nil {
		_, err := fmt.Fprintf(r.stdout, "No images are held out: the model is not evaluated.\nWrote %s.\n", files)
		return err
	}
	fmt.Fprintf(r.stdout, "Scores on %s:\n", plural(result.Scores.Images, "held-out image", "held-out images"))
	if err := result.Scores.WriteTable(r.stdout, result.Model.Levels); err != nil {
		return err
	}
	_, err := fmt.Fprintf(r.stdout, "\nWrote %s.\n", files)
	return err
}

// pixels writes predictions of pixels into a folder.
func (o *predictOptions) pixels(cmd *cobra.Command, m *pixelwise.Model, path string) error {
	if o.out == "" || o.out == "-" || filepath.Ext(o.out) != "" {
		return usagef("the model predicts the pixels of images, which are written into a folder: %s; name it with -o, such as -o predicted", m.Kinds())
	}
	if entries, err := os.ReadDir(o.out); err == nil && len(entries) > 0 {
		return fmt.Errorf("cannot write into %s: the folder is not empty; name another with -o", o.out)
	}
	p, err := o.table.picturesOf(path, m.Column)
	if err != nil {
		return err
	}
	pool := compute.NewPool(compute.Workers(0))
	defer pool.Close()
	by, err := m.NewPredictor(pool)
	if err != nil {
		return err
	}
	if err := makeFolder(filepath.Dir(filepath.Clean(o.out))); err != nil {
		return err
	}
	part, err := os.MkdirTemp(filepath.Dir(filepath.Clean(o.out)), ".predicting-")
	if err != nil {
		return fmt.Errorf("cannot write into %s: %w", o.out, err)
	}
	defer os.RemoveAll(part)
	if err := os.Chmod(part, 0o755); err != nil {
		return err
	}
	w, err := m.NewWriter(part, len(p.names))
	if err != nil {
		return err
	}
	var faults []error
	err = by.Each(cmd.Context(), p.reader, p.names, func(_ int, got *pixelwise.Prediction) error {
		if got.Err != nil {
			faults = append(faults, got.Err)
		}
		return w.Write(got)
	})
	if err := errors.Join(err, w.Close()); err != nil {
		return err
	}
	if len(faults) == len(p.names) {
		return fmt.Errorf("no image can be read, the first because %w", faults[0])
	}
	if err := os.Remove(o.out); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err := os.Rename(part, o.out); err != nil {
		return err
	}
	if len(faults) > 0 {
		tell(cmd, "warning: %d of %d images cannot be read and are not predicted; the first: %v", len(faults), len(p.names), faults[0])
	}
	tell(cmd, "wrote %s: %s", o.out, m.Kinds())
	return nil
}

// pixels scores predictions of pixels.
func (o *evalOptions) pixels(cmd *cobra.Command, m *pixelwise.Model, path string) error {
	target := m.Target
	if folder.IsArray(path) {
		target = o.table.array.Targets
		if target == "" {
			return usagef("%s holds images; --targets names the .npy file with the images to compare with", path)
		}
	}
	p, err := o.table.pairs(path, m.Column, target)
	if err != nil {
		return err
	}
	if err := o.ready(); err != nil {
		return err
	}
	pool := compute.NewPool(compute.Workers(0))
	defer pool.Close()
	s, err := m.Evaluate(cmd.Context(), p, pool)
	if err != nil {
		return err
	}
	if o.report != "" {
		if err := pixelwise.SaveReport(cmd.Context(), o.report, &pixelwise.Result{Model: m, Scores: s, Held: p}); err != nil {
			return err
		}
	}
	if o.asJSON {
		return writeJSON(cmd.OutOrStdout(), s)
	}
	return s.WriteTable(cmd.OutOrStdout(), m.Levels)
}

// pixels corrects a model by pairs of images.
func (o *calibrateOptions) pixels(cmd *cobra.Command, m *pixelwise.Model, file, path string) error {
	target := m.Target
	if folder.IsArray(path) {
		target = o.table.array.Targets
	}
	if len(o.methods) > 0 {
		return usagef("--method applies to models of classes and numbers; that of pixels is chosen by their targets")
	}
	p, err := o.table.pairs(path, m.Column, target)
	if err != nil {
		return err
	}
	pool := compute.NewPool(compute.Workers(0))
	defer pool.Close()
	if err := m.Calibrate(cmd.Context(), p, pool); err != nil {
		return err
	}
	file = o.stored(file)
	if err := saveTo(file, m.Save); err != nil {
		return err
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "Stored in %s.\n", file)
	return err
}

// printPixelModel shows what a model of pixels is made of.
func printPixelModel(w io.Writer, m *pixelwise.Model) error {
	held := 0
	if m.Held != nil {
		held = m.Held.Images
	}
	m.WriteSummary(w, held)
	if m.Held == nil {
		return nil
	}
	fmt.Fprintln(w, "\nScores of the held-out images:")
	return m.Held.WriteTable(w, m.Levels)
}
