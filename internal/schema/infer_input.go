package schema

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"utvi/internal/notation"
)

// input decides what an input is: nothing, times, numbers or names.
func (in *inference) input(c *Column, p *profile) error {
	if in.Format != nil && c.Name == in.Image {
		in.picture(c)
		return nil
	}
	if p.numbers+p.texts == 0 && p.infinite == "" {
		c.drop("only missing values")
		return nil
	}
	decide := in.typed
	if p.as != nil {
		decide = in.typedAs
	}
	err := decide(c, p)
	if err == nil && c.Role == Input && c.Missing > 0 && !in.Impute {
		return &MissingValue{p.firstMissing.sentence("value"), c.Name}
	}
	return err
}

// picture makes a column one of images.
func (in *inference) picture(c *Column) {
	c.Type = Picture
	c.Image = in.Format
}

// typed decides on the type of an input.
func (in *inference) typed(c *Column, p *profile) error {
	std, hasStd := in.InputStd[c.Name]
	chosen := slices.Contains(in.Categorical, c.Name)
	switch {
	case chosen:
	case p.texts == 0 && p.style == nil && p.holdsCompactDates() && !hasStd:
		in.compactDates(c, p)
		return nil
	case p.time != nil && hasStd:
		return fmt.Errorf("column %s holds times and cannot have the input standard deviation %g", c.Name, std)
	case p.time != nil:
		in.times(c, p)
		return nil
	case p.texts > 0:
		if err := in.mixedMoney(c, p); err != nil {
			return err
		}
		if p.nearlyNumbers() && p.different(fewNumbers) {
			return p.textAmongNumbers(c)
		}
	}
	if chosen || p.texts > 0 || p.oneNumberOrNone() {
		if hasStd {
			return fmt.Errorf("column %s is categorical and cannot have the input standard deviation %g", c.Name, std)
		}
		return in.categorical(c, p, chosen)
	}
	c.Std = std
	err := in.numeric(c, p)
	if err == nil && c.Role == Input {
		c.Apart = in.Impute
		c.chooseScale(p)
	}
	return err
}

// oneNumberOrNone recognises a column that holds one number or nothing: the cells that are missing
// are what it says.
func (p *profile) oneNumberOrNone() bool {
	return p.missing > 0 && p.numbers > 0 && p.min == p.max && p.style == nil && p.placeholders == nil
}

// chooseScale decides how an input is scaled, and warns of numbers that look like marks.
func (c *Column) chooseScale(p *profile) {
	scale, sentinels := newScale(p.sample.numbers)
	c.Scale = scale
	for _, s := range sentinels {
		if s.common {
			continue
		}
		note := fmt.Sprintf("%.2g %% of the values are %s, far from all others; leave such cells empty if they mark missing values", 100*s.share, notation.Digits(s.value))
		c.Note = also(c.Note, note)
		c.warn(note)
	}
}

// numeric makes a column of numbers.
func (in *inference) numeric(c *Column, p *profile) error {
	if p.infinite != "" {
		return errors.New(p.infinite)
	}
	c.Type = Numeric
	c.Stats = p.stats()
	if c.SD-c.SD != 0 || c.Mean-c.Mean != 0 { // infinite or no number
		return fmt.Errorf("column %s spans %g to %g, too wide a range for its mean and deviation", c.Name, c.Min, c.Max)
	}
	if !(c.SD > 0) || c.Min == c.Max {
		*c = Column{Name: c.Name, Stats: Stats{Missing: c.Missing}}
		c.drop("constant: " + notation.Label(p.min))
	}
	c.Marks = p.placeholderList()
	if s := p.style; s != nil {
		c.Style = string(s.style)
		c.Unit = s.unit
		c.Note = fmt.Sprintf("%s is read as %s", notation.Quote(s.example), notation.Digits(s.exampleValue))
	} else if p.point == ',' && !p.whole && c.Role != Dropped {
		c.Note = in.commaNote(c, p)
	}
	in.keepDecimal(c, p)
	return nil
}

