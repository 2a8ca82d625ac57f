package table

import (
	"fmt"
	"math"
	"slices"

	"utvi/gauss"
)

// Width is the number of inputs of a row, as Schema.Inputs names them.
func (e *Encoder) Width() int { return e.width }

// Extra names columns of the file that the schema does not know. They are not used.
func (e *Encoder) Extra() []string { return e.extra }

// HasTargets reports whether the file holds all targets.
func (e *Encoder) HasTargets() bool {
	return !slices.ContainsFunc(e.targets, func(t target) bool { return t.pos < 0 })
}

// HasWeights reports whether the file holds the weights of the schema.
func (e *Encoder) HasWeights() bool { return e.weight >= 0 }

// Inputs writes the inputs of a chunk to x, a batch of its rows and Width columns:
// numbers by Column.Encode, with a variance that passes the same scale, categories as one-hot. Without
// x.Var variances are left out.
func (e *Encoder) Inputs(c *Chunk, x gauss.Batch[float32]) error {
	if x.Rows != c.rows || x.Width != e.width {
		panic("table: the batch does not have the chunk's rows and the encoder's width")
	}
	clear(x.Mean)
	clear(x.Var)
	e.lookBare(c)
	for row := range c.rows {
		cells := c.cells[row*len(c.head.Columns):]
		mean := x.Mean[row*e.width : (row+1)*e.width]
		for i := range e.inputs {
			in := &e.inputs[i]
			v := cells[in.pos]
			if v != v {
				_, v = c.Cell(row, in.pos)
			}
			if z := float32(in.Encode(v)); in.Type == Numeric && z-z == 0 {
				mean[in.at] = z
				if x.Var != nil {
					variance, err := in.variance(c, row, v)
					if err != nil {
						return err
					}
					x.Var[row*e.width+in.at] = variance
				}
				continue
			}
			if err := e.special(c, row, i, mean); err != nil {
				return err
			}
		}
	}
	return nil
}

// special encodes what is not a finite number in a numeric column.
func (e *Encoder) special(c *Chunk, row, i int, mean []float32) error {
	in := &e.inputs[i]
	k := in.kind(c, row)
	switch {
	case k == Missing && !e.schema.Impute:
		return c.errorf(row, in.pos, "%s; only a model trained to impute missing values accepts that", isGone(c.written(row, in.pos), "value"))
	case in.Type == Categorical:
		level := len(in.Levels) // other
		if (in.Embedded || in.Apart) && k == Missing {
			level++
		}
		if k != Missing {
			if known, ok := in.levels[in.Level(c, row, in.pos)]; ok {
				level = known
			} else {
				e.stranger(c, row, i)
			}
		}
		if in.Embedded {
			mean[in.at] = float32(level)
			return nil
		}
		mean[in.at+level] = 1
		return nil
	case k == Missing:
		if e.schema.MarksMissing(in.Column) {
			mean[in.at+in.width-1] = 1
		}
		return nil // the mean is 0
	case in.Type == Times:
		return in.time(c, row, mean)
	case k == Text && in.Style != "":
		v, ok := in.parse(c.Text(row, in.pos))
		z := float32(in.Encode(v))
		if !ok || z-z != 0 {
			return c.errorf(row, in.pos, "%s is not a number such as %s", short(c.Text(row, in.pos)), in.example())
		}
		mean[in.at] = z
		return nil
	case k == Text:
		return c.errorf(row, in.pos, "%s", needsNumber(c.Text(row, in.pos)))
	}
	return notFinite(c, row, in.pos, in.Column)
}

// kindOf is what a cell holds, as the column reads it.
func (c *Column) kindOf(at *Chunk, row, col int) Kind {
	k := at.kind(row, col)
	switch {
	case k == Missing && c.named(at, row, col):
		return Text
	case k == Text && c.Type != Categorical && isMark(at.Text(row, col)):
		return Missing
	}
	return k
}

func (in *input) kind(c *Chunk, row int) Kind { return in.kindOf(c, row, in.pos) }

