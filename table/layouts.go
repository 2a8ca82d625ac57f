package table

import (
	"strings"
	"time"
)

// inWords names the parts of a layout; longer parts come first.
var inWords = strings.NewReplacer("2006", "year", "2 January", "day month", "January 2", "month day", "2 Jan", "day month", "Jan 2", "month day", "2-Jan", "day-month",
	"January", "month", "Jan", "month", "01", "month", "02", "day", "06", "year",
	"1/2", "month/day", "2/1", "day/month", "2.1", "day.month", "2-1", "day-month",
	"15", "hour", "3:04", "hour:minute", "04", "minute", "05", "second")

// named writes a layout of times as people write it.
func named(layout string) string { return inWords.Replace(layout) }

// expected says what a layout of times asks for: its order in words, if all of it has words,
// and an example that cannot be read in another order.
func expected(layout string) string {
	order := named(layout)
	rest := strings.TrimSuffix(order, " PM")
	if layout == compactDate || rest != strings.ToLower(rest) || strings.ContainsAny(rest, "0123456789") {
		order = "a time"
	}
	return order + " such as " + time.Date(2023, 1, 31, 14, 30, 0, 0, time.UTC).Format(layout)
}