// compactDates makes a column of dates that are written as whole numbers.
func (in *inference) compactDates(c *Column, p *profile) {
	p.time = p.compactDates
	p.times = []*times{p.compactDates}
	in.times(c, p)
	if c.Role == Input {
		c.Note = "read as dates, the year first; name the column as categorical if they are not"
	}
}

// times makes a column of dates or times: a trend, and the place within the year, the
// week and the day.
func (in *inference) times(c *Column, p *profile) {
	t := p.time
	c.SD = math.Sqrt(t.m2 / float64(t.numbers))
	if !(c.SD > 0) {
		c.drop("the same time in every row")
		return
	}
	c.Type = Times
	c.Layout = t.layout
	c.Parts = t.parts()
	c.Marks = p.placeholderList()
	c.Mean = t.mean
	c.Min = t.min
	c.Max = t.max
	c.Apart = in.Impute
	for _, other := range p.times[1:] {
		if other.min != t.min || other.max != t.max || other.mean != t.mean { // the day or the month first
			c.Note = fmt.Sprintf("read as %s; the cells also fit %s", notation.TimeInWords(t.layout), notation.TimeInWords(other.layout))
			break
		}
	}
}

// categorical makes a column of names. Names that hardly repeat tell nothing about other rows
// and are dropped, unless the user chose the column.
func (in *inference) categorical(c *Column, p *profile, chosen bool) error {
	levels, counted := p.levels()
	if len(levels) == 1 && counted && p.missing == 0 {
		c.drop("constant: " + levels[0])
		return nil
	}
	tells := in.tellsNothing(p, levels, counted)
	if chosen {
		if err := in.checkChosen(c, p, levels, counted); err != nil {
			return err
		}
		tells = ""
	} else if tells != "" {
		c.warn(in.warnNames(p, "the column is left out"))
	} else {
		c.warn(in.warnNames(p, "they are read as names"))
	}
	mixture := p.unitNote()
	if tells != "" {
		c.drop(tells)
		if why := cmp.Or(p.whyNotDates(in.head), mixture, p.codesNote()); why != "" {
			c.Note += ": " + why
		}
		return nil
	}
	c.becomeCategorical(p, levels)
	in.keepDecimal(c, p)
	switch {
	case p.naIsName:
		c.Note = "NA is read as a name"
	case p.noneIsName:
		c.Note = "None is read as a name"
	case mixture != "":
		c.Note = mixture + ", so they are read as names"
	}
	c.warn(warnCase(levels, "names"))
	c.Embedded = len(levels) > in.MaxLevels
	c.Apart = !c.Embedded && p.missing > 0
	return nil
}

// becomeCategorical stores the levels of a column, and how its cells are read.
func (c *Column) becomeCategorical(p *profile, levels []string) {
	c.Type = Categorical
	c.Levels = levels
	c.NA = p.naIsName
	c.None = p.noneIsName
	c.Codes = p.codes
	c.Note = p.codesNote()
}

// fewRows may all differ by chance.
const fewRows = 10

// tellsNothing says why names tell nothing about other rows, "" if they do.
func (in *inference) tellsNothing(p *profile, levels []string, counted bool) string {
	n := p.numbers + p.texts
	switch {
	case len(levels) == n && n > fewRows:
		return "text that differs in every row"
	case len(levels) > in.MaxLevels && (!counted || 2*len(levels) > n):
		return "text of more than " + strconv.Itoa(in.MaxLevels) + " different values, mostly unique"
	}
	return ""
}

// checkChosen refuses a column that the user calls categorical if nothing can be learned from it.
func (in *inference) checkChosen(c *Column, p *profile, levels []string, counted bool) error {
	n := p.numbers + p.texts
	switch {
	case !counted:
		return fmt.Errorf("%s: column %s cannot be categorical: it has more than %d different values; ignore the column", in.head.File, c.Name, maxTexts)
	case len(levels) == n && n > fewRows:
		return fmt.Errorf("%s: column %s cannot be categorical: its %d values all differ in the rows to learn from; ignore the column", in.head.File, c.Name, n)
	}
	return nil
}