// Level is the category of a cell, as the column reads it.
func (c *Column) Level(at *Chunk, row, col int) string {
	if at.kind(row, col) == Missing && c.named(at, row, col) {
		return at.written(row, col)
	}
	if c.Codes && at.isPadded(row, col) {
		return at.Text(row, col)
	}
	return at.level(row, col)
}

// notFinite is the error about a number that is infinite, or would be as float32.
func notFinite(c *Chunk, row, col int, as *Column) error {
	_, v := c.Cell(row, col)
	if math.IsInf(v, 0) {
		return c.errorf(row, col, "%g is not a finite number", v)
	}
	return c.errorf(row, col, "%g is too far from the training range, %g to %g", v, as.Min, as.Max)
}

// variance is the variance of an encoded input.
func (in *input) variance(c *Chunk, row int, value float64) (float32, error) {
	std := in.Std
	if in.std >= 0 {
		var err error
		std, err = c.positive(row, in.std, "standard deviation")
		if err != nil {
			return 0, err
		}
	}
	r := in.encodeStd(value, std)
	v := float32(r * r)
	if v-v != 0 {
		return 0, c.errorf(row, in.pos, "the standard deviation is %g, too large compared with the standard deviation of the column, %g", std, in.SD)
	}
	return v, nil
}

// positive reads a number that must be finite and not negative.
func (c *Chunk) positive(row, col int, what string) (float64, error) {
	k, v := c.Cell(row, col)
	if k == Number && v >= 0 && !math.IsInf(v, 1) {
		return v, nil
	}
	if k == Missing {
		return 0, c.errorf(row, col, "%s; a finite number ≥ 0 is needed", isGone(c.written(row, col), what))
	}
	return 0, c.errorf(row, col, "the %s is %s; a finite number ≥ 0 is needed", what, c.Text(row, col))
}

// Targets writes the targets of a chunk to y, row-major: numbers as (v − mean)/sd,
// classes as their index. The file must have them.
func (e *Encoder) Targets(c *Chunk, y []float32) error {
	if len(y) != c.rows*len(e.targets) {
		panic("table: y does not have the chunk's rows of targets")
	}
	if !e.HasTargets() {
		var names []string
		for _, t := range e.targets {
			names = append(names, t.Name)
		}
		return fmt.Errorf("%s lacks the target %s; it has %s", e.head.File, join(names), list(e.head.Columns))
	}
	for row := range c.rows {
		for j := range e.targets {
			v, err := e.targets[j].encode(c, row)
			if err != nil {
				return err
			}
			y[row*len(e.targets)+j] = v
		}
	}
	return nil
}

func (t *target) encode(c *Chunk, row int) (float32, error) {
	_, v := c.Cell(row, t.pos)
	k := t.kindOf(c, row, t.pos)
	if k == Text && t.Style != "" {
		if x, ok := t.parse(c.Text(row, t.pos)); ok {
			k, v = Number, x
		}
	}
	switch {
	case k == Missing:
		return 0, missingError(c, row, t.pos, Target)
	case t.Type == Categorical:
		if i, ok := t.levels[t.Level(c, row, t.pos)]; ok {
			return float32(i), nil
		}
		return 0, c.errorf(row, t.pos, "%s is not one of the classes %s", short(c.Text(row, t.pos)), list(t.Levels))
	case k == Text:
		return 0, c.errorf(row, t.pos, "%s is text; the target is a number", short(c.Text(row, t.pos)))
	}
	z := float32((v - t.Mean) / t.SD)
	if z-z != 0 {
		return 0, notFinite(c, row, t.pos, t.Column)
	}
	return z, nil
}

// Weights writes the weights of a chunk's rows to w: 1 if the file has no weights.
func (e *Encoder) Weights(c *Chunk, w []float32) error {
	for row := range c.rows {
		v := 1.0
		if e.weight >= 0 {
			var err error
			v, err = c.positive(row, e.weight, "weight")
			if err != nil {
				return err
			}
		}
		w[row] = float32(v)
	}
	return nil
}
