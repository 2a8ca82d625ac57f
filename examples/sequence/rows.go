package main

import (
	"math"

	"utvi/rng"
)

const alphabet = "ACGT"

// The two words whose order decides.
var words = [2]string{"TATA", "GCGC"}

// rows draws strings in which both words stand somewhere, with some of their letters changed. Each is
// noticed with a probability that falls with the letters that are wrong. If both are, the class is which of
// them comes first, else it is 2.
func rows(seed uint64, n int) (x, y, truth []float32) {
	key := rng.New(seed)
	for i := range uint64(n) {
		text, first, noticed, uniform := drawn(key.Sub(i, 0))
		var p [classes]float32
		p[first] = float32(noticed)
		p[2] = float32(1 - noticed)
		class := first
		if uniform >= noticed {
			class = 2
		}
		x = append(x, encoded(text)...)
		y = append(y, float32(class))
		truth = append(truth, p[:]...)
	}
	return x, y, truth
}

// drawn is a string, which of the words comes first in it, the probability that both are noticed, and a
// number to decide that.
func drawn(key rng.Key) (text []byte, first int, noticed, decides float64) {
	at := uint64(0)
	uniform := func() float64 {
		at++
		return rng.Uniform(key, at)
	}
	letter := func() byte { return alphabet[int(uniform()*letters)] }
	for range tokens {
		text = append(text, letter())
	}
	first = int(uniform() * 2)
	noticed = 1
	const half = tokens / 2 // one word in each
	for k := range 2 {
		word := words[(first+k)%2]
		start := k*half + int(uniform()*float64(half-len(word)+1))
		right := 0
		for j := range len(word) {
			text[start+j] = word[j]
			if uniform() < 0.2 {
				text[start+j] = letter()
			}
			if text[start+j] == word[j] {
				right++
			}
		}
		noticed *= 1 / (1 + math.Exp(-4*(float64(right-len(word))+0.8)))
	}
	return text, first, noticed, uniform()
}

// encoded is a string as numbers: for each letter of it a 1 among those of the alphabet.
func encoded(text []byte) []float32 {
	x := make([]float32, len(text)*letters)
	for t, letter := range text {
		for i := range letters {
			if alphabet[i] == letter {
				x[t*letters+i] = 1
			}
		}
	}
	return x
}
