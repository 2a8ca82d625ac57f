package table

import (
	"strconv"
	"time"
)

// compactDate is the layout of dates that are whole numbers: 20260131.
const compactDate = "20060102"

// fewestDates is how many different numbers must be dates before a column is taken for one of
// dates. Of other numbers with eight digits, one in a thousand is a date of these centuries.
const fewestDates = 3

// addDate takes in a number of a column that may hold dates. Most columns are told by their
// first number.
func (p *profile) addDate(v float64) {
	const first, last = 1900_01_01, 2100_00_00
	if p.noDates {
		return
	}
	if p.dates == nil {
		p.dates = &timed{layout: compactDate}
	}
	if !(v >= first && v < last) || !p.dates.add(strconv.Itoa(int(v))) || v != float64(int(v)) {
		p.dates, p.noDates = nil, true
	}
}

// compact recognises a column of such dates.
func (p *profile) compact() bool {
	return p.dates != nil && (p.numberCount == nil || len(p.numberCount) >= fewestDates)
}

// timeText is what a time says: a number is a date.
func (c *Column) timeText(at *Chunk, row, col int) string {
	if k, v := at.Cell(row, col); k == Number && c.Layout == compactDate && v == float64(int(v)) {
		return strconv.Itoa(int(v))
	}
	return at.Text(row, col)
}

// readTime reads a time as the column writes it, or as ISO 8601, which has one meaning only.
func (c *Column) readTime(text string) (time.Time, bool) {
	for _, layout := range []string{c.Layout, time.RFC3339Nano, time.DateOnly, time.DateTime} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}
