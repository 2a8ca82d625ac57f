package table

import (
	"fmt"
	"maps"
	"slices"
)

// padded is the kind of a cell that holds a whole number with zeros in front, such as 01067: a
// number, or a code whose zeros count. The column decides; Chunk.Cell returns a number.
const padded = Missing + 1

// isPadded reports whether a text is such a number. Most numbers are told by two bytes.
func isPadded(s []byte) bool {
	if len(s) < 2 || s[0] != '0' {
		return false
	}
	for _, c := range s[1:] {
		if c-'0' > 9 {
			return false
		}
	}
	return true
}

func (c *Chunk) isPadded(row, col int) bool {
	k, _ := c.raw(row, col)
	return k == padded
}

// padded reports whether a column of the frame has padded cells: its numbers are counted as
// texts are, from the first row on.
func (s *selection) padded(col int) bool { return s.f.padded[col] }

// addPadded takes in the text of a number that addNumber has taken in.
func (p *profile) addPadded(s string) {
	if p.padded == nil {
		p.padded, p.mostNumbers = map[string]int{}, maxTexts
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
		if p.numberCount != nil {
			v := paddedValue(s)
			p.numberCount[v] -= n
			if p.numberCount[v] == 0 {
				delete(p.numberCount, v)
			}
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
	name, p := in.head.Columns[col], in.profiles[col]
	_, uncertain := in.InputStd[name]
	std := in.head.Column(name + "_std")
	switch {
	case slices.Contains(in.Categorical, name):
		return true
	case in.roles[col] == Input:
		return !uncertain && (std < 0 || in.roles[std] != Std) && p.numberCount != nil && 2*len(p.numberCount) <= p.numbers
	case in.roles[col] != Target || in.Task == Regression:
		return false
	}
	return in.Task == Classification || p.numberCount != nil && len(p.numberCount) <= min(in.MaxLevels, p.numbers/2)
}

// paddedValue is the number of a padded cell.
func paddedValue(s string) float64 {
	v, _ := scanFloat([]byte(s), '.')
	return v
}
