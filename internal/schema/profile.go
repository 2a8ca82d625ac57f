package schema

import (
	"cmp"
	"math"
	"slices"

	"utvi/internal/notation"
	"utvi/table"
)

const (
	maxNumbers = 1000    // distinct numbers that are counted
	maxTexts   = 100_000 // distinct texts that are counted
)

// A profile is what one pass over a column finds out, in bounded memory.
type profile struct {
	as           *Column // what the column is, if that is settled
	point        byte    // what stands before fractions
	spread               // of the numbers
	texts        int
	missing      int
	firstMissing missingCell
	infinite     string  // where the first one stands
	negative     string  // where the first one stands
	firstText    string  // where, and what it is
	firstCell    example // the same
	firstNumber  example // other than 0

	last            float64
	sample          sample
	rising, falling bool            // whole numbers, each beyond the one before
	numberCount     map[float64]int // nil: more than mostNumbers
	mostNumbers     int
	whole           bool    // all numbers are whole
	fraction        float64 // the first number that is not
	textCount       map[string]int
	moreTexts       bool // than are counted

	padded           map[string]int    // numbers with zeros in front; nil: none
	placeholders     map[string]int    // texts that may stand for missing values
	firstPlaceholder missingCell       // the first of them
	na, none         maybeNames        // of the missing cells, those that say NA or None
	styled           [2]*styledNumbers // in the order of styles, once there is a text
	times            []*times          // layouts that all texts follow
	spellings        *dateSpellings    // of dates, if no layout fits all
	compactDates     *times            // if all numbers are dates such as 20260131
	noCompactDates   bool              // some number is not
	like             lookalikes

	// What settle finds.
	style        *styledNumbers
	time         *times
	naIsName     bool
	noneIsName   bool
	namesInTexts int  // texts of names, other than placeholders and None
	codes        bool // padded numbers are names
}

// newProfile is the profile of a column of a file, before its first cell.
func newProfile(h *table.Header, col int) *profile {
	decimal, _ := h.Decimal(col)
	return &profile{
		point:       decimal.Point,
		spread:      spread{min: math.Inf(1), max: math.Inf(-1)},
		numberCount: map[float64]int{},
		mostNumbers: maxNumbers,
		textCount:   map[string]int{},
		whole:       true,
		rising:      true,
		falling:     true,
	}
}

// add takes in a cell.
func (p *profile) add(c *table.Chunk, row, col int) {
	switch k, v := c.Cell(row, col); k {
	case table.Number:
		p.addNumber(c, row, col, v)
		if c.Padded(row, col) {
			p.addPadded(c.Text(row, col))
		}
	case table.Text:
		p.addText(c, row, col)
	default:
		p.addMissing(c, row, col)
	}
}

func (p *profile) addNumber(c *table.Chunk, row, col int, v float64) {
	if math.IsInf(v, 0) {
		if p.infinite == "" {
			p.infinite = c.Errorf(row, col, "%g is not a finite number; leave the cell empty if the value is missing", v).Error()
		}
		return
	}
	if v < 0 && p.negative == "" {
		p.negative = c.Errorf(row, col, "%g is negative", v).Error()
	}
	if v != 0 && p.firstNumber.line == 0 {
		p.firstNumber = example{notation.Digits(v), c.Line(row)}
	}
	p.addWhole(v)
	p.spread.add(v)
	p.sample.add(v)
	p.addCompactDate(v)
	if p.texts > 0 {
		for _, s := range p.styled {
			s.addNumber(v, p.point)
		}
	}
	p.countNumber(v)
}

// addWhole takes in whether a number is whole, and beyond the one before.
func (p *profile) addWhole(v float64) {
	whole := v == math.Trunc(v)
	if p.whole && !whole {
		p.whole = false
		p.fraction = v
	}
	first := p.numbers == 0
	p.rising = p.rising && whole && (first || v > p.last)
	p.falling = p.falling && whole && (first || v < p.last)
	p.last = v
}

func (p *profile) countNumber(v float64) {
	if p.numberCount == nil {
		return
	}
	p.numberCount[v]++
	if len(p.numberCount) > p.mostNumbers {
		p.numberCount = nil
	}
}

func (p *profile) addText(c *table.Chunk, row, col int) {
	s := c.Text(row, col)
	if notation.IsPlaceholder(s) {
		if p.placeholders == nil {
			p.placeholders = map[string]int{}
			p.firstPlaceholder = missingAt(c, row, col, s)
		}
		p.placeholders[s]++
		return
	}
	at := example{s, c.Line(row)}
	if p.texts == 0 {
		p.firstText = c.Errorf(row, col, "%s is text", notation.Quote(s)).Error()
		p.firstCell = at
		p.times = timesLike(s)
		p.beginStyles()
	} else {
		before := p.times
		p.times = stillFitting(p.times, s)
		p.addSpelling(before, at)
	}
	for _, x := range p.styled {
		x.addText(at)
	}
	p.texts++
	p.addLookalike(at)
	p.countText(s)
}

// beginStyles takes the numbers so far for numbers of each style.
func (p *profile) beginStyles() {
	some := p.numbers > 0 && (p.min != 0 || p.max != 0)
	for i, style := range styles {
		p.styled[i] = &styledNumbers{
			spread:  p.spread,
			sample:  p.sample.clone(),
			style:   style,
			without: some,
			bare:    some,
			failed:  some && style.Point() != p.point,
		}
	}
}

func (p *profile) countText(s string) {
	if n, known := p.textCount[s]; known || len(p.textCount) < maxTexts {
		p.textCount[s] = n + 1
	} else {
		p.moreTexts = true
	}
}

// mayNumberRows recognises a column that may number its rows. Of few rows any column may
// be sorted.
func (p *profile) mayNumberRows() bool {
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

// stats are the statistics of the numbers.
func (p *profile) stats() Stats {
	return Stats{Missing: p.missing, Mean: p.mean, SD: p.sd(), Min: p.min, Max: p.max}
}

// count is how often a level occurs.
func (p *profile) count(level string) int {
	n := p.textCount[level]
	if v, k := notation.ScanFloat([]byte(level), '.'); k == len(level) && notation.Label(v) == level {
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
		count[notation.Label(v)] += n
	}
	for s := range count {
		levels = append(levels, s)
	}
	slices.SortFunc(levels, func(a, b string) int {
		return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(a, b))
	})
	return levels, !p.moreTexts && (p.numberCount != nil || p.numbers == 0)
}
