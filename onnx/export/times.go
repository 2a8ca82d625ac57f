package export

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"utvi/internal/onnx"
	"utvi/internal/schema"
)

// A graph cannot read dates. A time is a number: seconds since 1970 by UTC, in float64,
// since float32 would round to minutes. If the table writes times without an offset from
// UTC, its clock counts as that of UTC. If it writes offsets, the calendar is the one of
// the place, and the graph has an input for them, too.
const (
	timeDoc   = "seconds since 1970-01-01 00:00 UTC; NaN if missing"
	clockDoc  = "seconds since 1970-01-01 00:00, both by the clock of the table; NaN if missing"
	offsetDoc = "seconds by which the clock of the time before is ahead of UTC, 7200 for +02:00"
)

// zoned reports whether a column writes times with their offsets from UTC.
func zoned(c *schema.Column) bool {
	return strings.Contains(c.Layout, "Z07:00") || strings.Contains(c.Layout, "-0700")
}

func offsetOf(c *schema.Column) value { return c.Name + "_offset" }

// timeInput declares the inputs of a column of times.
func (t *tableWriter) timeInput(c *schema.Column) error {
	if !zoned(c) {
		t.input(c.Name, onnx.Double, clockDoc)
		return nil
	}
	taken := func(x schema.Column) bool {
		return x.Name == offsetOf(c) && (x.Role == schema.Input || x.Role == schema.Std)
	}
	if slices.ContainsFunc(t.m.Schema.Columns, taken) {
		return fmt.Errorf("the graph needs an input %s for the offsets of %s from UTC, which is the name of a column; rename that column", offsetOf(c), c.Name)
	}
	t.input(c.Name, onnx.Double, timeDoc)
	t.input(offsetOf(c), onnx.Double, offsetDoc)
	return nil
}

// calendar is the sines and cosines of the parts of a column of times; see
// schema.Column.Place. Those of missing times are 0.
func (t *tableWriter) calendar(c *schema.Column) (waves []value) {
	if len(c.Parts) == 0 {
		return nil
	}
	clock := c.Name
	if zoned(c) {
		clock = t.add(clock, offsetOf(c))
	}
	clock = t.unary("Floor", clock)
	number := func(x float64) value { return t.Doubles("number", x) }
	quotient := func(v value, by float64) value { return t.unary("Floor", t.div(v, number(by))) }
	remainder := func(v value, by float64) value { return t.sub(v, t.mul(quotient(v, by), number(by))) }
	days := quotient(clock, 86400)
	today := t.div(remainder(clock, 86400), number(86400))
	for _, p := range c.Parts {
		phase := today
		switch p {
		case schema.OfYear:
			phase = t.div(t.add(t.dayOfYear(days), today), number(366))
		case schema.OfWeek: // from Sunday; 1970 began on a Thursday
			phase = t.div(t.add(remainder(t.add(days, number(4)), 7), today), number(7))
		}
		for _, ahead := range []float64{0, math.Pi / 2} { // not every runtime has cosines in float64
			wave := t.cast(t.unary("Sin", t.add(t.mul(phase, number(2*math.Pi)), number(ahead))))
			if t.m.Schema.Impute {
				wave = t.where(t.unary("IsNaN", c.Name), t.Float(0), wave)
			}
			waves = append(waves, wave)
		}
	}
	return waves
}

// dayOfYear is the number of days since the last New Year, of days since 1970.
func (t *tableWriter) dayOfYear(days value) value {
	number := func(x float64) value { return t.Doubles("number", x) }
	newYear := func(year value) value { // in days since 1970, of years since 1970
		leap := func(since, every float64) value {
			return t.unary("Floor", t.div(t.add(year, number(since)), number(every)))
		}
		return t.add(t.sub(t.add(t.mul(year, number(365)), leap(1, 4)), leap(69, 100)), leap(369, 400))
	}
	begun := func(year value) value {
		return t.Op("Cast", []value{t.Op("LessOrEqual", []value{newYear(year), days})}, toDouble)
	}
	// A year has 365.2425 days on average: the guess is off by one year at most.
	guess := t.unary("Floor", t.div(days, number(365.2425)))
	year := t.add(t.sub(guess, number(1)), t.add(begun(guess), begun(t.add(guess, number(1)))))
	return t.sub(days, newYear(year))
}
