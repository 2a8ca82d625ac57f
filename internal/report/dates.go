package report

import (
	"math"
	"strconv"
	"time"

	"gonum.org/v1/plot"
)

// dates marks an axis of seconds since 1970 at round dates or hours, each so written that the
// neighbours differ.
type dates struct{ most float64 } // steps

// A pace is the distance of marks: months, or seconds if these are 0.
type pace struct {
	months  int
	seconds float64
	layout  string
}

const (
	minute = 60
	hour   = 60 * minute
	day    = 24 * hour
	month  = 365.2425 * day / 12
)

var paces = func() []pace {
	var all []pace
	for _, s := range []float64{1, 2, 5, 10, 15, 30} {
		all = append(all, pace{seconds: s, layout: "15:04:05"})
	}
	for _, m := range []float64{1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720} {
		all = append(all, pace{seconds: m * minute, layout: "15:04"})
	}
	for _, d := range []float64{1, 2, 7, 14} {
		all = append(all, pace{seconds: d * day, layout: "2 Jan"})
	}
	for _, m := range []int{1, 2, 3, 6} {
		all = append(all, pace{months: m, layout: "Jan 2006"})
	}
	for ten := 1; ten <= 1000; ten *= 10 {
		for _, y := range []int{1, 2, 5} {
			all = append(all, pace{months: 12 * y * ten, layout: "2006"})
		}
	}
	return all
}()

// length is about how many seconds lie between two marks.
func (p pace) length() float64 { return p.seconds + float64(p.months)*month }

// Ticks implements plot.Ticker.
func (d dates) Ticks(lo, hi float64) []plot.Tick {
	const far = 200e9 // seconds; years beyond have more than four digits
	if !(lo > -far && hi < far) || hi <= lo {
		return nil
	}
	p := paces[len(paces)-1]
	for _, q := range paces {
		if (hi-lo)/q.length() <= d.most {
			p = q
			break
		}
	}
	var out []plot.Tick
	add := func(at time.Time) {
		label := at.Format(p.layout)
		if p.layout == "2006" {
			label = strconv.Itoa(at.Year())
		}
		out = append(out, plot.Tick{Value: float64(at.Unix()), Label: label})
	}
	if p.months == 0 {
		for k := math.Ceil(lo / p.seconds); k*p.seconds <= hi; k++ {
			add(time.Unix(int64(k*p.seconds), 0).UTC())
		}
		return out
	}
	first := time.Unix(int64(lo), 0).UTC()
	for k := (12*first.Year() + int(first.Month()) - 1) / p.months * p.months; ; k += p.months {
		at := time.Date(0, time.Month(1+k), 1, 0, 0, 0, 0, time.UTC)
		if float64(at.Unix()) > hi {
			return out
		}
		if float64(at.Unix()) >= lo {
			add(at)
		}
	}
}
