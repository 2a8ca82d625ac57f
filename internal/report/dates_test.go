package report

import (
	"math"
	"strings"
	"testing"
	"time"
)

// An axis of time is marked at round dates, few enough to be told apart.
func TestDates(t *testing.T) {
	at := func(s string) float64 {
		v, err := time.Parse("2006-01-02 15:04:05", s)
		if err != nil {
			t.Fatal(err)
		}
		return float64(v.Unix())
	}
	for _, c := range []struct{ from, to, want string }{
		{"2018-11-10 00:00:00", "2023-02-02 00:00:00", "2019 2020 2021 2022 2023"},
		{"2020-03-10 00:00:00", "2021-01-20 00:00:00", "May 2020 Jul 2020 Sep 2020 Nov 2020 Jan 2021"},
		{"2026-01-01 00:00:00", "2026-01-09 00:00:00", "1 Jan 3 Jan 5 Jan 7 Jan 9 Jan"},
		{"2026-01-01 06:30:00", "2026-01-01 12:00:00", "07:00 08:00 09:00 10:00 11:00 12:00"},
		{"2026-01-01 06:30:00", "2026-01-01 06:30:20", "06:30:00 06:30:05 06:30:10 06:30:15 06:30:20"},
		{"0800-01-01 00:00:00", "2023-01-01 00:00:00", "1000 1500 2000"},
	} {
		var got []string
		for _, k := range (dates{5.5}).Ticks(at(c.from), at(c.to)) {
			if k.Value < at(c.from) || k.Value > at(c.to) {
				t.Errorf("%s to %s: a mark at %v", c.from, c.to, k.Value)
			}
			got = append(got, k.Label)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s to %s: %s, want %s", c.from, c.to, strings.Join(got, " "), c.want)
		}
	}
	for _, s := range []span{{math.Inf(-1), 0}, {0, 1e300}, {math.NaN(), 1}, {5, 5}} {
		if got := (dates{5}).Ticks(s.lo, s.hi); got != nil {
			t.Errorf("%v: %v", s, got)
		}
	}
}

// Marks of a dozen traces differ in shape where their colours are the same.
func TestMarksDiffer(t *testing.T) {
	for i := range 36 {
		for j := range i {
			if Series(i) == Series(j) && glyph(i) == glyph(j) {
				t.Errorf("traces %d and %d look the same", j+1, i+1)
			}
		}
	}
}
