package schema

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"utvi/internal/advice"
	"utvi/internal/notation"
)

// missingTargets refuses rows without a target and says how many there are.
func (in *inference) missingTargets(rows int) error {
	for col, role := range in.roles {
		p := in.profiles[col]
		switch {
		case role != Target || p.missing == 0:
		case p.missing == 1:
			return fmt.Errorf("%s; remove the row", p.firstMissing.sentence("target"))
		default:
			return fmt.Errorf("%s, as in %d of %d rows to train with; remove them", p.firstMissing.sentence("target"), p.missing, rows)
		}
	}
	return nil
}

// target decides what a target is: numbers or classes.
func (in *inference) target(c *Column, p *profile, task Task) error {
	if p.as == nil {
		if err := in.unpredictable(c, p); err != nil {
			return err
		}
	}
	if task == Regression {
		return in.numericTarget(c, p)
	}
	return in.classes(c, p)
}

func (in *inference) numericTarget(c *Column, p *profile) error {
	if p.numbersWithTexts(in.MaxLevels) {
		return p.textAmongNumbers(c)
	}
	if p.texts > 0 || p.time != nil {
		return fmt.Errorf("%s; the target of a regression must be a number", p.firstText)
	}
	if err := in.numeric(c, p); err != nil {
		return err
	}
	if c.Role == Dropped {
		return in.constantTarget(c, notation.Label(p.min), p.numbers)
	}
	c.Whole = p.whole && p.min >= 0 && p.style == nil
	c.Most = c.share()
	return in.limit(c, p)
}

// classes makes a target of classes, in ascending order.
func (in *inference) classes(c *Column, p *profile) error {
	if err := in.mixedMoney(c, p); err != nil && in.Task == "" {
		return err
	}
	if in.Task == "" && p.as == nil {
		if err := in.amountsAsClasses(c, p); err != nil {
			return err
		}
	}
	levels, counted := p.levels()
	if err := in.checkClasses(c, p, levels, counted); err != nil {
		return err
	}
	c.becomeCategorical(p, levels)
	if in.Task == "" && !slices.Contains(in.Categorical, c.Name) {
		c.warn(in.warnNames(p, "they are read as classes"))
	}
	c.warn(warnCase(levels, "classes"))
	if p.noneIsName {
		c.Note = also(c.Note, "None is read as a name")
	}
	in.keepDecimal(c, p)
	slices.SortFunc(c.Levels, compareLevels)
	for _, l := range c.Levels {
		c.Counts = append(c.Counts, p.count(l))
	}
	return nil
}

// amountsAsClasses refuses a target of amounts in several units, which would become classes. Few of
// them may be names, such as sizes.
func (in *inference) amountsAsClasses(c *Column, p *profile) error {
	const few = 10
	s := p.inUnits()
	if s == nil || !s.varied || len(p.textCount) <= few || slices.Contains(in.Categorical, c.Name) {
		return nil
	}
	a, b := s.examples(p.firstNumber)
	if b.text == "" {
		return nil
	}
	return advice.Errorf("%s: the target %s holds amounts in several units (%s); write all as plain numbers in one unit, or %v if they are names",
		in.head.File, c.Name, pairIn(in.head, a, b), advice.Set("Categorical", c.Name))
}

// checkClasses refuses classes of which nothing can be learned.
func (in *inference) checkClasses(c *Column, p *profile, levels []string, counted bool) error {
	const maxClasses = 1000
	const few = 20 // rows that may all differ by chance
	n := p.numbers + p.texts
	switch {
	case !counted || len(levels) > maxClasses:
		return fmt.Errorf("%s: the target %s has more than %d different values; is this a regression?", in.head.File, c.Name, maxClasses)
	case len(levels) == 1:
		return in.constantTarget(c, notation.Quote(levels[0]), n)
	case n >= few && 2*len(levels) > n:
		return fmt.Errorf("%s: the target %s has %d classes in %d training rows; classes must repeat to be learned", in.head.File, c.Name, len(levels), n)
	}
	return nil
}

// ConstantTarget is the error about a target that does not differ between rows.
type ConstantTarget struct{ message string }

// Error says which target it is, and what it always is.
func (e *ConstantTarget) Error() string { return e.message }

func (in *inference) constantTarget(c *Column, value string, rows int) error {
	where := fmt.Sprintf("all %d training rows", rows)
	if rows == 1 {
		where = "the only training row"
	}
	return &ConstantTarget{fmt.Sprintf("%s: the target %s is %s in %s; there is nothing to learn", in.head.File, c.Name, value, where)}
}

// severalTargets refuses classes among several targets, and says which targets hold them.
func (in *inference) severalTargets(task Task) error {
	var numbers, names []string
	for i, name := range in.head.Columns {
		switch {
		case in.roles[i] != Target:
		case in.holdsNames(name):
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
	return fmt.Errorf("%s: several targets must all be numbers; %s %s numbers, %s names", in.head.File, notation.List(numbers), verb, notation.List(names))
}

// holdsNames reports whether a target holds names, or numbers that the user calls so.
func (in *inference) holdsNames(target string) bool {
	p := in.profiles[in.head.Column(target)]
	return slices.Contains(in.Categorical, target) || p.texts > 0 && !p.numbersWithTexts(in.MaxLevels)
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

// compareLevels sorts numbers by value, before texts.
func compareLevels(a, b string) int {
	x, n := notation.ScanFloat([]byte(a), '.')
	y, m := notation.ScanFloat([]byte(b), '.')
	xIs, yIs := n == len(a), m == len(b)
	switch {
	case xIs && yIs:
		return cmp.Or(cmp.Compare(x, y), strings.Compare(a, b))
	case xIs:
		return -1
	case yIs:
		return 1
	}
	return strings.Compare(a, b)
}
