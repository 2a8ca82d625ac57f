package table

import (
	"math"
	"time"
)

// timeLayouts are the dates and times that are recognised, the most telling first. Where
// a column can be read in two ways (3/4/2026), the first one that fits all cells counts.
var timeLayouts = []string{
	time.RFC3339Nano, "2006-01-02", "2006-01-02 15:04:05", "2006-01-02T15:04:05", "2006-01-02 15:04", "2006-01-02T15:04",
	"2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05 -0700", "2006-01-02 15:04:05 MST", "2006/1/2", "2006/1/2 15:04:05", "2006/1/2 15:04", "2006-01",
	"2.1.2006", "2.1.2006 15:04", "2.1.2006 15:04:05", "2.1.06",
	"1/2/2006", "1/2/2006 15:04", "1/2/2006 15:04:05", "1/2/2006 3:04 PM", "1/2/2006 3:04:05 PM", "1/2/06", "1/2/06 15:04",
	"2/1/2006", "2/1/2006 15:04", "2/1/2006 15:04:05", "2/1/2006 3:04 PM", "2/1/2006 3:04:05 PM", "2/1/06", "2/1/06 15:04",
	"2-1-2006", "2-1-2006 15:04", "2-1-2006 15:04:05", "2-Jan-2006", "2-Jan-06", "2 Jan 2006", "2 January 2006", "Jan 2, 2006", "January 2, 2006", "Jan 2 2006", "January 2 2006", "Jan 2006", "January 2006",
	time.RFC1123, time.RFC1123Z, time.ANSIC, time.UnixDate, "15:04:05", "15:04", "3:04 PM", "3:04:05 PM",
}

// A Part is what a column of times becomes beside its trend: a sine and a cosine of the
// place within a period.
type Part string

const (
	OfYear Part = "year"
	OfWeek Part = "week"
	OfDay  Part = "day"
)

const day = 86400 // seconds

// phase is the place of a time within the period, from 0 to 1, by the clock and the
// calendar of the place where it was written down.
func (p Part) phase(t time.Time) float64 {
	hour, minute, second := t.Clock()
	ofDay := float64(hour*3600+minute*60+second) / day
	switch p {
	case OfYear:
		return (float64(t.YearDay()-1) + ofDay) / 366
	case OfWeek:
		return (float64(t.Weekday()) + ofDay) / 7
	}
	return ofDay
}

func seconds(t time.Time) float64 { return float64(t.Unix()) + float64(t.Nanosecond())/1e9 }

// A timed column is the times of a column if all its texts follow a layout.
type timed struct {
	spread
	layout string
	clock  bool // some times are not midnight
}

func (t *timed) add(text string) bool {
	at, err := time.Parse(t.layout, text)
	if err != nil {
		return false
	}
	hour, minute, second := at.Clock()
	t.clock = t.clock || hour+minute+second > 0
	t.spread.add(seconds(at))
	return true
}

// newTimed returns all layouts that fit a text.
func newTimed(text string) (all []*timed) {
	if len(text) < 4 || len(text) > 40 {
		return nil
	}
	for _, layout := range timeLayouts {
		if t := (&timed{layout: layout}); t.add(text) {
			all = append(all, t)
		}
	}
	return all
}

// fitting returns the layouts that also fit another text.
func fitting(all []*timed, text string) []*timed {
	kept := all[:0]
	for _, t := range all {
		if t.add(text) {
			kept = append(kept, t)
		}
	}
	return kept
}

// parts are the periods that the times show: at least two weeks for the week, and a
// quarter for the year.
func (t *timed) parts() (all []Part) {
	span := t.max - t.min
	_, err := time.Parse(t.layout, "15:04") // a clock without a date
	dated := err != nil && t.layout != "15:04:05" && t.layout != "3:04 PM" && t.layout != "3:04:05 PM"
	if dated && span >= 90*day {
		all = append(all, OfYear)
	}
	if dated && span >= 14*day && t.layout != "2006-01" && t.layout != "Jan 2006" && t.layout != "January 2006" {
		all = append(all, OfWeek)
	}
	if t.clock {
		all = append(all, OfDay)
	}
	return all
}

// time encodes a time: its trend, a sine and a cosine for each part, and whether it was
// missing where that occurred.
func (in *input) time(c *Chunk, row int, mean []float32) error {
	text := in.timeText(c, row, in.pos)
	t, ok := in.readTime(text)
	if !ok {
		return c.errorf(row, in.pos, "%s is not %s, which the model was trained with", short(text), expected(in.Layout))
	}
	z := float32((seconds(t) - in.Mean) / in.SD)
	if z-z != 0 {
		return c.errorf(row, in.pos, "%s is too far from the training range", short(text))
	}
	mean[in.at] = z
	for i, p := range in.Parts {
		s, cos := math.Sincos(2 * math.Pi * p.phase(t))
		mean[in.at+1+2*i], mean[in.at+2+2*i] = float32(s), float32(cos)
	}
	return nil
}

// WriteTime writes seconds since 1970 as the column writes times.
func (c *Column) WriteTime(seconds float64) string {
	return time.Unix(int64(math.Floor(seconds)), 0).UTC().Format(c.Layout)
}

// number reads the number of a cell as the column writes it; of a time, seconds since
// 1970.
func (c *Column) number(at *Chunk, row, col int) (float64, bool) {
	switch k, v := at.Cell(row, col); {
	case k == Number && c.Type != Times:
		return v, true
	case k == Text && c.Style != "":
		return c.parse(at.Text(row, col))
	case k != Missing && c.Type == Times:
		t, ok := c.readTime(c.timeText(at, row, col))
		return seconds(t), ok
	}
	return 0, false
}

// day writes seconds as a date.
func (c *Column) day(seconds float64) string {
	t := time.Unix(int64(math.Floor(seconds)), 0).UTC()
	switch {
	case t.Year() == 0: // a clock without a date
		return t.Format(time.TimeOnly)
	case c.Max-c.Min < 2*day:
		return t.Format("2006-01-02 15:04:05")
	}
	return t.Format(time.DateOnly)
}

// Place writes a value of a numeric column, or a time in seconds since 1970, to the inputs
// that the column becomes.
func (c *Column) Place(v float64, dst []float32) {
	clear(dst)
	if c.Type == Numeric {
		dst[0] = float32(c.Encode(v))
		return
	}
	dst[0] = float32((v - c.Mean) / c.SD)
	for i, p := range c.Parts {
		t := time.Unix(int64(math.Floor(v)), 0).UTC()
		s, cos := math.Sincos(2 * math.Pi * p.phase(t))
		dst[1+2*i], dst[2+2*i] = float32(s), float32(cos)
	}
}

// Typical writes what a column is without knowledge of the row: the middle of numbers
// (Column.Middle), the mean of times, the most frequent level of a category.
func (c *Column) Typical(dst []float32) {
	clear(dst)
	switch c.Type {
	case Categorical:
		if !c.Embedded { // whose most frequent level is number 0
			dst[0] = 1
		}
	case Numeric:
		dst[0] = float32(c.Encode(c.Middle()))
	}
}
