package fit

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"utvi/internal/advice"
	"utvi/internal/pixels"
	"utvi/model"
	"utvi/onnx/importer"
)

// usualSide is a side that most networks could take.
const usualSide = 32

// network loads the network that trainings start from; nil: there is none.
func (c ImageConfig) network() (*model.Model, error) {
	if c.From == "" {
		return nil, nil
	}
	if !strings.EqualFold(filepath.Ext(c.From), ".onnx") {
		return model.Load(c.From)
	}
	n, err := importer.Load(c.From, importer.Options{})
	if err == nil {
		return n, nil
	}
	height, width := sides(usualSide*usualSide, c.Size)
	for _, channels := range []int{3, 1} { // of a graph that leaves the size of its input open
		n, failed := importer.Load(c.From, importer.Options{Input: []int{channels, height, width}})
		switch {
		case failed != nil:
		case len(c.Size) == 0:
			return nil, advice.Errorf("%s leaves the size of its images open; %v", c.From, advice.Set("Size", ""))
		default:
			return n, nil
		}
	}
	return nil, err
}

// formatFor is the format of the images that a network takes.
func (c ImageConfig) formatFor(n *model.Model) (pixels.Format, error) {
	in := n.Config.Input
	f := pixels.Format{Height: in.H, Width: in.W, Channels: in.C, Stretch: c.Stretch}
	if in.H*in.W == 1 { // a row of grey pixels
		f.Channels = 1
		f.Height, f.Width = sides(in.Size(), c.Size)
		if f.Height*f.Width != in.Size() {
			return f, fmt.Errorf("%s takes %d numbers in a row, which are no square image; set the size of the images, height and width", c.From, in.Size())
		}
	}
	if c.Size != nil && (c.Size[0] != f.Height || c.Size[len(c.Size)-1] != f.Width) {
		return f, fmt.Errorf("%s takes images of %d × %d pixels; the size is %v", c.From, f.Height, f.Width, c.Size)
	}
	mean, sd, err := normalisation(c.Normalise, f.Channels)
	if err != nil {
		return f, err
	}
	f.Mean = mean
	f.SD = sd
	return f, f.Check()
}

// sides are those of an image of so many pixels: as asked for, or of a square.
func sides(pixels int, asked []int) (height, width int) {
	if len(asked) > 0 {
		return asked[0], asked[len(asked)-1]
	}
	side := 1
	for side*side < pixels {
		side++
	}
	return side, side
}

// imagenet are the means and standard deviations that most networks for photographs were trained with.
const imagenet = "0.485,0.456,0.406:0.229,0.224,0.225"

// normalisation is what numbers from 0 to 1 are shifted and divided by, for each channel.
func normalisation(text string, channels int) (mean, sd []float64, err error) {
	switch text {
	case "":
		text = "0:1"
	case "imagenet":
		text = imagenet
	}
	wrong := fmt.Errorf("normalise is %.60q; it is imagenet, or a mean and a standard deviation such as 0.5:0.5, or those of three channels such as %s", text, imagenet)
	left, right, found := strings.Cut(text, ":")
	if !found {
		return nil, nil, wrong
	}
	for _, x := range []struct {
		text string
		to   *[]float64
	}{{left, &mean}, {right, &sd}} {
		for part := range strings.SplitSeq(x.text, ",") {
			v, err := strconv.ParseFloat(part, 64)
			if err != nil {
				return nil, nil, wrong
			}
			*x.to = append(*x.to, v)
		}
		if len(*x.to) == 1 {
			*x.to = slices.Repeat(*x.to, channels)
		}
		if len(*x.to) != channels {
			return nil, nil, fmt.Errorf("normalise has %d numbers for %d channels", len(*x.to), channels)
		}
	}
	return mean, sd, nil
}
