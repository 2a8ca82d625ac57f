package schema

import (
	"fmt"
	"math"
	"slices"

	"utvi/gauss"
	"utvi/internal/notation"
	"utvi/table"
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

// ByPosition reports whether the columns were matched by their order, because the file
// or the training table has no names.
func (e *Encoder) ByPosition() bool { return !e.schema.Named || !e.head.Named }

// Inputs writes the inputs of a chunk to x, a batch of its rows and Width columns:
// numbers by Column.Encode, with a variance that passes the same scale, categories as one-hot. Without
// x.Var variances are left out.
func (e *Encoder) Inputs(c *table.Chunk, x gauss.Batch[float32]) error {
	if x.Rows != c.Rows() || x.Width != e.width {
		panic("schema: the batch does not have the chunk's rows and the encoder's width")
	}
	clear(x.Mean)
	clear(x.Var)
	e.remarkNoPercent(c)
	for row := range x.Rows {
		if err := e.row(c, row, x, false); err != nil {
			return err
		}
	}
	return nil
}

// InputsAside is Inputs that sets rows aside whose cells cannot be read: aside says which, and their
// inputs are 0. SetAside counts them.
func (e *Encoder) InputsAside(c *table.Chunk, x gauss.Batch[float32], aside []bool) {
	clear(x.Mean)
	clear(x.Var)
	e.remarkNoPercent(c)
	for row := range x.Rows {
		err := e.row(c, row, x, true)
		aside[row] = err != nil
		if err == nil {
			continue
		}
		e.remarkAside(c, row, err)
		clear(x.Mean[row*e.width : (row+1)*e.width])
		if x.Var != nil {
			clear(x.Var[row*e.width : (row+1)*e.width])
		}
	}
}

// row writes the inputs of a row; aside says what becomes of an image that cannot be read.
func (e *Encoder) row(c *table.Chunk, row int, x gauss.Batch[float32], aside bool) error {
	cells := c.Numbers(row)
	mean := x.Mean[row*e.width : (row+1)*e.width]
	for i := range e.inputs {
		in := &e.inputs[i]
		if in.Type == Picture {
			if err := e.picture(c, row, i, mean[in.at:in.at+in.width], aside); err != nil {
				return err
			}
			continue
		}
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
	return nil
}

// special encodes what is not a finite number in a numeric column.
func (e *Encoder) special(c *table.Chunk, row, i int, mean []float32) error {
	in := &e.inputs[i]
	kind := in.kindOf(c, row, in.pos)
	switch {
	case kind == table.Missing && !e.schema.Impute:
		return c.Errorf(row, in.pos, "%s; only a model trained to impute missing values accepts that", isMissing(c.Written(row, in.pos), "value"))
	case in.Type == Categorical:
		e.category(c, row, i, kind, mean)
		return nil
	case kind == table.Missing:
		if e.schema.MarksMissing(in.Column) {
			mean[in.at+in.width-1] = 1
		}
		return nil // the mean is 0
	case in.Type == Times:
		return in.time(c, row, mean)
	case kind == table.Text && in.Style != "":
		return in.styledNumber(c, row, mean)
	case kind == table.Text:
		return c.Errorf(row, in.pos, "%s", needsNumber(c.Text(row, in.pos)))
	}
	return notFinite(c, row, in.pos, in.Column)
}

// category encodes the level of a cell, as one-hot or, of an embedded column, by its number.
func (e *Encoder) category(c *table.Chunk, row, i int, kind table.Kind, mean []float32) {
	in := &e.inputs[i]
	level := len(in.Levels) // other
	if kind != table.Missing {
		if known, ok := in.levels[in.Level(c, row, in.pos)]; ok {
			level = known
		} else {
			e.remarkUnknownLevel(c, row, i)
		}
	} else if in.Embedded || in.Apart {
		level++
	}
	if in.Embedded {
		mean[in.at] = float32(level)
	} else {
		mean[in.at+level] = 1
	}
}

// styledNumber encodes a number with groups or a unit.
func (in *input) styledNumber(c *table.Chunk, row int, mean []float32) error {
	text := c.Text(row, in.pos)
	v, ok := in.parse(text)
	z := float32(in.Encode(v))
	if !ok || z-z != 0 {
		return c.Errorf(row, in.pos, "%s is not a number such as %s", notation.Quote(text), in.sampleNumber())
	}
	mean[in.at] = z
	return nil
}

// kindOf is what a cell holds, as the column reads it.
func (c *Column) kindOf(at *table.Chunk, row, col int) table.Kind {
	k, _ := at.Cell(row, col)
	switch {
	case k == table.Missing && c.isName(at, row, col):
		return table.Text
	case k == table.Text && c.Type != Categorical && notation.IsPlaceholder(at.Text(row, col)):
		return table.Missing
	}
	return k
}

// Level is the category of a cell, as the column reads it.
func (c *Column) Level(at *table.Chunk, row, col int) string {
	if k, _ := at.Cell(row, col); k == table.Missing && c.isName(at, row, col) {
		return at.Written(row, col)
	}
	if c.Codes && at.Padded(row, col) {
		return at.Text(row, col)
	}
	return at.Level(row, col)
}

// notFinite is the error about a number that is infinite, or would be as float32.
func notFinite(c *table.Chunk, row, col int, as *Column) error {
	_, v := c.Cell(row, col)
	if math.IsInf(v, 0) {
		return c.Errorf(row, col, "%g is not a finite number", v)
	}
	return c.Errorf(row, col, "%g is too far from the training range, %g to %g", v, as.Min, as.Max)
}

// variance is the variance of an encoded input.
func (in *input) variance(c *table.Chunk, row int, value float64) (float32, error) {
	std := in.Std
	if in.std >= 0 {
		var err error
		std, err = notNegative(c, row, in.std, "standard deviation")
		if err != nil {
			return 0, err
		}
	}
	r := in.encodeStd(value, std)
	v := float32(r * r)
	if v-v != 0 {
		return 0, c.Errorf(row, in.pos, "the standard deviation is %g, too large compared with the standard deviation of the column, %g", std, in.SD)
	}
	return v, nil
}

// notNegative reads a number that must be finite and not negative.
func notNegative(c *table.Chunk, row, col int, what string) (float64, error) {
	k, v := c.Cell(row, col)
	if k == table.Number && v >= 0 && !math.IsInf(v, 1) {
		return v, nil
	}
	if k == table.Missing {
		return 0, c.Errorf(row, col, "%s; a finite number ≥ 0 is needed", isMissing(c.Written(row, col), what))
	}
	return 0, c.Errorf(row, col, "the %s is %s; a finite number ≥ 0 is needed", what, c.Text(row, col))
}

// Targets writes the targets of a chunk to y, row-major: numbers as (v − mean)/sd,
// classes as their index. The file must have them.
func (e *Encoder) Targets(c *table.Chunk, y []float32) error {
	if len(y) != c.Rows()*len(e.targets) {
		panic("schema: y does not have the chunk's rows of targets")
	}
	if !e.HasTargets() {
		var names []string
		for _, t := range e.targets {
			names = append(names, t.Name)
		}
		return fmt.Errorf("%s lacks the target %s; it has %s", e.head.File, notation.Join(names), notation.List(e.head.Columns))
	}
	for row := range c.Rows() {
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

func (t *target) encode(c *table.Chunk, row int) (float32, error) {
	_, v := c.Cell(row, t.pos)
	kind := t.kindOf(c, row, t.pos)
	if kind == table.Text && t.Style != "" {
		if x, ok := t.parse(c.Text(row, t.pos)); ok {
			kind, v = table.Number, x
		}
	}
	switch {
	case kind == table.Missing:
		return 0, missingError(c, row, t.pos, Target)
	case t.Type == Categorical:
		if i, ok := t.levels[t.Level(c, row, t.pos)]; ok {
			return float32(i), nil
		}
		return 0, c.Errorf(row, t.pos, "%s is not one of the classes %s", notation.Quote(c.Text(row, t.pos)), notation.List(t.Levels))
	case kind == table.Text:
		return 0, c.Errorf(row, t.pos, "%s is text; the target is a number", notation.Quote(c.Text(row, t.pos)))
	}
	z := float32((v - t.Mean) / t.SD)
	if z-z != 0 {
		return 0, notFinite(c, row, t.pos, t.Column)
	}
	return z, nil
}

// Complete reports whether a row has all its targets.
func (e *Encoder) Complete(c *table.Chunk, row int) bool {
	for i := range e.targets {
		if t := &e.targets[i]; t.pos >= 0 && t.kindOf(c, row, t.pos) == table.Missing {
			return false
		}
	}
	return true
}

// Weights writes the weights of a chunk's rows to w: 1 if the file has no weights.
func (e *Encoder) Weights(c *table.Chunk, w []float32) error {
	for row := range c.Rows() {
		v := 1.0
		if e.weight >= 0 {
			var err error
			v, err = notNegative(c, row, e.weight, "weight")
			if err != nil {
				return err
			}
		}
		w[row] = float32(v)
	}
	return nil
}
