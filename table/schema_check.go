package table

import (
	"fmt"
	"math"

	"utvi/internal/strictjson"
)

// ParseSchema reads a Schema from JSON and refuses invalid ones.
func ParseSchema(data []byte) (*Schema, error) {
	s := &Schema{}
	err := strictjson.Unmarshal(data, s)
	if err == nil {
		err = s.check()
	}
	if err != nil {
		return nil, fmt.Errorf("table schema: %w", err)
	}
	return s, nil
}

// check holds everything that encoding relies on.
func (s *Schema) check() error {
	if s.Task != Regression && s.Task != Classification {
		return fmt.Errorf("the task %q is unknown", s.Task)
	}
	byName := map[string]*Column{}
	inputs, targets := 0, 0
	for i := range s.Columns {
		c := &s.Columns[i]
		if byName[c.Name] != nil {
			return fmt.Errorf("column %s is listed twice", c.Name)
		}
		byName[c.Name] = c
		if err := s.checkColumn(c); err != nil {
			return fmt.Errorf("column %s: %w", c.Name, err)
		}
		inputs += s.width(c)
		if c.Role == Target {
			targets++
		}
	}
	for _, c := range s.Columns {
		if std := byName[c.StdFrom]; c.StdFrom != "" && (std == nil || std.Role != Std) {
			return fmt.Errorf("column %s: the column %s of its standard deviations is missing", c.Name, c.StdFrom)
		}
	}
	switch {
	case targets == 0:
		return fmt.Errorf("no column is a target")
	case inputs == 0:
		return fmt.Errorf("no column is an input")
	case s.Task == Classification && targets > 1:
		return fmt.Errorf("a classification has one target, not %d", targets)
	}
	return nil
}

func (s *Schema) checkColumn(c *Column) error {
	switch c.Role {
	case Input, Target, Weight, Group, Time, Std, Dropped:
	default:
		return fmt.Errorf("the role %q is unknown", c.Role)
	}
	if c.Point != "" && c.Point != "." && c.Point != "," {
		return fmt.Errorf("what stands before fractions is %q; it must be a point or a comma", c.Point)
	}
	if c.Role != Input && c.Role != Target {
		return nil
	}
	for _, v := range []float64{c.Mean, c.SD, c.Min, c.Max, c.Std} {
		if math.IsInf(v, 0) || v != v {
			return fmt.Errorf("a number is not finite")
		}
	}
	seen := map[string]bool{}
	for _, l := range c.Levels {
		if seen[l] {
			return fmt.Errorf("the level %s is listed twice", short(l))
		}
		seen[l] = true
	}
	if err := c.Scale.check(); err != nil {
		return err
	}
	switch {
	case c.Type != Numeric && c.Type != Categorical && c.Type != Times:
		return fmt.Errorf("the type %q is unknown", c.Type)
	case c.Type != Categorical && !(c.SD > 0):
		return fmt.Errorf("the standard deviation is %g; it must be > 0", c.SD)
	case c.Std < 0:
		return fmt.Errorf("the standard deviation of its values is %g; it must be ≥ 0", c.Std)
	case c.Role == Target && (c.Type == Categorical) != (s.Task == Classification):
		return fmt.Errorf("the target of a %s cannot be %s", s.Task, c.Type)
	case c.Role == Target && c.Type == Categorical && len(c.Levels) < 2:
		return fmt.Errorf("there are %d classes", len(c.Levels))
	case c.Embedded && (c.Role != Input || c.Type != Categorical || c.Rarer != 0 || len(c.Levels) > 2*maxTexts):
		return fmt.Errorf("%d levels of a %s %s cannot be embedded", len(c.Levels), c.Type, c.Role)
	case c.Apart && (c.Role != Input || c.Embedded || !s.Impute):
		return fmt.Errorf("missing values of a %s %s cannot have an input", c.Type, c.Role)
	case c.Type != Numeric && (c.Std != 0 || c.StdFrom != ""):
		return fmt.Errorf("a %s column cannot have a standard deviation", c.Type)
	}
	return c.checkReading()
}

// checkReading checks how the cells of a column are read.
func (c *Column) checkReading() error {
	switch {
	case c.Style != "" && c.Style != PointStyle && c.Style != CommaStyle:
		return fmt.Errorf("the style of numbers %q is unknown", c.Style)
	case c.Style != "" && c.Type != Numeric:
		return fmt.Errorf("a %s column cannot have a style of numbers", c.Type)
	case c.Codes && c.Type != Categorical:
		return fmt.Errorf("a %s column cannot hold codes", c.Type)
	case (c.Type == Times) != (c.Layout != ""):
		return fmt.Errorf("times need a layout, and nothing else has one")
	case c.Type == Times && c.Role != Input:
		return fmt.Errorf("a %s cannot be a time", c.Role)
	case c.Type != Times && len(c.Parts) > 0 || len(c.Parts) > 3:
		return fmt.Errorf("%d parts of a time in a %s column", len(c.Parts), c.Type)
	case c.Most != 0 && c.Most != 1 && c.Most != 100 || c.Most != 0 && (c.Role != Target || c.Type != Numeric):
		return fmt.Errorf("a %s %s cannot have the upper bound %g", c.Type, c.Role, c.Most)
	case c.Counts != nil && len(c.Counts) != len(c.Levels):
		return fmt.Errorf("%d counts of %d classes", len(c.Counts), len(c.Levels))
	}
	for _, p := range c.Parts {
		if p != OfYear && p != OfWeek && p != OfDay {
			return fmt.Errorf("the part of a time %q is unknown", p)
		}
	}
	for _, n := range c.Counts {
		if n < 0 {
			return fmt.Errorf("a class has %d rows", n)
		}
	}
	return nil
}
