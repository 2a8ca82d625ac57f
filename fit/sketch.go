package fit

import (
	"math"
	"slices"

	"utvi/data"
)

// A sketch is the smallest hashes of the rows a model was trained with, in ascending
// order. The hashes of another table that are not larger than the largest of these are a
// fair sample of its rows, and estimate how many rows both have (Broder 1997).
type sketch []uint64

const sketchSize = 10_000

func newSketch(hashes []uint64) sketch {
	all := slices.Sorted(slices.Values(hashes))
	return slices.Clone(all[:min(len(all), sketchSize)])
}

// hashRows hashes all rows of a set.
func hashRows(d *data.Set) []uint64 {
	n := d.X.Rows
	w := d.X.Width
	k := len(d.Y) / max(1, d.X.Rows)
	all := make([]uint64, n)
	for i := range all {
		all[i] = hashRow(d.X.Mean[i*w:(i+1)*w], d.Y[i*k:(i+1)*k])
	}
	return all
}

// shared counts the rows of one set that are also in the other.
func shared(rows, in []uint64) (n int) {
	known := make(map[uint64]bool, len(in))
	for _, h := range in {
		known[h] = true
	}
	for _, h := range rows {
		n += one(known[h])
	}
	return n
}

// seen judges whether a table holds rows that a model was trained with: more of them than
// the table that it was trained on has by chance.
func (f *Facts) seen(sampled, known int) bool {
	const fewest, share = 3, 0.02
	return known >= fewest && float64(known)/float64(sampled) > f.Repeated+share
}

// samples reports whether a row is in the sample, and whether the model was trained
// with it; of all rows trained with, some may be too many for the sketch.
func (s sketch) samples(hash uint64, all int) (sample, known bool) {
	if len(s) == 0 || len(s) < all && hash > s[len(s)-1] {
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
