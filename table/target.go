package table

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

func (in *inference) target(c *Column, p *profile, task Task) error {
	if err := in.untold(c, p); err != nil {
		return err
	}
	chosen := in.Task != "" || slices.Contains(in.Categorical, c.Name)
	if task == Regression {
		if p.mixed(in.MaxLevels) {
			return p.stray(c)
		}
		if p.texts > 0 || p.time != nil {
			return fmt.Errorf("%s; the target of a regression must be a number", p.firstText)
		}
		if err := in.numeric(c, p); err != nil {
			return err
		}
		c.Whole = p.whole && p.min >= 0 && p.style == nil
		c.Most = c.share()
		if c.Role == Dropped {
			return &ConstantTarget{fmt.Sprintf("%s: the target %s is %s in %s; there is nothing to learn", in.head.File, c.Name, label(p.min), allRows(p.numbers))}
		}
		return nil
	}
	if err := in.mixedMoney(c, p); err != nil && in.Task == "" {
		return err
	}
	const maxClasses = 1000
	levels, counted := p.levels()
	if !counted || len(levels) > maxClasses {
		return fmt.Errorf("%s: the target %s has more than %d different values; is this a regression?", in.head.File, c.Name, maxClasses)
	}
	if len(levels) == 1 {
		return &ConstantTarget{fmt.Sprintf("%s: the target %s is %s in %s; there is nothing to learn", in.head.File, c.Name, short(levels[0]), allRows(p.numbers+p.texts))}
	}
	const few = 20 // rows that may all differ by chance
	if n := p.numbers + p.texts; n >= few && 2*len(levels) > n {
		return fmt.Errorf("%s: the target %s has %d classes in %d training rows; classes must repeat to be learned", in.head.File, c.Name, len(levels), n)
	}
	c.Type = Categorical
	c.Levels = levels
	c.NA = p.isName
	c.None = p.isNone
	c.Codes = p.codes
	c.Note = p.codesNote()
	if !chosen {
		c.Odd = in.oddNames(c, p, "they are read as classes")
	}
	c.Odd = also(c.Odd, oddCase(levels, "classes"))
	if p.isNone {
		c.Note = also(c.Note, "None is read as a name")
	}
	in.written(c, p)
	slices.SortFunc(c.Levels, compareLevels)
	for _, l := range c.Levels {
		c.Counts = append(c.Counts, p.count(l))
	}
	return nil
}

// severalTargets refuses classes among several targets, and says which targets hold them.
func (in *inference) severalTargets(task Task) error {
	var numbers, names []string
	for i, name := range in.head.Columns {
		switch {
		case in.roles[i] != Target:
		case in.isNames(name):
			names = append(names, name)
		default:
			numbers = append(numbers, name)
		}
	}
	n := len(numbers) + len(names)
	if task != Classification || n < 2 {
		return nil
	}
	if numbers == nil || in.Task != "" {
		return fmt.Errorf("%s: a classification has one target, not %d", in.head.File, n)
	}
	verb := "holds"
	if len(numbers) > 1 {
		verb = "hold"
	}
	return fmt.Errorf("%s: several targets must all be numbers; %s %s numbers, %s names", in.head.File, list(numbers), verb, list(names))
}

// isNames reports whether a target holds names, or numbers that the user calls so.
func (in *inference) isNames(target string) bool {
	p := in.profiles[in.head.Column(target)]
	return slices.Contains(in.Categorical, target) || p.texts > 0 && !p.mixed(in.MaxLevels)
}

// share recognises a target that is a share of a whole, and returns the whole, 1 or 100. No value
// may lie outside. Those of 1 come near both ends. Per cent, by their sign or by the column's
// name, come near 100; other numbers reach 0 and 100 themselves, since many numbers that could
// be larger happen to end there, and whole ones may be counts.
func (c *Column) share() float64 {
	const near = 0.05
	switch {
	case c.Min < 0:
		return 0
	case c.Max <= 1 && c.Max >= 1-near && c.Min <= near:
		return 1
	case c.Max <= 100 && c.Max >= 100*(1-near) && c.perCent():
		return 100
	case c.Max == 100 && c.Min == 0 && !c.Whole:
		return 100
	}
	return 0
}

// perCent reports whether the cells or the name of a column say that it holds per cent.
func (c *Column) perCent() bool {
	if c.Unit == "%" {
		return true
	}
	words := strings.FieldsFunc(strings.ToLower(c.Name), func(r rune) bool { return !unicode.IsLetter(r) && r != '%' })
	return slices.ContainsFunc(words, func(w string) bool {
		return strings.Contains(w, "%") || w == "pct" || w == "percent" || w == "percentage" || w == "prozent"
	})
}

func allRows(n int) string {
	if n == 1 {
		return "the only training row"
	}
	return fmt.Sprintf("all %d training rows", n)
}

// ConstantTarget is the error about a target that does not differ between rows.
type ConstantTarget struct{ message string }

func (e *ConstantTarget) Error() string { return e.message }

// compareLevels sorts numbers by value, before texts.
func compareLevels(a, b string) int {
	x, n := scanFloat([]byte(a), '.')
	y, m := scanFloat([]byte(b), '.')
	switch xIs, yIs := n == len(a), m == len(b); {
	case xIs && yIs && x != y:
		if x < y {
			return -1
		}
		return 1
	case xIs != yIs:
		if xIs {
			return -1
		}
		return 1
	}
	return strings.Compare(a, b)
}
