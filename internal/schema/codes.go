package schema

import (
	"fmt"
	"maps"
	"slices"

	"utvi/internal/notation"
)

// addPadded takes in the text of a whole number with zeros in front, such as 01067, that addNumber
// has taken in: a number, or a code whose zeros count.
func (p *profile) addPadded(s string) {
	if p.padded == nil {
		p.padded = map[string]int{}
		p.mostNumbers = maxTexts
	}
	if n, known := p.padded[s]; known || len(p.padded) < maxTexts {
		p.padded[s] = n + 1
	} else {
		p.moreTexts = true
	}
}

// asCodes makes names of the padded numbers of a column, if all its numbers may be codes.
func (p *profile) asCodes() {
	if p.padded == nil || p.texts > 0 || !p.whole || p.min < 0 || p.infinite != "" {
		return
	}
	p.codes = true
	for s, n := range p.padded {
		p.textCount[s] = n
		p.texts += n
		p.numbers -= n
		if p.numberCount == nil {
			continue
		}
		v, _ := notation.ScanFloat([]byte(s), '.')
		p.numberCount[v] -= n
		if p.numberCount[v] == 0 {
			delete(p.numberCount, v)
		}
	}
}

// codesNote says why a column of numbers is read as codes, "" if it is not.
func (p *profile) codesNote() string {
	if !p.codes {
		return ""
	}
	return fmt.Sprintf("codes, not numbers: some begin with 0, such as %s", slices.Min(slices.Collect(maps.Keys(p.padded))))
}

// mayBeCodes reports whether a column of numbers is one of codes if some begin with 0. One with
// an error bar is not, nor one whose numbers hardly repeat: they may be readings of an
// instrument, and as names they would teach nothing.
func (in *inference) mayBeCodes(col int) bool {
	name := in.head.Columns[col]
	p := in.profiles[col]
	different := len(p.numberCount)
	counted := p.numberCount != nil
	switch {
	case slices.Contains(in.Categorical, name):
		return true
	case in.roles[col] == Input:
		return !in.hasStd(name) && counted && 2*different <= p.numbers
	case in.roles[col] != Target || in.Task == Regression:
		return false
	}
	return in.Task == Classification || counted && different <= min(in.MaxLevels, p.numbers/2)
}

// hasStd reports whether an input has a standard deviation, given or in a column of its own.
func (in *inference) hasStd(name string) bool {
	if _, given := in.InputStd[name]; given {
		return true
	}
	std := in.head.Column(name + "_std")
	return std >= 0 && in.roles[std] == Std
}
