package table

import (
	"cmp"
	"math"
	"slices"
)

const (
	maxNumbers = 1000    // distinct numbers that are counted
	maxTexts   = 100_000 // distinct texts that are counted
)

// A profile is what one pass over a column finds out, in bounded memory.
type profile struct {
	numbers, texts, missing int
	firstLack               lack     // of a value
	infinite                string   // where the first one stands
	negative                string   // where the first one stands
	firstText               string   // where, and what it is
	firstCell               sighting // the same
	firstNumber             sighting // other than 0

	mean, m2, min, max float64
	last               float64
	sample             sample
	rising, falling    bool            // whole numbers, each beyond the one before
	numberCount        map[float64]int // nil: more than mostNumbers
	mostNumbers        int
	whole              bool    // all numbers are whole
	fraction           float64 // the first number that is not
	textCount          map[string]int
	moreTexts          bool // than are counted

	padded    map[string]int // numbers with zeros in front; nil: none
	marks     map[string]int // texts that may stand for missing values
	firstMark lack           // the first of them
	na, none  lacking        // of the missing cells, those that say NA or None
	styled    [2]*styled     // in the order of styles, once there is a text
	times     []*timed       // layouts that all texts follow
	spellings *spellings     // of dates, if no layout fits all
	dates     *timed         // if all numbers are dates such as 20260131
	noDates   bool           // some number is not
	like      lookalikes

	// What settle finds.
	style  *styled
	time   *timed
	isName bool // NA
	isNone bool // None is a name
	strays int  // texts, other than marks and None, of names
	codes  bool // padded numbers are names
}

func newProfile() *profile {
	return &profile{numberCount: map[float64]int{}, mostNumbers: maxNumbers, whole: true, textCount: map[string]int{}, rising: true, falling: true,
		min: math.Inf(1), max: math.Inf(-1)}
}

func (p *profile) add(c *Chunk, row, col int) {
	switch k, v := c.Cell(row, col); k {
	case Number:
		p.addNumber(c, row, col, v)
		if c.isPadded(row, col) {
			p.addPadded(c.Text(row, col))
		}
	case Text:
		p.addText(c, row, col)
	default:
		p.addMissing(c, row, col)
	}
}

func (p *profile) addNumber(c *Chunk, row, col int, v float64) {
	if math.IsInf(v, 0) {
		if p.infinite == "" {
			p.infinite = c.errorf(row, col, "%g is not a finite number; leave the cell empty if the value is missing", v).Error()
		}
		return
	}
	if v < 0 && p.negative == "" {
		p.negative = c.errorf(row, col, "%g is negative", v).Error()
	}
	whole := v == math.Trunc(v)
	if p.whole && !whole {
		p.whole, p.fraction = false, v
	}
	p.rising = p.rising && whole && (p.numbers == 0 || v > p.last)
	p.falling = p.falling && whole && (p.numbers == 0 || v < p.last)
	p.last = v
	if v != 0 && p.firstNumber.line == 0 {
		p.firstNumber = sighting{digits(v), c.Line(row)}
	}
	p.numbers++
	d := v - p.mean // Welford: nothing cancels
	p.mean += d / float64(p.numbers)
	p.m2 += d * (v - p.mean)
	p.min, p.max = min(p.min, v), max(p.max, v)
	p.sample.add(v)
	p.addDate(v)
	for _, s := range p.styled {
		if s != nil {
			s.addNumber(v, c.head.point(col))
		}
	}
	if p.numberCount != nil {
		p.numberCount[v]++
		if len(p.numberCount) > p.mostNumbers {
			p.numberCount = nil
		}
	}
}

func (p *profile) addText(c *Chunk, row, col int) {
	s := c.Text(row, col)
	if isMark(s) {
		if p.marks == nil {
			p.marks, p.firstMark = map[string]int{}, lack{c.errorf(row, col, "").Error(), s, c.Line(row)}
		}
		p.marks[s]++
		return
	}
	at := sighting{s, c.Line(row)}
	if p.texts == 0 {
		p.firstText, p.firstCell = c.errorf(row, col, "%s is text", short(s)).Error(), at
		p.times = newTimed(s)
		for i, style := range styles {
			some := p.numbers > 0 && (p.min != 0 || p.max != 0)
			p.styled[i] = &styled{style: style, spread: spread{p.numbers, p.mean, p.m2, p.min, p.max}, without: some, bare: some, failed: some && style.point() != c.head.point(col), sample: p.sample.clone()}
		}
	} else {
		fitted := p.times
		p.times = fitting(p.times, s)
		p.addSpelling(fitted, at)
	}
	for _, x := range p.styled {
		x.addText(at)
	}
	p.texts++
	p.addLookalike(at)
	if n, known := p.textCount[s]; known || len(p.textCount) < maxTexts {
		p.textCount[s] = n + 1
	} else {
		p.moreTexts = true
	}
}

// isDecimalComma recognises 1,5.
func isDecimalComma(s string) bool { return !isNumber(s, '.') && isNumber(s, ',') }

// counts recognises a column that may number its rows. Of few rows any column may
// be sorted.
func (p *profile) counts() bool {
	const fewest = 20
	return p.numbers >= fewest && p.texts+p.missing == 0 && (p.rising || p.falling)
}

// sd is the standard deviation over all numbers (divided by their count), as those
// who standardise use it.
func (p *profile) sd() float64 {
	if p.numbers == 0 {
		return 0
	}
	return math.Sqrt(p.m2 / float64(p.numbers))
}

// count is how often a level occurs.
func (p *profile) count(level string) int {
	n := p.textCount[level]
	if v, k := scanFloat([]byte(level), '.'); k == len(level) && label(v) == level {
		n += p.numberCount[v]
	}
	return n
}

// levels returns the categories, the most frequent first, equally frequent ones
// by name; ok is false if there were too many to count.
func (p *profile) levels() (levels []string, ok bool) {
	count := map[string]int{}
	for s, n := range p.textCount {
		count[s] = n
	}
	for v, n := range p.numberCount {
		count[label(v)] += n
	}
	for s := range count {
		levels = append(levels, s)
	}
	slices.SortFunc(levels, func(a, b string) int {
		return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(a, b))
	})
	return levels, !p.moreTexts && (p.numberCount != nil || p.numbers == 0)
}

// A sample holds some of many numbers, evenly spaced: at most room, at least half of that.
type sample struct {
	room    int // 0: keep none
	step    int // a number of so many is kept
	seen    int
	numbers []float64
}

func (s sample) clone() sample {
	s.numbers = slices.Clone(s.numbers)
	return s
}

func (s *sample) add(v float64) {
	if s.room == 0 {
		return
	}
	if s.step == 0 {
		s.step = 1
	}
	if s.seen%s.step == 0 {
		if len(s.numbers) == s.room {
			for i := range s.room / 2 {
				s.numbers[i] = s.numbers[2*i]
			}
			s.numbers, s.step = s.numbers[:s.room/2], 2*s.step
		}
		if s.seen%s.step == 0 {
			s.numbers = append(s.numbers, v)
		}
	}
	s.seen++
}
