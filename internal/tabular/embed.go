package tabular

import (
	"fmt"

	"utvi/nn"
)

// The Normals that a level is embedded by: few, because most levels have few rows, and
// fewer of very many levels, because a step of training updates all of them.
const (
	mostNormals   = 8
	fewestNormals = 2
	mostLearned   = 200_000 // Normals of all levels of a column, if those are not too few for a level
)

// checkLevels reports inputs that are not the numbers of their levels.
func (d Data) checkLevels() error {
	for _, c := range d.Choices {
		if c.From < 0 || c.To < c.From || c.To > d.X.Width {
			return fmt.Errorf("a category has inputs %d to %d of %d", c.From, c.To-1, d.X.Width)
		}
	}
	if d.Levels == nil {
		return nil
	}
	if len(d.Levels) != d.X.Width {
		return fmt.Errorf("there are numbers of levels for %d inputs, not %d", len(d.Levels), d.X.Width)
	}
	for j, levels := range d.Levels {
		if levels == 0 {
			continue
		}
		if levels < 2 {
			return fmt.Errorf("input %d has %d numbers of levels; it needs at least 2", j, levels)
		}
		for i := range d.X.Rows {
			if x := d.X.Mean[i*d.X.Width+j]; !(x >= 0 && int(x) < levels && x == float32(int(x))) {
				return fmt.Errorf("the level of row %d, input %d, is %v; it must be a whole number from 0 to %d", i, j, x, levels-1)
			}
		}
	}
	return nil
}

// numbersLevels reports whether an input is the number of a level.
func (d Data) numbersLevels(input int) bool { return d.Levels != nil && d.Levels[input] > 0 }

// embedding is the layer that embeds levels, nil if no input is the number of one. Without levels
// all are read as one, which tells nothing about a row.
func (d Data) embedding(without bool) nn.Layer { return embedding(d.Levels, without) }

// Embedding is the layer that embeds the inputs that number levels, of which levels says how many; nil
// if there is none.
func Embedding(levels []int) nn.Layer { return embedding(levels, false) }

func embedding(of []int, without bool) nn.Layer {
	var all []nn.Category
	for j, levels := range of {
		if levels > 0 {
			width := max(fewestNormals, min(mostNormals, mostLearned/levels))
			if without {
				levels, width = 1, 1
			}
			all = append(all, nn.Category{Unit: j, Levels: levels, Width: width})
		}
	}
	if all == nil {
		return nil
	}
	return nn.Embed{Categories: all}
}
