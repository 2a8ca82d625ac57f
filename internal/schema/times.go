package schema

import (
	"math"
	"slices"
	"time"

	"utvi/internal/notation"
	"utvi/table"
)

// A Part is what a column of times becomes beside its trend: a sine and a cosine of the
// place within a period.
type Part string

// The periods.
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

// times are those of a column if all its texts follow a layout.
type times struct {
	spread
	layout string
	clock  bool // some times are not midnight
}

func (t *times) add(text string) bool {
	at, err := time.Parse(t.layout, text)
	if err != nil {
		return false
	}
	hour, minute, second := at.Clock()
	t.clock = t.clock || hour+minute+second > 0
	t.spread.add(notation.Seconds(at))
	return true
}

// timesLike returns all layouts that fit a text.
func timesLike(text string) (all []*times) {
	if len(text) < 4 || len(text) > 40 {
		return nil
	}
	for _, layout := range notation.TimeLayouts {
		if t := (&times{layout: layout}); t.add(text) {
			all = append(all, t)
		}
	}
	return all
}

// stillFitting returns the layouts that also fit another text.
func stillFitting(all []*times, text string) []*times {
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
func (t *times) parts() (all []Part) {
	span := t.max - t.min
	dated := !slices.Contains([]string{"15:04", "15:04:05", "3:04 PM", "3:04:05 PM"}, t.layout)
	monthly := slices.Contains([]string{"2006-01", "Jan 2006", "January 2006"}, t.layout)
	if dated && span >= 90*day {
		all = append(all, OfYear)
	}
	if dated && !monthly && span >= 14*day {
		all = append(all, OfWeek)
	}
	if t.clock {
		all = append(all, OfDay)
	}
	return all
}

// time encodes a time: its trend, a sine and a cosine for each part, and whether it was
// missing where that occurred.
func (in *input) time(c *table.Chunk, row int, mean []float32) error {
	text := in.timeText(c, row, in.pos)
	t, ok := in.readTime(text)
	if !ok {
		return c.Errorf(row, in.pos, "%s is not %s, which the model was trained with", notation.Quote(text), notation.ExpectedTime(in.Layout))
	}
	z := float32((notation.Seconds(t) - in.Mean) / in.SD)
	if z-z != 0 {
		return c.Errorf(row, in.pos, "%s is too far from the training range", notation.Quote(text))
	}
	mean[in.at] = z
	in.placePhases(t, mean[in.at+1:])
	return nil
}

// placePhases writes a sine and a cosine for each part of a time.
func (r *Reading) placePhases(t time.Time, dst []float32) {
	for i, p := range r.Parts {
		sin, cos := math.Sincos(2 * math.Pi * p.phase(t))
		dst[2*i] = float32(sin)
		dst[2*i+1] = float32(cos)
	}
}

// WriteTime writes seconds since 1970 as the column writes times.
func (c *Column) WriteTime(seconds float64) string {
	return time.Unix(int64(math.Floor(seconds)), 0).UTC().Format(c.Layout)
}

// Number reads the number of a cell as the column writes it; of a time, seconds since 1970.
func (c *Column) Number(at *table.Chunk, row, col int) (float64, bool) { return c.number(at, row, col) }

// number reads the number of a cell as the column writes it; of a time, seconds since
// 1970.
func (c *Column) number(at *table.Chunk, row, col int) (float64, bool) {
	switch k, v := at.Cell(row, col); {
	case k == table.Number && c.Type != Times:
		return v, true
	case k == table.Text && c.Style != "":
		return c.parse(at.Text(row, col))
	case k != table.Missing && c.Type == Times:
		t, ok := c.readTime(c.timeText(at, row, col))
		return notation.Seconds(t), ok
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
	c.placePhases(time.Unix(int64(math.Floor(v)), 0).UTC(), dst[1:])
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
