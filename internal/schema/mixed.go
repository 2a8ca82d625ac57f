package schema

import (
	"fmt"

	"utvi/internal/advice"
	"utvi/table"
)

// mostly is how many numbers stand beside a text in a column of numbers.
const mostly = 9

// fewNumbers is how many different numbers may be names of categories, such as 4, 5, 6 beside CVT.
const fewNumbers = 10

// fewLevels is how many different numbers may be levels of a category beside names.
const fewLevels = 50

// numbersWithTexts recognises a target of numbers in which some texts stand, rather than
// classes some of which look like numbers. An input is one of numbers only if nearly all its cells
// are: names that are often numbers, such as those of tickets, can be left out.
func (p *profile) numbersWithTexts(maxLevels int) bool {
	if p.codes || p.texts == 0 {
		return false
	}
	return p.numbers > p.texts && p.different(maxLevels) || p.nearlyNumbers() && p.different(fewNumbers)
}

// different reports whether there are more different numbers.
func (p *profile) different(than int) bool { return p.numberCount == nil || len(p.numberCount) > than }

// nearlyNumbers reports whether nearly all cells are numbers. Placeholders such as - do not count.
func (p *profile) nearlyNumbers() bool {
	return !p.codes && p.namesInTexts > 0 && p.numbers >= mostly*p.namesInTexts
}

// textAmongNumbers is the error about a text in a column of numbers.
func (p *profile) textAmongNumbers(c *Column) error {
	categorical := advice.Set("Categorical", c.Name)
	if c.Role == Target {
		return advice.Errorf("%s in a column of numbers; correct it or leave the cell empty, or %v", p.firstText, categorical)
	}
	return advice.Errorf("%s in a column of numbers; correct it or leave the cell empty, %v, or %v", p.firstText, advice.Set("Ignore", c.Name), categorical)
}

// warnNearlyNumbers says what is odd about names that are nearly all numbers, "" if they are not.
func (p *profile) warnNearlyNumbers(h *table.Header, became string) string {
	share := "nearly all"
	switch {
	case p.nearlyNumbers():
	case !p.codes && p.namesInTexts > 0 && p.numbers > p.namesInTexts && p.different(fewLevels):
		share = fmt.Sprintf("%.0f %% of the", 100*float64(p.numbers)/float64(p.numbers+p.namesInTexts))
	default:
		return ""
	}
	return fmt.Sprintf("%s cells are numbers, but %s is not, so %s; correct such cells or leave them empty", share, p.firstCell.in(h), became)
}
