package schema

import "utvi/internal/notation"

// settle decides what a column is once all its cells are known: placeholders are missing
// values among numbers and times, and names among names; texts that are all numbers of
// a style, or all times, become those.
func (p *profile) settle() {
	if p.looksLikeCountries() {
		p.makeNames(&p.na)
		p.naIsName = true
	}
	style := p.numberStyle()
	switch {
	case p.texts == 0 && p.numbers > 0:
		p.placeholdersAreMissing()
	case p.texts > 0 && style != nil && !p.onlyDates(style):
		p.becomeNumbers(style)
		p.placeholdersAreMissing()
	case p.texts > 0 && p.numbers == 0 && len(p.times) > 0:
		p.time = p.times[0]
		p.placeholdersAreMissing()
	default:
		p.becomeNames()
	}
	p.firstMissing.earlier(p.na.first)
	p.firstMissing.earlier(p.none.first)
}

// becomeNumbers takes the texts for numbers of a style.
func (p *profile) becomeNumbers(s *styledNumbers) {
	p.style = s
	p.texts = 0
	p.rising = false
	p.falling = false
	p.spread = s.spread
	p.sample = s.sample
}

// becomeNames takes placeholders for names and, where it is common, None.
func (p *profile) becomeNames() {
	p.namesInTexts = p.texts
	if p.noneLooksLikeName() {
		p.makeNames(&p.none)
		p.noneIsName = true
	}
	if p.texts == 0 && len(p.placeholders) > 0 {
		p.firstText = p.firstPlaceholder.place + notation.Quote(p.firstPlaceholder.says) + " is text"
	}
	for s, n := range p.placeholders {
		p.textCount[s] += n
		p.texts += n
	}
	p.placeholders = nil
}

func (p *profile) placeholdersAreMissing() {
	p.firstMissing.earlier(p.firstPlaceholder)
	for _, n := range p.placeholders {
		p.missing += n
	}
}

// stylesInOrder are the styles in the order in which they are tried.
func (p *profile) stylesInOrder() [2]*styledNumbers {
	if p.point == ',' {
		return [2]*styledNumbers{p.styled[1], p.styled[0]}
	}
	return p.styled
}

// numberStyle returns the style that all texts follow, nil without one.
func (p *profile) numberStyle() *styledNumbers {
	for _, s := range p.stylesInOrder() {
		if s != nil && s.ok() {
			return s
		}
	}
	return nil
}

// onlyDates reports whether all texts are times that only look like numbers with a unit, such as
// 2 Jan 2026.
func (p *profile) onlyDates(s *styledNumbers) bool {
	return len(p.times) > 0 && p.numbers == 0 && notation.IsMeasure(s.unit)
}
