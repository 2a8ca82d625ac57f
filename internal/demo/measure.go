package demo

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"utvi/internal/delimited"
	"utvi/rng"
)

var resins = []string{"amber", "birch", "cedar"}

var base = []float64{24, 29, 21}

// noise is the standard deviation of the strength at a temperature.
func noise(t float64) float64 { return 0.3 + 2.4*math.Pow(max(0, t-110)/70, 2) }

// Measure reads rows with a temperature, minutes and a resin, cures and breaks a sample for each, and
// writes these columns with the strength. Where the rows do not say how far the thermometer is off, it is
// the new one.
func Measure(w io.Writer, from io.Reader, seed uint64) error {
	r := csv.NewReader(from)
	header, err := r.Read()
	if err != nil {
		return errors.New("the table of rows to measure has no header")
	}
	place := map[string]int{}
	for _, name := range []string{"temperature", "minutes", "resin"} {
		place[name] = slices.Index(header, name)
		if place[name] < 0 {
			return fmt.Errorf("the table of rows to measure has no column %s; it needs temperature, minutes and resin", name)
		}
	}
	place["temperature_std"] = slices.Index(header, "temperature_std")
	out := &delimited.Lines{Digits: 4}
	for _, name := range []string{"temperature", "temperature_std", "minutes", "resin", "strength"} {
		out.Text(name)
	}
	out.End()
	key := rng.New(seed).Sub(1, 0x68656174) // "heat", of another day
	for i := 0; ; i++ {
		cells, err := r.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		err = measure(out, cells, place, key, i)
		if err != nil {
			return fmt.Errorf("row %d: %w", i+1, err)
		}
	}
	return out.Flush(w)
}

// measure writes the row of one sample.
func measure(out *delimited.Lines, cells []string, place map[string]int, key rng.Key, row int) error {
	number := func(name string) (float64, error) {
		if place[name] < 0 {
			return 1, nil
		}
		v, err := strconv.ParseFloat(cells[place[name]], 64)
		if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
			return 0, fmt.Errorf("the value of %s is %q; it must be a number", name, cells[place[name]])
		}
		return v, nil
	}
	read, err1 := number("temperature")
	std, err2 := number("temperature_std")
	minutes, err3 := number("minutes")
	err := errors.Join(err1, err2, err3)
	if err != nil {
		return err
	}
	resin := slices.Index(resins, cells[place["resin"]])
	if resin < 0 {
		return fmt.Errorf("the resin is %q; the oven has amber, birch and cedar", cells[place["resin"]])
	}
	t := read + std*rng.Normal(key, uint64(2*row))
	out.Float(read)
	out.Float(std)
	out.Float(minutes)
	out.Text(resins[resin])
	out.Float(strength(base[resin], t, minutes) + noise(t)*rng.Normal(key, uint64(2*row+1)))
	out.End()
	return nil
}
