package schema

import (
	"math"
	"testing"
	"time"
)

// The place of a time within its period, to the second.
func TestPhase(t *testing.T) {
	const second = 1.0 / 86400
	for _, c := range []struct {
		p    Part
		at   string
		want float64
	}{
		{OfDay, "2026-01-01 00:00:00", 0},
		{OfDay, "2026-01-01 06:00:00", 0.25},
		{OfDay, "2026-01-01 00:30:00", 0.5 / 24},
		{OfDay, "2026-01-01 00:00:07", 7 * second},
		{OfDay, "2026-01-01 23:59:59", 1 - second},
		{OfWeek, "2026-01-04 00:00:00", 0}, // a Sunday
		{OfWeek, "2026-01-07 12:00:00", 3.5 / 7},
		{OfYear, "2026-01-01 00:00:00", 0},
		{OfYear, "2024-12-31 12:00:00", 365.5 / 366},
	} {
		at, err := time.Parse(time.DateTime, c.at)
		if err != nil {
			t.Fatal(err)
		}
		if got := c.p.phase(at); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%s of the %s is at %v, want %v", c.at, c.p, got, c.want)
		}
	}
}
