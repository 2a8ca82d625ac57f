package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"utvi/data"
	"utvi/gauss"
	"utvi/internal/folder"
	"utvi/internal/pixels"
	"utvi/internal/schema"
	"utvi/internal/vision"
	"utvi/model"
	"utvi/table"
)

// bayesImages are the images that a network becomes Bayesian with: those of a folder, of an array, or
// those that a table names.
type bayesImages struct {
	column    string // of a table
	normalise string
	size      []int
	schema    *schema.Schema
	test      []int // rows of the folder's part for testing
}

func (b *bayesImages) flags(f *pflag.FlagSet) {
	f.StringVar(&b.column, "image", "", "`column` of a table with the names of image files, which are the inputs")
	f.StringVar(&b.normalise, "normalise", "", "what the network takes of images: <imagenet>, or a mean and a standard deviation of each channel, such as 0.5:0.5 (default numbers from 0 to 1)")
	f.IntSliceVar(&b.size, "size", nil, "height and width of the images, of a network that takes a row of numbers, such as 20,30 (default a square)")
}

// pictures reports whether the rows are images.
func (o *bayesOptions) pictures() bool {
	return o.images.column != "" || folder.Is(o.data) || folder.IsArray(o.data)
}

// runImages makes a network Bayesian with images.
func (o *bayesOptions) runImages(cmd *cobra.Command, network string) error {
	if !cmd.Flags().Changed("epochs") {
		o.config.Epochs = imageEpochs
	}
	trained, err := o.load(network)
	if err == nil {
		trained, err = vision.Upright(trained)
	}
	if err != nil {
		return err
	}
	f, err := o.frame(o.data, o.targets)
	if err != nil {
		return err
	}
	if err := o.images.infer(f, trained, o.targets); err != nil {
		return err
	}
	held := f
	part := o.images.test // which is only scored, unless there are other images
	if o.test != "" {
		part = nil
		held, err = o.frame(o.test, []string{o.wanted})
		if err != nil {
			return err
		}
	}
	rows, err := o.images.rows(cmd, f, without(f.Len(), part))
	if err != nil {
		return err
	}
	if o.test == "" && part == nil {
		return o.train(cmd, trained, rows, nil)
	}
	if o.test != "" {
		part = without(held.Len(), nil)
	}
	test, err := o.images.rows(cmd, held, part)
	if err != nil {
		return err
	}
	return o.train(cmd, trained, rows, &test)
}

// imageEpochs are enough for images, of which a pass takes longer than of rows of numbers.
const imageEpochs = 10

// without are the rows of n that some, in their order, are not.
func without(n int, some []int) (others []int) {
	for i := range n {
		if len(some) > 0 && some[0] == i {
			some = some[1:]
		} else {
			others = append(others, i)
		}
	}
	return others
}

// frame reads what names the images, with their targets.
func (o *bayesOptions) frame(path string, targets []string) (*table.Frame, error) {
	switch {
	case folder.Is(path):
		s, err := folder.Open(path, folder.Names{})
		if err != nil {
			return nil, err
		}
		if err := s.CheckClasses(); err != nil {
			return nil, err
		}
		return table.Load(s)
	case folder.IsArray(path):
		a := o.table.array
		a.Path = path
		a.Targets = targets[0]
		n := folder.Names{}
		if s := o.images.schema; s != nil {
			for _, t := range s.Targets() {
				n.Targets = append(n.Targets, t.Name)
			}
		}
		s, err := a.Open(n)
		if err != nil {
			return nil, err
		}
		return table.Load(s)
	}
	rows, err := o.table.open(path, nil)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	return table.Load(rows)
}

// infer says what the columns are: the image as the network takes it, classes by their number or in the
// order of their names, numbers as they are.
func (b *bayesImages) infer(f *table.Frame, n *model.Model, targets []string) error {
	in := n.Config.Input
	format, err := pixels.Taken(in.H, in.W, in.C, b.size, b.normalise)
	if err != nil {
		return err
	}
	spec := schema.Spec{Targets: targets, Image: b.column, Format: &format}
	h := f.Header()
	if spec.Image == "" {
		spec.Image = folder.File
		spec.Targets = slices.DeleteFunc(slices.Clone(h.Columns), func(c string) bool { return c == folder.File || c == folder.Part })
	}
	spec.Inputs = []string{spec.Image}
	if n.Outputs() > 1 && len(spec.Targets) == 1 {
		spec.Task = schema.Classification
	}
	if part := h.Column(folder.Part); b.column == "" && part >= 0 {
		for i := range f.Len() {
			if c, at := f.At(i); c.Text(at, part) == folder.Test {
				b.test = append(b.test, i)
			}
		}
	}
	b.schema, err = schema.Infer(f.Rows(without(f.Len(), nil)), spec)
	if err != nil {
		return err
	}
	for i := range b.schema.Columns {
		c := &b.schema.Columns[i]
		switch {
		case c.Role != schema.Target:
		case c.Type == schema.Categorical:
			number(c, n.Outputs())
			if len(c.Levels) != n.Outputs() {
				return fmt.Errorf("%s has %d classes; the network has %d outputs", h.File, len(c.Levels), n.Outputs())
			}
		default: // the network predicts numbers as they are
			c.Mean = 0
			c.SD = 1
		}
	}
	return nil
}

// number makes levels that are whole numbers those from 0 on, also if some of them are in no row.
func number(c *schema.Column, classes int) {
	counts := make([]int, classes)
	for i, level := range c.Levels {
		k, err := strconv.Atoi(level)
		if err != nil || k < 0 || k >= classes {
			return
		}
		counts[k] = c.Counts[i]
	}
	c.Levels = nil
	c.Counts = counts
	for k := range classes {
		c.Levels = append(c.Levels, strconv.Itoa(k))
	}
}

// rows reads the images of some rows; those that cannot be read are left out.
func (b *bayesImages) rows(cmd *cobra.Command, f *table.Frame, some []int) (data.Set, error) {
	set, err := b.schema.Encode(f.Rows(some))
	if err != nil {
		return data.Set{}, err
	}
	out := data.Set{Targets: set.Targets, X: gauss.Batch[float32]{Width: set.X.Width}}
	k := set.Outputs()
	for i := range set.X.Rows {
		x := set.X.Mean[i*set.X.Width : (i+1)*set.X.Width]
		if math.IsNaN(float64(x[0])) {
			continue
		}
		out.X.Mean = append(out.X.Mean, x...)
		out.Y = append(out.Y, set.Y[i*k:(i+1)*k]...)
		out.X.Rows++
	}
	if left := set.X.Rows - out.X.Rows; left > 0 {
		tell(cmd, "warning: %s of %s cannot be read and %s left out", plural(left, "image", "images"), f.Header().File, map[bool]string{true: "is", false: "are"}[left == 1])
	}
	return out, nil
}
