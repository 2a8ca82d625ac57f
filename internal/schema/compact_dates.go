package schema

import (
	"strconv"
	"time"

	"utvi/internal/notation"
	"utvi/table"
)

// fewestDates is how many different numbers must be dates before a column is taken for one of
// dates. Of other numbers with eight digits, one in a thousand is a date of these centuries.
const fewestDates = 3

// addCompactDate takes in a number of a column that may hold dates such as 20260131. Most columns
// are told by their first number.
func (p *profile) addCompactDate(v float64) {
	const first, last = 1900_01_01, 2100_00_00
	if p.noCompactDates {
		return
	}
	if p.compactDates == nil {
		p.compactDates = &times{layout: notation.CompactDate}
	}
	if !(v >= first && v < last) || !p.compactDates.add(strconv.Itoa(int(v))) || v != float64(int(v)) {
		p.compactDates = nil
		p.noCompactDates = true
	}
}

// holdsCompactDates recognises a column of such dates.
func (p *profile) holdsCompactDates() bool {
	return p.compactDates != nil && (p.numberCount == nil || len(p.numberCount) >= fewestDates)
}

// timeText is what a time says: a number is a date.
func (r *Reading) timeText(c *table.Chunk, row, col int) string {
	if k, v := c.Cell(row, col); k == table.Number && r.Layout == notation.CompactDate && v == float64(int(v)) {
		return strconv.Itoa(int(v))
	}
	return c.Text(row, col)
}

// readTime reads a time as the column writes it, or as ISO 8601, which has one meaning only.
func (r *Reading) readTime(text string) (time.Time, bool) {
	for _, layout := range []string{r.Layout, time.RFC3339Nano, time.DateOnly, time.DateTime} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}
