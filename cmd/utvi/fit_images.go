package main

import (
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"utvi/fit"
	"utvi/internal/folder"
	"utvi/internal/pixels"
	"utvi/table"
)

// imageFlags are the settings of images.
type imageFlags struct {
	given  fit.ImageConfig
	size   string
	target string // with images, whose pixels are predicted
}

func (s *imageFlags) flags(f *pflag.FlagSet) {
	f.StringVar(&s.given.Column, "image", "", "`column` with the names of image files, to predict from")
	f.StringVar(&s.target, "target-image", "", "`column` with the names of image files, or an array, whose pixels are predicted: numbers, or classes where they have few colours")
	f.StringVar(&s.size, "size", "", "height and width of the images that networks see, such as 64 or 48x64 (default that of the images, at most 64)")
	f.BoolVar(&s.given.Stretch, "stretch", false, "stretch images of another shape, instead of cutting out their middle")
	f.StringVar(&s.given.From, "from", "", "start from a network of your own, an ONNX `file`: its weights become Normals around what they are; another last layer is learned where it needs one")
	f.StringVar(&s.given.Normalise, "normalise", "", "what that network takes: <imagenet>, or a mean and a standard deviation of each channel, such as 0.5:0.5 (default numbers from 0 to 1)")
	f.StringVar(&s.given.Augment, "augment", "", "how training images are changed: <none>, <shift> (moved, turned, zoomed) or <photo> (moved, mirrored, lit, partly erased); for numbers <wear> (blurred, noisy, of another contrast), <move+wear>, <shift+wear> or <photo+wear>; for the numbers of pixels <mirror> or <mirror+move> (default chosen on held-out images)")
}

// override puts flags that were given in the place of settings.
func (s *imageFlags) override(c *fit.ImageConfig, f *pflag.FlagSet) error {
	if f.Changed("image") {
		c.Column = s.given.Column
	}
	if f.Changed("stretch") {
		c.Stretch = s.given.Stretch
	}
	if f.Changed("from") {
		c.From = s.given.From
	}
	if f.Changed("normalise") {
		c.Normalise = s.given.Normalise
	}
	if f.Changed("augment") {
		c.Augment = s.given.Augment
	}
	if !f.Changed("size") {
		return nil
	}
	c.Size = nil
	for side := range strings.SplitSeq(s.size, "x") {
		n, err := strconv.Atoi(side)
		if err != nil {
			return usagef("--size takes a number of pixels, or height and width, such as 64 or 48x64, not %q", s.size)
		}
		c.Size = append(c.Size, n)
	}
	return nil
}

// takeFolder makes the images of a folder what is fitted, and their classes the target.
func (r *fitting) takeFolder(path string, f *pflag.FlagSet) error {
	if pixels.IsImage(path) {
		return usagef("%s is one image; name a folder with a subfolder of images for each class", path)
	}
	if folder.IsArray(path) {
		return r.takeArray(path, f)
	}
	if !folder.Is(path) {
		return nil
	}
	if f.Changed("target") || f.Changed("image") {
		return usagef("%s is a folder, whose images and classes are found by themselves; --target and --image name columns of a table", path)
	}
	r.settings.folder = true
	return nil
}

// takeArray makes the images of an array what is fitted, and another array their target.
func (r *fitting) takeArray(path string, f *pflag.FlagSet) error {
	given := r.settings.flag.Targets
	if len(given) != 1 || !strings.EqualFold(filepath.Ext(given[0]), ".npy") {
		return usagef("%s holds images; --target names a .npy file with their classes or numbers, such as --target y.npy", path)
	}
	if f.Changed("image") {
		return usagef("%s holds images; --image names a column of a table", path)
	}
	r.table.array = folder.Array{Path: path, Layout: r.table.array.Layout, Targets: given[0]}
	names, classes, err := folder.TargetNames(given[0])
	if err != nil {
		return err
	}
	r.settings.array = &arrayTargets{names: names, classes: classes}
	return nil
}

// arrayTargets are the targets of an array of images.
type arrayTargets struct {
	names   []string
	classes bool // they are whole numbers, in one column
}

// frame reads the table, or the images that a folder holds.
func (r *fitting) frame(path string, reading table.Options) (*table.Frame, error) {
	if r.settings.array != nil {
		s, err := r.table.array.Open(folder.Names{})
		if err != nil {
			return nil, err
		}
		return table.Load(s)
	}
	f, err := fit.ReadTable(path, reading)
	if err == nil && r.settings.folder && f.Header().Column(folder.Part) >= 0 {
		r.config.Images.Part = folder.Part
	}
	return f, err
}

// folderModel is the file of the model of a folder.
func folderModel(path string) string {
	full, err := filepath.Abs(path)
	if err != nil {
		full = path
	}
	return fileName(filepath.Base(full)) + ".utvi"
}
