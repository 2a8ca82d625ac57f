package schema

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"utvi/internal/notation"
)

// Bounds are the smallest and the largest value that a target can have, infinite where there is no
// such bound; ok is false if there is none.
func (c *Column) Bounds() (low, high float64, ok bool) {
	low, high = math.Inf(-1), math.Inf(1)
	if c.Most > 0 {
		return 0, c.Most, true
	}
	if c.Low != nil {
		low = *c.Low
	}
	if c.High != nil {
		high = *c.High
	}
	return low, high, c.Low != nil || c.High != nil
}

// boundsText says what the bounds are, "" without any.
func (c *Column) boundsText() string {
	switch low, high, ok := c.Bounds(); {
	case !ok:
		return ""
	case math.IsInf(high, 1):
		return "never below " + notation.Digits(low)
	case math.IsInf(low, -1):
		return "never above " + notation.Digits(high)
	default:
		return "from " + notation.Digits(low) + " to " + notation.Digits(high)
	}
}

// CheckTargetRange reports a range that cannot be read: two numbers with a colon between, of which
// either may be left out.
func (s *Spec) CheckTargetRange() error {
	_, _, err := s.targetRange()
	return err
}

// targetRange are the bounds that the user gives, nil where there is none.
func (s *Spec) targetRange() (low, high *float64, err error) {
	if s.TargetRange == "" {
		return nil, nil, nil
	}
	from, to, colon := strings.Cut(s.TargetRange, ":")
	wrong := fmt.Errorf("the range of the target is %s; it must be two numbers with a colon between, such as 0:100, 0: or :100, or : for no bounds", notation.Quote(s.TargetRange))
	if !colon {
		return nil, nil, wrong
	}
	bound := func(text string) *float64 {
		v, failed := strconv.ParseFloat(strings.TrimSpace(text), 64)
		switch {
		case strings.TrimSpace(text) == "":
			return nil
		case failed != nil || math.IsInf(v, 0) || v != v:
			err = wrong
		}
		return &v
	}
	low, high = bound(from), bound(to)
	if err == nil && low != nil && high != nil && *low >= *high {
		err = wrong
	}
	return low, high, err
}

// fewestBounded is how many rows show that a target is never negative.
const fewestBounded = 30

// limit finds the bounds of a target: those that the user gives or, where no row is negative and the
// smallest value is near 0, 0.
func (in *inference) limit(c *Column, p *profile) error {
	low, high, err := in.targetRange()
	if err != nil {
		return err
	}
	if in.TargetRange != "" {
		c.Most = 0
		c.Low = low
		c.High = high
		least, most, _ := c.Bounds()
		if c.Min < least || c.Max > most {
			return fmt.Errorf("%s: the target %s has values from %s to %s, beyond its range %s", in.head.File, c.Name, notation.Digits(c.Min), notation.Digits(c.Max), in.TargetRange)
		}
		return nil
	}
	if c.Most == 0 && p.numbers >= fewestBounded && c.Min >= 0 && c.Min <= c.SD {
		c.Low = new(float64)
	}
	return nil
}
