package report

import (
	"math"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
)

// An Axis says what is measured along one side of a chart.
type Axis struct {
	Label    string // with its unit
	Scale    Scale
	Min, Max float64  // what to show; the data decide if both are zero
	Names    []string // of the values 0, 1, 2 … where these are names, not numbers
	Whole    bool     // counts: no marks between whole numbers

	blank bool // marks without numbers
}

// A Scale is how values are spread along an axis.
type Scale int

const (
	Linear Scale = iota
	Log2
	Log10
	Dates // of seconds since 1970, by UTC
)

// at is where v stands along the axis: NaN for what has no place there.
func (a Axis) at(v float64) float64 {
	switch a.Scale {
	case Log2:
		v = math.Log2(v)
	case Log10:
		v = math.Log10(v)
	}
	if math.Abs(v) > 1e300 { // spans must not overflow
		return math.NaN()
	}
	return v
}

// floor is at(v), or lo where v lies below everything that has a place.
func (a Axis) floor(v, lo float64) float64 {
	if (a.Scale == Log2 || a.Scale == Log10) && v <= 0 {
		return lo
	}
	return a.at(v)
}

// A span collects the extent of what an axis must show, in places.
type span struct{ lo, hi float64 }

func newSpan() span { return span{math.Inf(1), math.Inf(-1)} }

func (s *span) include(at float64) {
	if !math.IsNaN(at) {
		s.lo, s.hi = min(s.lo, at), max(s.hi, at)
	}
}

func (s span) empty() bool { return s.lo > s.hi }

// pad widens the span by a share on both sides; a single value gets room around
// it, nothing at all the unit interval.
func (s span) pad(share float64) span {
	if s.empty() {
		return span{0, 1}
	}
	room := share * (s.hi - s.lo)
	if least := 1e-9 * max(math.Abs(s.lo), math.Abs(s.hi)); s.hi-s.lo <= least {
		room = max(min(0.5*math.Abs(s.lo), 1), 1e-6*math.Abs(s.lo)) // steps that still count
		if room < 1e-12 {
			room = 1
		}
	}
	return span{s.lo - room, s.hi + room}
}

// shows is what the axis shows: what was asked for, else the data's span.
func (a Axis) shows(data span, share float64) span {
	if a.Min != a.Max {
		if s := (span{a.at(a.Min), a.at(a.Max)}); s.hi-s.lo > 1e-9*max(math.Abs(s.lo), math.Abs(s.hi)) {
			return s
		}
	}
	if len(a.Names) > 0 {
		return span{-0.6, float64(len(a.Names)) - 0.4}
	}
	return data.pad(share)
}

// ticker marks the axis over a length, as many as have room: wide is the room
// that one label takes along the axis, by its text.
func (a Axis) ticker(s span, length vg.Length, wide func(string) vg.Length) plot.Ticker {
	fits := func(t plot.Ticker) bool {
		end := vg.Length(math.Inf(-1))
		for _, k := range t.Ticks(s.lo, s.hi) {
			if k.Label == "" {
				continue
			}
			at, half := length*vg.Length((k.Value-s.lo)/(s.hi-s.lo)), wide(k.Label)/2
			if at-half < end {
				return false
			}
			end = at + half
		}
		return true
	}
	if len(a.Names) > 0 {
		return names{text: a.Names, every: 1, most: 40}.thinned(fits)
	}
	switch a.Scale {
	case Log2:
		for every := 1; every < 64; every *= 2 {
			if t := (doublings{every}); fits(t) {
				return t
			}
		}
		return doublings{64}
	case Log10:
		if s.hi-s.lo < 0.5 {
			return logTicks{}
		}
		for every := 1; every < 100; every++ {
			if t := (decades{every}); fits(t) {
				return t
			}
		}
	}
	for most := 5.5; most > 1 && a.Scale == Dates; most-- {
		if t := (dates{most}); fits(t) && len(t.Ticks(s.lo, s.hi)) > 0 {
			return t
		}
	}
	if a.Scale == Dates {
		return dates{1}
	}
	for most := 5.5; most > 1.5; most-- {
		if t := (ticks{most: most, whole: a.Whole}); fits(t) {
			return t
		}
	}
	return ticks{most: 1.5, whole: a.Whole}
}

// names marks 0, 1, 2 … with words, every so many.
type names struct {
	text  []string
	every int
	most  int    // characters
	gap   string // behind each
}

func (n names) thinned(fits func(plot.Ticker) bool) names {
	for ; n.every < len(n.text) && !fits(n); n.every++ {
	}
	return n
}

// Ticks implements plot.Ticker.
func (n names) Ticks(lo, hi float64) []plot.Tick {
	var out []plot.Tick
	for i := 0; i < len(n.text); i += n.every {
		out = append(out, plot.Tick{Value: float64(i), Label: short(n.text[i], n.most) + n.gap})
	}
	return out
}

// doublings marks an axis of log₂: powers of two, numbers at every so many.
type doublings struct{ every int }

// Ticks implements plot.Ticker.
func (d doublings) Ticks(lo, hi float64) []plot.Tick {
	var out []plot.Tick
	for e := math.Ceil(lo - 1e-9); e <= hi+1e-9; e++ {
		label := ""
		if int(e)%d.every == 0 {
			label = power(2, int(e))
		}
		out = append(out, plot.Tick{Value: e, Label: label})
	}
	if len(out) < 2 && d.every == 1 {
		return logTicks2{}.Ticks(lo, hi)
	}
	return out
}

// power writes base^e, in digits where these are few. The font has no raised
// minus sign.
func power(base float64, e int) string {
	v := math.Pow(base, float64(e))
	switch {
	case v >= 1e-3 && v < 1e5:
		return strconv.FormatFloat(v, 'g', 5, 64)
	case e < 0 && base == 10:
		return "1e−" + strconv.Itoa(-e)
	case e < 0:
		return strconv.FormatFloat(v, 'e', 1, 64)
	}
	return strconv.Itoa(int(base)) + superscript(e)
}

func superscript(e int) string {
	out := ""
	for _, r := range strconv.Itoa(e) {
		out += string([]rune("⁰¹²³⁴⁵⁶⁷⁸⁹")[r-'0'])
	}
	return out
}

// logTicks sets round numbers at even steps along a short stretch of log₁₀.
type logTicks struct{}

// Ticks implements plot.Ticker.
func (logTicks) Ticks(lo, hi float64) []plot.Tick {
	return evenly(math.Pow(10, lo), math.Pow(10, hi), math.Log10)
}

// logTicks2 does so along log₂.
type logTicks2 struct{}

// Ticks implements plot.Ticker.
func (logTicks2) Ticks(lo, hi float64) []plot.Tick {
	return evenly(math.Exp2(lo), math.Exp2(hi), math.Log2)
}

func evenly(lo, hi float64, at func(float64) float64) []plot.Tick {
	var out []plot.Tick
	for _, k := range (ticks{most: 4}).Ticks(lo, hi) {
		if k.Value > 0 {
			out = append(out, plot.Tick{Value: at(k.Value), Label: k.Label})
		}
	}
	return out
}
