package schema

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"utvi/internal/notation"
	"utvi/internal/strictjson"
)

// Parse reads a Schema from JSON and refuses invalid ones.
func Parse(data []byte) (*Schema, error) {
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

// checkColumn runs the checks of one column. Those of how it is used concern inputs and targets
// only.
func (s *Schema) checkColumn(c *Column) error {
	roles := []Role{Input, Target, Weight, Group, Time, Std, Dropped}
	if !slices.Contains(roles, c.Role) {
		return fmt.Errorf("the role %q is unknown", c.Role)
	}
	if c.Point != "" && c.Point != "." && c.Point != "," {
		return fmt.Errorf("what stands before fractions is %q; it must be a point or a comma", c.Point)
	}
	if c.Role != Input && c.Role != Target {
		return nil
	}
	for _, check := range []func(*Column) error{
		(*Column).checkNumbers,
		(*Column).checkLevels,
		func(c *Column) error { return c.Scale.check() },
		(*Column).checkType,
		(*Column).checkPicture,
		s.checkTask,
		s.checkEncoding,
		(*Column).checkNumberStyle,
		(*Column).checkTimes,
		(*Column).checkTargetStats,
	} {
		if err := check(c); err != nil {
			return err
		}
	}
	return nil
}

func (c *Column) checkNumbers() error {
	for _, v := range []float64{c.Mean, c.SD, c.Min, c.Max, c.Std} {
		if math.IsInf(v, 0) || v != v {
			return errors.New("a number is not finite")
		}
	}
	return nil
}

func (c *Column) checkLevels() error {
	seen := map[string]bool{}
	for _, l := range c.Levels {
		if seen[l] {
			return fmt.Errorf("the level %s is listed twice", notation.Quote(l))
		}
		seen[l] = true
	}
	return nil
}

// checkPicture checks what the inputs of an image are.
func (c *Column) checkPicture() error {
	switch {
	case (c.Type == Picture) != (c.Image != nil):
		return errors.New("images need a format, and nothing else has one")
	case c.Type == Picture && (c.Role != Input || len(c.Levels) > 0):
		return fmt.Errorf("a %s cannot be an image", c.Role)
	case c.Type == Picture:
		return c.Image.Check()
	}
	return nil
}

func (c *Column) checkType() error {
	switch {
	case c.Type == Picture:
		return nil
	case c.Type != Numeric && c.Type != Categorical && c.Type != Times:
		return fmt.Errorf("the type %q is unknown", c.Type)
	case c.Type != Categorical && !(c.SD > 0):
		return fmt.Errorf("the standard deviation is %g; it must be > 0", c.SD)
	case c.Std < 0:
		return fmt.Errorf("the standard deviation of its values is %g; it must be ≥ 0", c.Std)
	}
	return nil
}

// checkTask checks that the type of a target is that of the task.
func (s *Schema) checkTask(c *Column) error {
	switch {
	case c.Role != Target:
	case (c.Type == Categorical) != (s.Task == Classification):
		return fmt.Errorf("the target of a %s cannot be %s", s.Task, c.Type)
	case c.Type == Categorical && len(c.Levels) < 2:
		return fmt.Errorf("there are %d classes", len(c.Levels))
	}
	return nil
}

func (s *Schema) checkEncoding(c *Column) error {
	const mostLevels = 2 * maxTexts
	switch {
	case c.Embedded && (c.Role != Input || c.Type != Categorical || c.Rarer != 0 || len(c.Levels) > mostLevels):
		return fmt.Errorf("%d levels of a %s %s cannot be embedded", len(c.Levels), c.Type, c.Role)
	case c.Apart && (c.Role != Input || c.Embedded || !s.Impute):
		return fmt.Errorf("missing values of a %s %s cannot have an input", c.Type, c.Role)
	case c.Type != Numeric && (c.Std != 0 || c.StdFrom != ""):
		return fmt.Errorf("a %s column cannot have a standard deviation", c.Type)
	}
	return nil
}

func (c *Column) checkNumberStyle() error {
	switch {
	case c.Style != "" && c.style() != notation.PointStyle && c.style() != notation.CommaStyle:
		return fmt.Errorf("the style of numbers %q is unknown", c.Style)
	case c.Style != "" && c.Type != Numeric:
		return fmt.Errorf("a %s column cannot have a style of numbers", c.Type)
	case c.Codes && c.Type != Categorical:
		return fmt.Errorf("a %s column cannot hold codes", c.Type)
	}
	return nil
}

func (c *Column) checkTimes() error {
	const mostParts = 3
	switch {
	case (c.Type == Times) != (c.Layout != ""):
		return errors.New("times need a layout, and nothing else has one")
	case c.Type == Times && c.Role != Input:
		return fmt.Errorf("a %s cannot be a time", c.Role)
	case c.Type != Times && len(c.Parts) > 0 || len(c.Parts) > mostParts:
		return fmt.Errorf("%d parts of a time in a %s column", len(c.Parts), c.Type)
	}
	for _, p := range c.Parts {
		if p != OfYear && p != OfWeek && p != OfDay {
			return fmt.Errorf("the part of a time %q is unknown", p)
		}
	}
	return nil
}

func (c *Column) checkTargetStats() error {
	bounded := c.Most != 0
	switch {
	case bounded && (c.Role != Target || c.Type != Numeric || c.Most != 1 && c.Most != 100):
		return fmt.Errorf("a %s %s cannot have the upper bound %g", c.Type, c.Role, c.Most)
	case (c.Low != nil || c.High != nil) && (c.Role != Target || c.Type != Numeric):
		return fmt.Errorf("a %s %s cannot have bounds", c.Type, c.Role)
	case c.Counts != nil && len(c.Counts) != len(c.Levels):
		return fmt.Errorf("%d counts of %d classes", len(c.Counts), len(c.Levels))
	}
	for _, n := range c.Counts {
		if n < 0 {
			return fmt.Errorf("a class has %d rows", n)
		}
	}
	return nil
}
