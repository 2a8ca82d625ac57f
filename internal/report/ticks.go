package report

import (
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
)

// ticks sets round numbers at even steps, about five of them.
type ticks struct {
	most  float64 // steps, 5.5 if zero
	whole bool
}

// Ticks implements plot.Ticker.
func (t ticks) Ticks(lo, hi float64) []plot.Tick {
	most := t.most
	if most == 0 {
		most = 5.5
	}
	least := (hi - lo) / most
	if t.whole {
		least = max(least, 1)
	}
	step, decimals := niceStep(least)
	var out []plot.Tick
	for k := math.Ceil(lo/step - 1e-9); k*step <= hi+1e-9*step; k++ {
		out = append(out, plot.Tick{Value: k * step, Label: number(k*step, decimals)})
	}
	return out
}

// niceStep returns the smallest of 1, 2 and 5 times a power of ten that is at
// least x, and the decimals needed to write its multiples.
func niceStep(x float64) (step float64, decimals int) {
	power := int(math.Floor(math.Log10(x)))
	base := math.Pow10(power)
	for _, k := range []float64{1, 2, 5} {
		if k*base >= x*(1-1e-9) {
			return k * base, max(0, -power)
		}
	}
	return 10 * base, max(0, -power-1)
}

// number writes x with a true minus sign, in few characters.
func number(x float64, decimals int) string {
	s := strconv.FormatFloat(x, 'f', decimals, 64)
	if a := math.Abs(x); a >= 1e7 || a > 0 && a < 1e-4 {
		s = strconv.FormatFloat(x, 'g', 3, 64)
	}
	if x == 0 {
		s = "0"
	}
	return minus(s)
}

func minus(s string) string { return strings.ReplaceAll(s, "-", "−") }

// decades marks an axis of log₁₀: powers of ten with numbers, the rest small.
// Where fewer than two powers may fall in, 2 and 5 are numbered too. (plot's own
// logarithmic scale misjudges the room that a long label takes.)
type decades struct{ every int } // powers between numbers, 1 if zero

// Ticks implements plot.Ticker.
func (d decades) Ticks(lo, hi float64) []plot.Tick {
	every := max(d.every, 1)
	var out []plot.Tick
	for e := math.Floor(lo); e <= hi; e++ {
		for k := 1.0; k <= 9; k++ {
			at := e + math.Log10(k)
			if at < lo-1e-9 || at > hi+1e-9 || k > 1 && hi-lo > 8 {
				continue
			}
			label := ""
			switch {
			case k == 1 && int(e)%every == 0:
				label = power(10, int(e))
			case k == 2 || k == 5:
				if hi-lo < 2 && every == 1 {
					label = several(k, int(e))
				}
			}
			out = append(out, plot.Tick{Value: at, Label: label})
		}
	}
	return out
}

// several writes k·10^e, in digits where these are few.
func several(k float64, e int) string {
	if v := k * math.Pow10(e); e < 0 || v < 1e5 {
		return minus(strconv.FormatFloat(v, 'g', 5, 64))
	}
	return strconv.FormatFloat(k, 'g', 1, 64) + "·" + power(10, e)
}

// placed marks the pixels of a map by their places: at + by·v.
type placed struct{ at, by float64 }

// Ticks implements plot.Ticker.
func (p placed) Ticks(lo, hi float64) []plot.Tick {
	a := p.at + p.by*lo
	b := p.at + p.by*hi
	out := ticks{most: 4.5}.Ticks(min(a, b), max(a, b))
	for i := range out {
		out[i].Value = (out[i].Value - p.at) / p.by
	}
	return out
}

// unnumbered has the marks of another, without their numbers: the neighbouring
// panel shows them.
type unnumbered struct{ plot.Ticker }

// Ticks implements plot.Ticker.
func (u unnumbered) Ticks(lo, hi float64) []plot.Tick {
	out := u.Ticker.Ticks(lo, hi)
	for i := range out {
		if out[i].Label != "" {
			out[i].Label = " " // a major tick still
		}
	}
	return out
}
