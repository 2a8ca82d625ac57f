package fit

import (
	"math"
	"slices"

	"utvi/tabular"
)

// A sketch is the smallest hashes of the rows a model was trained with, in ascending
// order. The hashes of another table that are not larger than the largest of these are a
// fair sample of its rows, and estimate how many rows both have (Broder 1997).
type sketch []uint64

const sketchSize = 1000

func newSketch(d tabular.Data) sketch {
	n, w, k := d.X.Rows, d.X.Width, len(d.Y)/max(1, d.X.Rows)
	all := make(sketch, n)
	for i := range all {
		all[i] = hashRow(d.X.Mean[i*w:(i+1)*w], d.Y[i*k:(i+1)*k])
	}
	slices.Sort(all)
	return slices.Clone(all[:min(n, sketchSize)])
}

// samples reports whether a row is in the sample, and whether the model was trained
// with it.
func (s sketch) samples(hash uint64) (sample, known bool) {
	if len(s) == 0 || len(s) == sketchSize && hash > s[len(s)-1] {
		return false, false
	}
	_, known = slices.BinarySearch(s, hash)
	return true, known
}

// hashRow hashes encoded inputs and targets to 53 bits, which all readers of JSON hold.
func hashRow(parts ...[]float32) uint64 {
	h := uint64(14695981039346656037) // FNV-1a, word by word
	for _, p := range parts {
		for _, v := range p {
			h = (h ^ uint64(math.Float32bits(v+0))) * 1099511628211 // −0 is 0
			h ^= h >> 29
		}
	}
	h *= 0xbf58476d1ce4e5b9
	h ^= h >> 32
	return h * 0x94d049bb133111eb >> 11
}
