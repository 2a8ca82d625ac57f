// Package demo makes the tables that the tutorial and the tests use.
package demo

import (
	"io"
	"math"

	"utvi/internal/delimited"
	"utvi/rng"
)

// Table writes the tutorial's table: n samples of a resin that cured in an oven,
// and the strength they broke at. The story, which the network is to find out:
//
//	strength = resin + 14·(1 − e^(−minutes/18)) + 9·e^(−((T−142)/16)²) − 0.05·(T−150)₊·minutes/10
//
// in MPa. The noise grows with the temperature, 0.3 MPa at 110 °C and 2.7 MPa at
// 180 °C. The oven's thermometer is off by 1 °C, or by 5 °C if it was the old one;
// T is the true temperature, the table holds what was read. The same seed gives the
// same table. With strange, the last rows are unlike any other: hotter and longer
// than anything before, or of a resin that is not among the three.
func Table(w io.Writer, n int, seed uint64, strange bool) error {
	out := &delimited.Lines{Digits: 4}
	for _, name := range []string{"temperature", "temperature_std", "minutes", "resin", "strength"} {
		out.Text(name)
	}
	out.End()
	key := rng.New(seed).Sub(0, 0x68656174) // "heat"
	for i := range n {
		at := uint64(8 * i)
		u := func(k uint64) float64 { return rng.Uniform(key, at+k) }
		t := 110 + 70*u(0)
		minutes := math.Round(5 + 55*u(1))
		resin := min(int(3*u(2)), 2)
		name := resins[resin]
		if odd := i - n + strangeRows(n); strange && odd >= 0 {
			t, minutes = 195+15*u(0), math.Round(75+30*u(1))
			if odd%2 == 1 {
				t = 110 + 70*u(0)
				minutes = math.Round(5 + 55*u(1))
				name = "dogwood"
			}
		}
		std := 1.0
		if u(3) < 0.3 {
			std = 5
		}
		z := func(k uint64) float64 { return rng.Normal(key, at+4+k) }
		read := math.Round((t+std*z(0))*10) / 10
		out.Float(read)
		out.Float(std)
		out.Float(minutes)
		out.Text(name)
		out.Float(strength(base[resin], t, minutes) + noise(t)*z(1))
		out.End()
	}
	return out.Flush(w)
}

func strangeRows(n int) int { return min(n, max(2, n/20)) }

func strength(base, t, minutes float64) float64 {
	return base + 14*(1-math.Exp(-minutes/18)) + 9*math.Exp(-math.Pow((t-142)/16, 2)) - 0.05*max(0, t-150)*minutes/10
}
