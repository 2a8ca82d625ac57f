package fit

import (
	"fmt"
	"slices"

	"utvi/data"
	"utvi/internal/advice"
	"utvi/internal/pixels"
	"utvi/internal/schema"
	"utvi/internal/vision"
)

// The columns of a table of images that are inputs beside the image.

// besideImage asks for the columns that stand beside images: those that are named, or all others.
func besideImage(spec *schema.Spec, c Config, format *pixels.Format) {
	spec.Image = c.Images.Column
	spec.Format = format
	if spec.Inputs != nil && !slices.Contains(spec.Inputs, spec.Image) {
		spec.Inputs = append(slices.Clone(spec.Inputs), spec.Image)
	}
	if c.Images.Part != "" {
		spec.Ignore = append(slices.Clone(spec.Ignore), c.Images.Part)
	}
}

// checkBeside refuses columns that networks of images do not take.
func checkBeside(file string, s *schema.Schema) error {
	for i := range s.Columns {
		switch c := &s.Columns[i]; {
		case c.Role == schema.Input && (c.Std > 0 || c.StdFrom != ""):
			return advice.Errorf("%s: column %s has standard deviations, which networks of images do not take; %v", file, c.Name, advice.Set("Ignore", c.StdFrom))
		case c.Role == schema.Weight:
			return fmt.Errorf("%s: networks of images take no weights, such as column %s", file, c.Name)
		}
	}
	return nil
}

// withoutImage is the schema of the columns beside the image, and how many inputs stand before it.
func withoutImage(s *schema.Schema) (others *schema.Schema, before int) {
	copied := *s
	copied.Columns = slices.Clone(s.Columns)
	for _, span := range s.Spans() {
		if span.Column.Type == schema.Picture {
			before = span.From
		}
	}
	copied.Columns[s.Picture()].Role = schema.Dropped
	return &copied, before
}

// known are the inputs beside the images of rows.
func (g *gallery) known(s *schema.Schema, rows []int) (k vision.Known, err error) {
	others, before := withoutImage(s)
	n := len(others.Inputs())
	if n == 0 {
		return k, nil
	}
	set, err := others.Encode(g.frame.Rows(rows))
	if err != nil {
		return k, err
	}
	k.Before = before
	k.Behind = n - before
	k.X = set.X.Mean
	levels := make([]int, n)
	for _, span := range others.Spans() {
		if m := span.Column.Numbers(); m > 0 {
			levels[span.From] = m
			k.Levels = levels
		}
	}
	return k, nil
}

// How many rows are predicted how often to find out what the image is worth, and what the columns are.
const (
	weighedRows  = 400
	weighedTimes = 16
)

// weigh says what the image and the columns beside it are worth, if there are any.
func (l looker) weigh(in *Insight, x []float32, y []float32) {
	spans := l.m.Schema.Spans()
	width := spans[len(spans)-1].To
	k := len(l.targets)
	if len(spans) == 1 || len(x)/width < minImportanceRows {
		return
	}
	set := &data.Set{Targets: k}
	for _, i := range spread(seq(len(x)/width), weighedRows) {
		set.X.Mean = append(set.X.Mean, x[i*width:(i+1)*width]...)
		set.Y = append(set.Y, y[i*k:(i+1)*k]...)
	}
	set.X = batchOf(set.X.Mean, width)
	in.Importance = importance(l, set, spans, l.m.Facts.Config.Seed, weighedTimes)
	if len(in.Importance) < len(spans) {
		in.Columns = len(spans)
	}
}
