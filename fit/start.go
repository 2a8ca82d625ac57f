package fit

import (
	"fmt"
	"path/filepath"
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
	height := usualSide
	width := usualSide
	if len(c.Size) > 0 {
		height = c.Size[0]
		width = c.Size[len(c.Size)-1]
	}
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
	f, err := pixels.Taken(in.H, in.W, in.C, c.Size, c.Normalise)
	if err != nil {
		return f, fmt.Errorf("%s: %w", c.From, err)
	}
	f.Stretch = c.Stretch
	return f, nil
}
