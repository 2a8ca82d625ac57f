package schema

import (
	"slices"

	"utvi/table"
)

// InferAs is Infer where another schema of the same columns, from more rows, has settled what the
// columns are and how their cells are read. Means, deviations and levels come from these rows. So a
// cell that only held-out rows have, such as a text among numbers, cannot contradict what the
// training rows alone look like.
func InferAs(settled *Schema, rows table.Source, spec Spec) (*Schema, error) {
	return inferFrom(rows, spec, settled)
}

// settleAs makes of the cells what the settled column is.
func (p *profile) settleAs(as *Column) {
	switch as.Type {
	case Categorical:
		p.settleNames(as)
		return
	case Times:
		p.settleTimes(as)
	case Numeric:
		for _, s := range p.styled {
			if p.texts > 0 && s != nil && string(s.style) == as.Style {
				p.becomeNumbers(s)
				break
			}
		}
	}
	p.placeholdersAreMissing()
	p.firstMissing.earlier(p.na.first)
	p.firstMissing.earlier(p.none.first)
}

func (p *profile) settleNames(as *Column) {
	if as.NA {
		p.makeNames(&p.na)
	}
	if as.None {
		p.makeNames(&p.none)
	}
	p.namesInTexts = p.texts
	for s, n := range p.placeholders {
		p.textCount[s] += n
		p.texts += n
	}
	p.placeholders = nil
	p.firstMissing.earlier(p.na.first)
	p.firstMissing.earlier(p.none.first)
}

func (p *profile) settleTimes(as *Column) {
	if p.compactDates != nil && p.compactDates.layout == as.Layout {
		p.time = p.compactDates
		p.times = []*times{p.compactDates}
		return
	}
	at := slices.IndexFunc(p.times, func(t *times) bool { return t.layout == as.Layout })
	if at >= 0 {
		p.time = p.times[at]
		p.times = p.times[at:]
	}
}

// typedAs decides on an input as a settled column is. A column that is left out there is left out
// here.
func (in *inference) typedAs(c *Column, p *profile) error {
	as := p.as
	switch {
	case as.Role == Dropped:
		c.drop(as.Note)
		return nil
	case as.Type == Categorical:
		return in.categorical(c, p, slices.Contains(in.Categorical, c.Name))
	case as.Type == Times && p.time != nil:
		in.times(c, p)
		return nil
	}
	c.Std = in.InputStd[c.Name]
	err := in.numeric(c, p)
	if err == nil && c.Role == Input {
		c.Apart = in.Impute
		c.chooseScale(p)
	}
	return err
}

// readAs lets the column read cells as the settled one does, and say what that one says.
func (c *Column) readAs(as *Column) {
	if c.Role != as.Role || c.Type != as.Type {
		return
	}
	parts := c.Parts // follow from the times of these rows
	c.Reading = as.Reading
	c.Parts = parts
	c.Whole = c.Whole && as.Whole
	if as.Most == 0 {
		c.Most = 0
	}
	c.Low = as.Low
	c.High = as.High
	if c.Note == "" {
		c.Note = as.Note
	}
	if c.Warning == "" {
		c.Warning = as.Warning
		c.advice = as.advice
	}
}
