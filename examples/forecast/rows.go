package main

import (
	"math"

	"utvi/rng"
)

// demand draws the hourly demand of a town: a daily course with two peaks, larger or smaller from week to
// week, and the weather, which changes by more in the day than at night and fades within a day.
func demand(seed uint64, hours int) []float32 {
	key := rng.New(seed)
	series := make([]float32, hours)
	weather := 0.0
	bell := func(hour, at, wide float64) float64 {
		apart := math.Mod(hour-at+36, 24) - 12 // over midnight, too
		return math.Exp(-apart * apart / (wide * wide))
	}
	for t := range series {
		hour := float64(t % 24)
		season := 1 + 0.4*math.Sin(2*math.Pi*float64(t)/(24*29)+float64(seed))
		course := season * (1 + 0.5*bell(hour, 8, 2.5) + 0.8*bell(hour, 19, 3) - 0.4*bell(hour, 3, 3))
		weather = 0.9*weather + (0.02+0.08*bell(hour, 14, 5))*rng.Normal(key, uint64(t))
		series[t] = float32(course + weather)
	}
	return series
}

// put writes an hour as the network reads it: its demand, and the clock as two numbers that meet at
// midnight.
func put(x []float32, demand float32, hour int) {
	angle := 2 * math.Pi * float64(hour%24) / 24
	x[0] = demand
	x[1] = float32(math.Sin(angle))
	x[2] = float32(math.Cos(angle))
}

// examples are rows for every hour of a series, with starts from 1 to 48 hours before.
func examples(series []float32) (x, y []float32) {
	for hour := day; hour < len(series); hour++ {
		for back := hour % 12; back < ahead && back+day <= hour; back += 12 {
			row := make([]float32, inputs)
			for k := range day {
				t := hour - back - day + k
				put(row[k*each:], series[t], t)
			}
			put(row[day*each:], series[hour-1], hour-1)
			x = append(x, row...)
			y = append(y, series[hour])
		}
	}
	return x, y
}
