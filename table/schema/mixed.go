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

// numbersWithTexts recognises a column of numbers in which some texts stand, rather than
// categories some of which look like numbers.
func (p *profile) numbersWithTexts(maxLevels int) bool {
	different := func(than int) bool { return p.numberCount == nil || len(p.numberCount) > than }
	if p.codes || p.texts == 0 {
		return false
	}
	return p.numbers > p.texts && different(maxLevels) || p.nearlyNumbers() && different(fewNumbers)
}

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
	if !p.nearlyNumbers() {
		return ""
	}
	return fmt.Sprintf("nearly all cells are numbers, but %s is not, so %s; correct such cells or leave them empty", p.firstCell.in(h), became)
}
