package notation

import (
	"strings"
	"time"
)

// TimeLayouts are the dates and times that are recognised, the most telling first. Where
// a column can be read in two ways (3/4/2026), the first one that fits all cells counts.
var TimeLayouts = []string{
	time.RFC3339Nano, "2006-01-02", "2006-01-02 15:04:05", "2006-01-02T15:04:05", "2006-01-02 15:04", "2006-01-02T15:04",
	"2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05 -0700", "2006-01-02 15:04:05 MST", "2006/1/2", "2006/1/2 15:04:05", "2006/1/2 15:04", "2006-01",
	"2.1.2006", "2.1.2006 15:04", "2.1.2006 15:04:05", "2.1.06",
	"1/2/2006", "1/2/2006 15:04", "1/2/2006 15:04:05", "1/2/2006 3:04 PM", "1/2/2006 3:04:05 PM", "1/2/06", "1/2/06 15:04",
	"2/1/2006", "2/1/2006 15:04", "2/1/2006 15:04:05", "2/1/2006 3:04 PM", "2/1/2006 3:04:05 PM", "2/1/06", "2/1/06 15:04",
	"2-1-2006", "2-1-2006 15:04", "2-1-2006 15:04:05", "2-Jan-2006", "2-Jan-06", "2 Jan 2006", "2 January 2006", "Jan 2, 2006", "January 2, 2006", "Jan 2 2006", "January 2 2006", "Jan 2006", "January 2006",
	time.RFC1123, time.RFC1123Z, time.ANSIC, time.UnixDate, "15:04:05", "15:04", "3:04 PM", "3:04:05 PM",
}

// CompactDate is the layout of dates that are whole numbers: 20260131.
const CompactDate = "20060102"

// Seconds are those since 1970.
func Seconds(t time.Time) float64 { return float64(t.Unix()) + float64(t.Nanosecond())/1e9 }

// inWords names the parts of a layout; longer parts come first.
var inWords = strings.NewReplacer("2006", "year", "2 January", "day month", "January 2", "month day", "2 Jan", "day month", "Jan 2", "month day", "2-Jan", "day-month",
	"January", "month", "Jan", "month", "01", "month", "02", "day", "06", "year",
	"1/2", "month/day", "2/1", "day/month", "2.1", "day.month", "2-1", "day-month",
	"15", "hour", "3:04", "hour:minute", "04", "minute", "05", "second")

// TimeInWords writes a layout of times as people write it.
func TimeInWords(layout string) string { return inWords.Replace(layout) }

// ExpectedTime says what a layout of times asks for: its order in words, if all of it has words,
// and an example that cannot be read in another order.
func ExpectedTime(layout string) string {
	order := TimeInWords(layout)
	rest := strings.TrimSuffix(order, " PM")
	if layout == CompactDate || rest != strings.ToLower(rest) || strings.ContainsAny(rest, "0123456789") {
		order = "a time"
	}
	return order + " such as " + time.Date(2023, 1, 31, 14, 30, 0, 0, time.UTC).Format(layout)
}
