package schema

import "slices"

// A spread is the mean, the deviation and the range of some numbers.
type spread struct {
	numbers            int
	mean, m2, min, max float64
}

func (s *spread) add(v float64) {
	if s.numbers == 0 {
		s.min, s.max = v, v
	}
	s.numbers++
	d := v - s.mean // Welford: nothing cancels
	s.mean += d / float64(s.numbers)
	s.m2 += d * (v - s.mean)
	s.min = min(s.min, v)
	s.max = max(s.max, v)
}

// A sample holds some of many numbers, evenly spaced: at most room, at least half of that.
type sample struct {
	room    int // 0: keep none
	step    int // a number of so many is kept
	seen    int
	numbers []float64
}

func (s sample) clone() sample {
	s.numbers = slices.Clone(s.numbers)
	return s
}

func (s *sample) add(v float64) {
	if s.room == 0 {
		return
	}
	if s.step == 0 {
		s.step = 1
	}
	if s.seen%s.step == 0 {
		if len(s.numbers) == s.room {
			s.halve()
		}
		if s.seen%s.step == 0 {
			s.numbers = append(s.numbers, v)
		}
	}
	s.seen++
}

// halve drops every other number.
func (s *sample) halve() {
	for i := range s.room / 2 {
		s.numbers[i] = s.numbers[2*i]
	}
	s.numbers = s.numbers[:s.room/2]
	s.step *= 2
}
