package table

import (
	"maps"
	"slices"
	"strings"
)

// marks are texts that stand for a missing value in a column of numbers or times. Among
// names they are names: "-" may be a class.
var marks = []string{"-", "--", "—", "–", ".", "..", "...", "n.a.", "n. a.", "#n/a", "#na", "<na>", "nat", "nil", "missing", `\n`,
	"(null)", "#null!", "#div/0!", "#value!", "#ref!", "#num!", "#name?", "#calc!", "#spill!", "n/d", "unknown", "not available"}

func isMark(s string) bool {
	const longest = 13
	return len(s) <= longest && slices.Contains(marks, strings.ToLower(s))
}

// isCode reports whether a text is two capital letters, as codes of countries are.
func isCode(s string) bool {
	return len(s) == 2 && 'A' <= s[0] && s[0] <= 'Z' && 'A' <= s[1] && s[1] <= 'Z'
}

// countries recognises a column of such codes, in which NA is one of them.
func (p *profile) countries() bool {
	const fewest = 3
	if p.na.n == 0 || p.numbers > 0 || len(p.textCount) < fewest || p.moreTexts {
		return false
	}
	for s := range p.textCount {
		if !isCode(s) {
			return false
		}
	}
	return true
}

// settle decides what a column is once all its cells are known: marks are missing
// values among numbers and times, and names among names; texts that are all numbers of
// a style, or all times, become those.
func (p *profile) settle(point byte) {
	defer func() {
		p.firstLack.or(p.na.first)
		p.firstLack.or(p.none.first)
	}()
	if p.countries() {
		p.nameNA()
	}
	switch {
	case p.texts == 0 && p.numbers > 0:
	case p.texts > 0 && p.numberStyle(point) != nil && !p.dated(point):
		s := p.numberStyle(point)
		p.style = s
		p.numbers = s.n
		p.texts = 0
		p.rising = false
		p.falling = false
		p.mean = s.mean
		p.m2 = s.m2
		p.min = s.min
		p.max = s.max
		p.sample = s.sample
	case p.texts > 0 && p.numbers == 0 && len(p.times) > 0:
		p.time = p.times[0]
	default: // names
		p.strays = p.texts
		if p.noneIsName() {
			p.nameNone()
		}
		for s, n := range p.marks {
			if p.texts == 0 {
				p.firstText = p.firstMark.place + short(s) + " is text"
			}
			p.textCount[s] += n
			p.texts += n
		}
		p.marks = nil
		return
	}
	p.firstLack.or(p.firstMark)
	for _, n := range p.marks {
		p.missing += n
	}
}

// ordered are the styles in the order in which they are tried.
func (p *profile) ordered(point byte) [2]*styled {
	if point == ',' {
		return [2]*styled{p.styled[1], p.styled[0]}
	}
	return p.styled
}

// numberStyle returns the style that all texts follow, nil without one.
func (p *profile) numberStyle(point byte) *styled {
	for _, s := range p.ordered(point) {
		if s != nil && s.ok() {
			return s
		}
	}
	return nil
}

// dated reports whether all texts are times that only look like numbers with a unit, such as
// 2 Jan 2026.
func (p *profile) dated(point byte) bool {
	return len(p.times) > 0 && p.numbers == 0 && isMeasure(p.numberStyle(point).unit)
}

// markList are the marks that were found, in order.
func (p *profile) markList() []string {
	if len(p.marks) == 0 {
		return nil
	}
	return slices.Sorted(maps.Keys(p.marks))
}
